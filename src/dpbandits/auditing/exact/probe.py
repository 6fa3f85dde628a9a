"""How a mechanism's answers depend on its noise, found by running it: which draws each answer
contains, at which scale.

A mechanism that answers with sums of rewards plus sums of Laplace draws is described by 0/1
coefficients. They are measured, and the description is tested on other numbers; a mechanism of
another kind is refused.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dpbandits.core.errors import Unfit
from dpbandits.core.privacy import NoiseKind
from dpbandits.mechanisms import Answer, Block, Mechanism, Separable
from dpbandits.noise.protocol import Relay

LargestLoss = tuple[float, float, Fraction | None, str, dict[str, Any]]
"""Loss, error, price of the releases (None: no noise), evidence, details."""


class NoiseCall(NamedTuple):
    """One call of the noise source."""

    value: int
    sensitivity: int
    epsilon: Fraction

    @property
    def scale(self) -> Fraction:
        return self.sensitivity / self.epsilon


REFUSED = {
    "gaussian": "its noise is Gaussian, and no epsilon is claimed",
    "select": "it releases choices, not sums",
    "joint": "it releases several sums with one draw",
    "threshold": "it keeps a noised threshold, which is not an answer",
    "exceeds": "it answers questions, not sums",
    "uniform": "it throws coins, whose law is not enumerated here",
}


class Probe(Relay):
    """Noise that adds what it is told to each draw (nothing by default), or gives scripted values,
    and writes down every call.
    """

    kind: ClassVar[NoiseKind] = "simulated"

    def __init__(
        self, offsets: Mapping[int, int] | None = None, script: Sequence[int] | None = None
    ) -> None:
        self.offsets, self.script = offsets or {}, script
        self.asked: list[NoiseCall] = []

    def ask(self, verb: str, *exact: Any, **price: Any) -> Any:
        raise Unfit(REFUSED[verb])

    def laplace(self, value: int, *, sensitivity: int, epsilon: Fraction) -> int:
        at = len(self.asked)
        self.asked.append(NoiseCall(value, sensitivity, epsilon))
        return self.script[at] if self.script is not None else value + self.offsets.get(at, 0)


Blocks = tuple[tuple[int, int], ...]
"""One arm's blocks so far: (sum in grid steps, rounds)."""


class Draws(NamedTuple):
    """One arm's noise. inside[r][i]: whether answer r contains draw i. made[r]: draws made by
    answer r. scales: one a draw.
    """

    inside: tuple[tuple[int, ...], ...]
    made: tuple[int, ...]
    scales: tuple[Fraction, ...]


class Streams:
    """A mechanism, seen one arm at a time."""

    def __init__(self, mechanism: Mechanism) -> None:
        if not isinstance(mechanism, Separable):
            raise Unfit("its mechanism may treat one arm unlike another")
        self.mechanism, self.unit = mechanism, mechanism.grid.steps
        self.answer: Callable[[Blocks], Answer] = cache(self._answer)
        self.draws: Callable[[tuple[int, ...]], Draws] = cache(self._draws)
        self.price: Callable[[tuple[int, ...]], Fraction | None] = cache(self._price)

    def run(self, blocks: Blocks, probe: Probe) -> tuple[list[Answer], list[int]]:
        """Every answer, and how many draws had been made by then."""
        memory, answers, made = self.mechanism.init(1), [], []
        for total, count in blocks:
            memory, (answer,) = self.mechanism.answer(
                memory, Block((0,), (total,), (count,)), probe
            )
            if not isinstance(answer, Answer):
                raise Unfit("its answers are not noised sums")
            answers.append(answer)
            made.append(len(probe.asked))
        return answers, made

    def longest(self, counts: tuple[int, ...], more: int) -> tuple[int, ...]:
        """`counts` and up to `more` further blocks of one round: as many as the mechanism takes."""
        while more:
            try:
                self.run(tuple((0, n) for n in (*counts, *(1,) * more)), Probe())
            except ValueError:  # a tree is full
                more -= 1
                continue
            break
        return (*counts, *(1,) * more)

    def _answer(self, blocks: Blocks) -> Answer:
        """The newest answer without its noise."""
        return self.run(blocks, Probe())[0][-1]

    def _draws(self, counts: tuple[int, ...]) -> Draws:
        zeros = tuple((0, n) for n in counts)
        probe = Probe()
        plain, made = self.run(zeros, probe)
        moved = [self.run(zeros, Probe({i: self.unit}))[0] for i in range(len(probe.asked))]
        inside = tuple(
            tuple(round(answers[r].total - plain[r].total) for answers in moved)
            for r in range(len(counts))
        )
        found = Draws(inside, tuple(made), tuple(asked.scale for asked in probe.asked))
        self._verify(counts, found)
        return found

    def _verify(self, counts: tuple[int, ...], found: Draws) -> None:
        """On random sums and noise the answers are what the coefficients say."""
        rng = np.random.default_rng(len(counts))
        blocks = tuple((self.unit * int(rng.integers(0, n + 1)), n) for n in counts)
        offsets = {
            i: self.unit * int(x) for i, x in enumerate(rng.integers(-50, 51, len(found.scales)))
        }
        plain, noisy, probe = (
            self.run(blocks, Probe())[0],
            self.run(blocks, again := Probe(offsets))[0],
            again,
        )
        said = [
            a.total + sum(c * offsets[i] for i, c in enumerate(row)) / self.unit
            for a, row in zip(plain, found.inside, strict=True)
        ]
        scales = tuple(asked.scale for asked in probe.asked)
        if (
            {c for row in found.inside for c in row} - {0, 1}
            or said != [a.total for a in noisy]
            or scales != found.scales
        ):
            raise Unfit("its answers are not sums of rewards plus sums of noise draws")

    def _price(self, counts: tuple[int, ...]) -> Fraction | None:
        """What all answers so far tell about one reward, at most; None: some answer shows it
        without noise.
        """
        zeros = [(0, n) for n in counts]
        probe = Probe()
        plain = self.run(tuple(zeros), probe)[0]
        script, worst = [asked.value for asked in probe.asked], Fraction(0)
        for at, (_, n) in enumerate(zeros):
            other = Probe(script=script)
            if self.run((*zeros[:at], (self.unit, n), *zeros[at + 1 :]), other)[0] != plain:
                return None
            pairs = zip(probe.asked, other.asked, strict=True)
            worst = max(
                worst, sum((abs(a.value - b.value) / a.scale for a, b in pairs), Fraction(0))
            )
        return worst
