"""Is traffic as planned, and do answers come for every arm alike? What both tests say, to print."""

from dataclasses import dataclass
from typing import Any, final

from dpbandits.campaign.traffic import Traffic
from dpbandits.campaign.watching.answers import Answers, different_answers
from dpbandits.core.tables import Tabular

LEVEL = 0.001
"""How probable a false alarm may be."""


@final
@dataclass(frozen=True)
class SampleRatio(Tabular):
    """What `Traffic` says, with the arms' labels. evidence: see there. As a table:
    label, decisions, expected.

    answers: whether answers come for every arm alike; None where who answered is private, or is not
        counted. Where the share of answers changes with time, arms that are played at other times
        than the others look different, too: assign them "shuffled", with `min_share=`.
    """

    labels: tuple[str, ...]
    traffic: Traffic
    answers: Answers | None = None

    @property
    def evidence(self) -> float:
        return self.traffic.evidence

    def alarm(self, level: float = LEVEL) -> bool:
        """Whether traffic is not as planned, or answers differ by arm; false with probability
        `level` at most, however often one looks: each of two tests has half of it.
        """
        if self.answers is None:
            return self.evidence <= level
        return min(self.evidence, self.answers.evidence) <= level / 2.0

    def _columns(self) -> dict[str, list[Any]]:
        counts, expected = list(self.traffic.counts), list(self.traffic.expected)
        return {"label": list(self.labels), "decisions": counts, "expected": expected}

    def __str__(self) -> str:
        counts, expected = self.traffic.counts, self.traffic.expected
        came = ""
        if self.answers is not None and any(self.answers.missing):
            came = f"\n{different_answers(self.labels, self.answers)}"
        if not any(counts):
            return f"No decision was left to chance so far: there is nothing to test.{came}"
        rows = zip(self.labels, counts, expected, strict=True)
        lines = [f"{label}: {made:,} decisions, {want:,.1f} planned" for label, made, want in rows]
        said = "is NOT" if self.evidence <= LEVEL else "may well be"
        return "\n".join(lines) + (
            f"\nTraffic {said} as planned (evidence against it: p = {self.evidence:.2g} at any "
            f"time, of the {sum(counts):,} decisions that were left to chance).{came}"
        )

    __repr__ = __str__
