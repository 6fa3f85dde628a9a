"""Answers that are sums of several noise draws, so that no draw can be told apart: their privacy
loss, and moves of the noise that keep the answers.

Let the answers be A z with independent Laplace draws z of rates λ, and let a changed record ask for
noise moved by δ. Any whole move u with A u = A δ gives the same answers, so the loss is at most min
Σ λ|u| over these moves. Over real moves the minimum is a norm of A δ. Far out in the tails the loss
comes arbitrarily close to it, because −ln P[A z = n·v] grows like n times the norm. The first
minimum is a whole-number programme, the second a linear one. They differ if draws of different
weight make up for each other.
"""

from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dpbandits.auditing.effort import Effort, Seconds
from dpbandits.auditing.transcript.shown_noise import FAR, answer_numbers, summed
from dpbandits.checks.tape import RecordedDraw, Recorder
from dpbandits.core.errors import Diverged, DrawsExhausted, Undecided
from dpbandits.core.inputs import Booleans, Floats
from dpbandits.simulation.transcript import Transcript

Changes = dict[int, Any]
"""For each block (by its place among the run's events), the change of its sums in grid steps."""
MOST = 600
"""The most draws of a run whose sums are examined."""

NODES = 2000
"""The most nodes in the search tree of a whole-number programme. It is a count, so that a verdict
does not depend on the machine.
"""

SOLVED = 1e-7
"""The relative precision of a programme's value."""

INFEASIBLE = 2
"""SciPy's status of a programme without a solution."""


class LossBounds(NamedTuple):
    """A privacy loss that is certified to be at least `least`, and at most `most` (None: not
    known).
    """

    least: Fraction
    most: Fraction | None


class Neighbour(NamedTuple):
    """A neighbour's answers with the run's noise.

    fits: whether these are the same sums of the noise.
    still: which of them no noise moves.
    """

    answers: Floats
    fits: bool
    still: Booleans


class NoiseSums(NamedTuple):
    """How a run's answers move with each draw. The matrix, shape (numbers, draws), contains the
    change of each number as a draw moves by a grid step, times `unit`, which makes it whole.
    """

    draws: tuple[RecordedDraw, ...]
    matrix: Floats
    unit: int
    effort: Effort

    def loss(self, after: Sequence[RecordedDraw]) -> LossBounds:
        """The loss between the written run and another recording that gave the same answers."""
        shift = [
            (b.noisy - b.value) - (a.noisy - a.value)
            for a, b in zip(self.draws, after, strict=True)
        ]
        target = self.matrix @ np.array(shift, float)
        least, whole = None, None
        with suppress(Undecided):
            least = self.programme(target, whole=False)
            whole = self.programme(target, whole=True)
        most = (
            None
            if whole is None
            else sum((self.rate(at) * abs(round(u)) for at, u in enumerate(whole[1])), Fraction(0))
        )
        certain = Fraction(0) if least is None else Fraction(least[0] * (1 - SOLVED))
        agree = most is not None and least is not None and least[0] >= float(most) * (1 - SOLVED)
        return LossBounds(most if agree and most is not None else certain, most)

    def rate(self, at: int) -> Fraction:
        """What a step of one draw's noise costs."""
        return self.draws[at].price / self.draws[at].sensitivity

    def move(self, gap: Floats) -> list[int] | None:
        """The cheapest whole move that changes the answers by this gap (in reward units); None if
        there is none.

        Raises:
            Undecided: it takes too long to say.
        """
        found = self.programme(gap * self.unit, whole=True)
        return None if found is None else [round(u) for u in found[1]]

    def unique(self) -> bool:
        """Whether at most one move changes the answers by a given gap."""
        return int(np.linalg.matrix_rank(self.matrix)) == len(self.draws)

    def neighbour(self, run: Transcript, changes: Changes) -> Neighbour:
        """What random moves, near and far, do to a neighbour's answers. They show whether its
        matrix differs.

        Raises:
            Diverged: it asks something else of the noise, or the number of its answers varies.
        """
        plain, rng = answered(run, self.draws, changes), np.random.default_rng(1)
        fits, still = len(plain) == len(self.matrix), np.ones(len(plain), bool)
        for far in (2, *FAR):
            by = rng.integers(-far, far + 1, len(self.draws)) * self.unit
            other = answered(run, moved(self.draws, dict(enumerate(by.tolist()))), changes)
            if len(other) != len(plain):
                raise Diverged("The noise decides how many numbers are answered.")
            fits = fits and summed(other - plain, self.matrix, by / self.unit)
            still &= other == plain
        return Neighbour(plain, fits, still)

    def programme(self, target: Floats, whole: bool) -> tuple[float, list[float]] | None:
        """min Σ λ|u| subject to A u = target: the minimum and its u. None if no u satisfies it."""
        left = self.effort.left_to_confirm()
        if left <= 0:
            raise Undecided
        from scipy.optimize import Bounds, LinearConstraint, milp

        n = len(self.draws)
        rates = [float(self.rate(at)) for at in range(n)]
        found = milp(
            [*rates, *rates],
            constraints=LinearConstraint(np.hstack([self.matrix, -self.matrix]), target, target),
            integrality=np.full(2 * n, int(whole)),
            bounds=Bounds(0, np.inf),
            options={
                "node_limit": NODES,
                **({"time_limit": left} if isinstance(self.effort, Seconds) else {}),
            },
        )
        if found.status == INFEASIBLE:
            return None
        if not found.success:
            raise Undecided
        return float(found.fun), (found.x[:n] - found.x[n:]).tolist()


