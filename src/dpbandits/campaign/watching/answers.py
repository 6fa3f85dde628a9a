"""Do answers come for every arm alike? An anytime-valid test of how often each arm's decisions were
answered, where who answered is public.

Source: Wasserman, Ramdas and Balakrishnan 2020, "Universal inference" (arXiv 1912.11436). The
hypothesis: every decision is answered with one probability, whatever its arm and whatever came
before. The likelihood of what came, each arm with a probability of its own (a mixture by Jeffreys'
prior, so it foretells the next answer from those before), over the largest likelihood with one
probability for all: in the order of asking it is at most a martingale that begins at 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class Answers:
    """How many of each arm's decisions were answered, and how many expired, up to the oldest one
    that waits.

    >>> Answers((900, 895), (100, 105)).evidence, Answers((900, 700), (100, 300)).evidence < 1e-6
    (1.0, True)
    """

    told: tuple[int, ...]
    missing: tuple[int, ...]

    @property
    def evidence(self) -> float:
        """A p-value that may be looked at at any time: where arms make no difference, it is ever at
        most α with probability at most α.
        """
        told, missing = sum(self.told), sum(self.missing)
        apart = math.fsum(map(jeffreys_mixture, self.told, self.missing))
        together = sum(n * math.log(n / (told + missing)) for n in (told, missing) if n)
        return math.exp(-max(0.0, apart - together))


def jeffreys_mixture(told: int, missing: int) -> float:
    """ln of the likelihood of one arm's answers in their order, by Jeffreys' prior."""
    return (
        math.lgamma(told + 0.5)
        + math.lgamma(missing + 0.5)
        - math.lgamma(told + missing + 1)
        - math.log(math.pi)
    )


def different_answers(labels: Sequence[str], answers: Answers) -> str:
    """For a report: how often each arm's decisions were answered."""
    rows = zip(labels, answers.told, answers.missing, strict=True)
    said = ", ".join(f"{label} {told:,} of {told + none:,}" for label, told, none in rows)
    return f"Answers by arm: {said} (evidence that arms differ: p = {answers.evidence:.2g})."