def sums_of(run: Transcript, draws: Sequence[RecordedDraw], effort: Effort) -> NoiseSums | None:
    """How the answers are sums of these draws.

    Returns None if not all noise is Laplace, there are too many draws, there is no time to see, or
    the answers are not sums of the draws (near or far).
    """
    if not 0 < len(draws) <= MOST or any(draw.family != "laplace" for draw in draws):
        return None
    unit = run.policy.reader.grid.steps
    try:
        plain = answered(run, draws)
        if bent(run, draws, plain, unit):
            return None
        columns = list[Floats]()
        for at in range(len(draws)):
            if effort.left_to_confirm() <= 0:
                return None
            columns.append(answered(run, moved(draws, {at: unit})) - plain)
        matrix = np.stack(columns, axis=1)
        rng = np.random.default_rng(len(draws))
        for far in FAR:
            by = rng.integers(-far, far + 1, len(draws)) * unit
            if not summed(
                answered(run, moved(draws, dict(enumerate(by.tolist())))) - plain, matrix, by / unit
            ):
                return None
    except (Diverged, DrawsExhausted, ValueError):  # another number of draws, or of answers
        return None
    return NoiseSums(tuple(draws), matrix, unit, effort)


def bent(run: Transcript, draws: Sequence[RecordedDraw], plain: Floats, unit: int) -> bool:
    """Whether the answers to a far move, and to one twice as far, are not linear in it. This is
    seen at once, before each draw is moved alone.
    """
    by = np.random.default_rng(0).integers(-FAR[0], FAR[0] + 1, len(draws)) * unit
    once, twice = (
        answered(run, moved(draws, dict(enumerate((k * by).tolist())))) - plain for k in (1, 2)
    )
    return not np.allclose(2 * once, twice, atol=1e-6)


def moved(draws: Sequence[RecordedDraw], by: dict[int, int]) -> list[RecordedDraw]:
    """The same draws, with these noised values moved by so many grid steps."""
    return [draw._replace(noisy=draw.noisy + by.get(at, 0)) for at, draw in enumerate(draws)]


def answered(
    run: Transcript, draws: Sequence[RecordedDraw], changes: Changes | None = None
) -> Floats:
    """Every number that the run's releases answer with such noise. With changes, they are a
    neighbour's answers.
    """
    return answer_numbers(
        [
            answer.answers
            for _, _, answer in run.answers(changes or {}, Recorder(0, script=list(draws)))
        ]
    )
