"""Which noise a transcript shows, and the cost of the noise that makes the same answers of a
neighbour.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from fractions import Fraction
from typing import Any, NamedTuple, cast, final

import numpy as np

from dpbandits.auditing.laws import selection_law
from dpbandits.auditing.played_noise import NO_NUMBER
from dpbandits.auditing.subjects import Scripted
from dpbandits.checks.tape import RecordedDraw, Recorder
from dpbandits.core.errors import Diverged, Parting, Unclear, Undecided
from dpbandits.core.inputs import Booleans, Floats, Integers
from dpbandits.core.privacy import Guarantee
from dpbandits.mechanisms.base import Block, Mechanism
from dpbandits.noise.protocol import Noise, Selection
from dpbandits.simulation.transcript import Transcript

# Do the answers show the noise? Each draw is shifted alone, to see how the answers of the release
# change. And how much does one outcome of it tell? Its exact log-ratio is a lower bound on epsilon
# that holds for certain.
#
# If every draw can be worked out from the answers (given the earlier ones), the loss of the noised
# values is the loss of the answers. If not, it only bounds that loss from above: a noisy maximum
# that tells its index hides the values it compared.


ADDED = ("laplace", "gaussian", "joint")
FAR = (50, 5_000, 5_000_000)
"""By how many steps draws are moved, to see whether answers are sums far away, too."""

Change = Floats | None
"""How far every number of an answer moved; None if the answer took another form."""


@final
class Shifting(Mechanism):
    """A mechanism that answers as `inner` does. For each of its draws, it also asks what `inner`
    would have answered to another one.
    """

    def __init__(self, inner: Mechanism) -> None:
        self.inner, self.grid = inner, inner.grid
        self.width, self.together, self.compares = inner.width, inner.together, inner.compares
        self.shown = True

    @property
    def guarantee(self) -> Guarantee | None:
        return self.inner.guarantee

    def init(self, coordinates: int) -> Any:
        return self.inner.init(coordinates)

    def answer(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, tuple[Any, ...]]:
        return self._watched("answer", memory, block, noise)

    def finish(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, tuple[Any, ...]]:
        return self._watched("finish", memory, block, noise)

    def _watched(
        self, verb: str, memory: Any, block: Block, noise: Any
    ) -> tuple[Any, tuple[Any, ...]]:
        first, before = len(noise.draws), deepcopy(memory)
        memory, answers = getattr(self.inner, verb)(memory, block, noise)
        draws, plain = noise.draws[first:], answer_numbers(answers)

        def change(script: Sequence[RecordedDraw]) -> Change:
            """The change of the answers under other noise. An answer of another form, or one that
            needs more noise, has changed for sure.
            """
            given = Scripted(tuple(draw.noisy for draw in script), None)
            try:
                moved = answer_numbers(getattr(self.inner, verb)(deepcopy(before), block, given)[1])
            except Parting:
                return None
            return moved - plain if len(moved) == len(plain) else None

        if self.shown:
            self.shown = choices_shown(draws, change) and sums_shown(draws, change)
        return memory, answers


def with_noisy(draws: Sequence[RecordedDraw], by: dict[int, Any]) -> list[RecordedDraw]:
    """The same draws, some with other noised values."""
    return [draw._replace(noisy=by.get(at, draw.noisy)) for at, draw in enumerate(draws)]


def answer_numbers(answer: Any) -> Floats:
    """Every number in an answer, in order; raises Unclear if it holds something else."""
    if answer is None:
        return np.zeros(0)
    if isinstance(answer, (tuple, list)):
        return np.concatenate([np.zeros(0), *map(answer_numbers, answer)])
    try:
        return np.atleast_1d(np.asarray(answer, np.float64)).ravel()
    except (TypeError, ValueError):
        raise Unclear(NO_NUMBER) from None


def choices_shown(
    draws: Sequence[RecordedDraw], change: Callable[[Sequence[RecordedDraw]], Change]
) -> bool:
    """Whether the answers would show every other choice, and every other answer to a question. A
    threshold is priced by the questions put to it.
    """
    for at, draw in enumerate(draws):
        others = (
            range(len(draw.value))
            if draw.family.startswith("select")
            else (0, 1)
            if draw.of >= 0
            else ()
        )
        for other in others:
            column = change(with_noisy(draws, {at: other})) if other != draw.noisy else None
            if column is not None and not column.any():
                return False
    return True


def sums_shown(
    draws: Sequence[RecordedDraw], change: Callable[[Sequence[RecordedDraw]], Change]
) -> bool:
    """Whether the answers determine the noise that is added: they move with each draw alone, and
    they do so far away as well as nearby.
    """
    numbers = [draws[owner] for owner in owners_of(draws)]
    units = {at: draw.sensitivity for at, draw in enumerate(numbers) if draw.family in ADDED}
    added = list(units)
    columns = [change(moved(draws, {at: units[at]})) for at in added]
    steady = [column for column in columns if column is not None]
    if len(steady) < len(added) or not added:
        return not added
    matrix, rng = np.stack(steady, axis=1), np.random.default_rng(len(added))
    for far in FAR:
        by = rng.integers(-far, far + 1, len(added))
        steps = {at: many * units[at] for at, many in zip(added, by.tolist(), strict=True)}
        column = change(moved(draws, steps))
        if column is None or not summed(column, matrix, by):
            return False
    return int(np.linalg.matrix_rank(matrix)) == len(added)


def summed(moved: Floats, matrix: Floats, by: np.ndarray[Any, Any]) -> bool:
    """Whether every number moved as sums do, up to rounding. The smaller the numbers are, the
    smaller are the deviations that count.
    """
    expected, steps = matrix @ by, np.abs(matrix).max(axis=1, initial=0.0)
    return bool((np.abs(moved - expected) <= 1e-5 * np.abs(expected) + 1e-6 * steps).all())


def shows_noise(run: Transcript, draws: Sequence[RecordedDraw]) -> bool:
    """Whether every release of a written run determines its own draws, given the earlier ones, as
    far as small shifts show.
    """
    watching: list[Shifting] = []

    def wrap(mechanism: Mechanism) -> Mechanism:
        watching.append(Shifting(mechanism))
        return watching[0]

    replay = run.replay({}, Recorder(0, script=list(draws)), wrap=wrap)
    return replay.at is None and watching[0].shown


LARGEST = 10**7
"""The largest product of actions and scale for which the law of a Laplace selection is summed up.
"""


def log_ratio(
    before: Sequence[RecordedDraw], after: Sequence[RecordedDraw]
) -> float | Fraction | None:
    """ln P[these noised values | before]/P[these | after], of recordings that gave the same
    answers; exact if all noise is Laplace.

    Returns None if the law of some of the noise is not known here.
    """
    total: float | Fraction = Fraction(0)
    for old, new in zip(before, after, strict=True):
        if (old.value, old.noisy) == (new.value, new.noisy):
            continue
        ratio = one_ratio(old, new)
        if ratio is None:
            return None
        total += ratio
    return total


def one_ratio(old: RecordedDraw, new: RecordedDraw) -> float | Fraction | None:
    if old.family == "joint":
        far = [max(map(abs, draw.noise())) for draw in (old, new)]
        return old.cost * Fraction(far[1] - far[0], old.sensitivity)
    if old.family == "laplace":
        return old.cost * Fraction(
            abs(new.value - new.noisy) - abs(old.value - old.noisy), old.sensitivity
        )
    if old.family.startswith("select by "):
        law = cast(Selection, old.family.removeprefix("select by "))
        scale = float(2 * old.sensitivity / old.cost)
        if (
            law == "laplace"
            and len(old.value) * (scale + max(old.value) - min(old.value)) > LARGEST
        ):
            return None
        before, after = (
            selection_law(d.value, scale=scale, selection=law)[old.noisy] for d in (old, new)
        )
        return math.log(before) - math.log(after) if min(before, after) > 1e-12 else None
    return None


# Answers that are sums of several noise draws, so that no draw can be told apart: their privacy
# loss, and moves of the noise that keep the answers.
#
# Let the answers be A z with independent draws z of rates λ, and let a changed record ask for noise
# moved by δ. Any whole move u with A u = A δ gives the same answers, so the loss is at most min Σ
# λ|u| over these moves; |u| of a joint draw is that of its largest number. Over real moves the
# minimum is a norm of A δ. Far out in the tails the loss comes arbitrarily close to it, because
# −ln P[A z = n·v] grows like n times the norm. The first minimum is a whole-number programme, the
# second a linear one. They differ if draws of different weight make up for each other.


Changes = dict[int, Any]
"""For each block (by its place among the run's events), the change of its sums in grid steps."""
MOST = 600
"""The most draws of a run whose sums are examined; of joint draws, the most numbers."""

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
    """How a run's answers move with each draw. The matrix, shape (numbers, numbers drawn), contains
    the change of each number as a drawn one moves by a grid step, times `unit`, which makes it
    whole. A joint draw has several numbers.
    """

    draws: tuple[RecordedDraw, ...]
    matrix: Floats
    unit: int

    def loss(self, after: Sequence[RecordedDraw]) -> LossBounds:
        """The loss between the written run and another recording that gave the same answers."""
        shift = [
            there - here
            for a, b in zip(self.draws, after, strict=True)
            for here, there in zip(a.noise(), b.noise(), strict=True)
        ]
        target = self.matrix @ np.array(shift, float)
        least, whole = None, None
        with suppress(Undecided):
            least = self.programme(target, whole=False)
            whole = self.programme(target, whole=True)
        most = None if whole is None else self.cost(list(map(round, whole[1])))
        certain = Fraction(0) if least is None else Fraction(least[0] * (1 - SOLVED))
        agree = most is not None and least is not None and least[0] >= float(most) * (1 - SOLVED)
        return LossBounds(most if agree and most is not None else certain, most)

    def cost(self, move: Sequence[int]) -> Fraction:
        """What it costs to move the numbers drawn so far."""
        total, start = Fraction(0), 0
        for at, draw in enumerate(self.draws):
            stop = start + len(draw.noise())
            total += self.rate(at) * max(map(abs, move[start:stop]))
            start = stop
        return total

    def rate(self, at: int) -> Fraction:
        """What a step of one draw's noise costs."""
        return self.draws[at].cost / self.draws[at].sensitivity

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
        return int(np.linalg.matrix_rank(self.matrix)) == len(owners_of(self.draws))

    def neighbour(self, run: Transcript, changes: Changes) -> Neighbour:
        """What random moves, near and far, do to a neighbour's answers. They show whether its
        matrix differs.

        Raises:
            Diverged: it asks something else of the noise, or the number of its answers varies.
        """
        plain, rng = answered(run, self.draws, changes), np.random.default_rng(1)
        fits, still = len(plain) == len(self.matrix), np.ones(len(plain), bool)
        for far in (2, *FAR):
            by = rng.integers(-far, far + 1, len(owners_of(self.draws))) * self.unit
            other = answered(run, moved(self.draws, dict(enumerate(by.tolist()))), changes)
            if len(other) != len(plain):
                raise Diverged("The noise decides how many numbers are answered.")
            fits = fits and summed(other - plain, self.matrix, by / self.unit)
            still &= other == plain
        return Neighbour(plain, fits, still)

    def programme(self, target: Floats, whole: bool) -> tuple[float, list[float]] | None:
        """min Σ λ|u| subject to A u = target: the minimum and its u. None if no u satisfies it."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array

        owners = owners_of(self.draws)
        wide = [at for at, draw in enumerate(self.draws) if len(draw.noise()) > 1]
        n, joint = len(owners), np.isin(owners, wide)
        # of a joint draw the largest number is paid for, which is one more variable
        largest = (owners[joint, None] == wide).astype(float)
        numbers = np.eye(n)[joint]
        prices = np.where(joint, 0.0, [float(self.rate(at)) for at in owners]).tolist()
        equal = np.hstack([self.matrix, -self.matrix, np.zeros((len(target), len(wide)))])
        constraints = [LinearConstraint(equal, target, target)]
        if wide:
            constraints.append(
                LinearConstraint(csr_array(np.hstack([numbers, numbers, -largest])), ub=0.0)
            )
        found = milp(
            [*prices, *prices, *(float(self.rate(at)) for at in wide)],
            constraints=constraints,
            integrality=np.full(equal.shape[1], int(whole)),
            bounds=Bounds(0, np.inf),
            options={"node_limit": NODES},
        )
        if found.status == INFEASIBLE:
            return None
        if not found.success:
            raise Undecided
        return float(found.fun), (found.x[:n] - found.x[n : 2 * n]).tolist()


def owners_of(draws: Sequence[RecordedDraw]) -> Integers:
    """Return for every number drawn the index of its draw. A joint draw has several."""
    sizes = [len(draw.noisy) if draw.family == "joint" else 1 for draw in draws]
    return np.repeat(np.arange(len(draws)), sizes)


def sums_of(run: Transcript, draws: Sequence[RecordedDraw]) -> NoiseSums | None:
    """How the answers are sums of these draws.

    Returns None if not all noise is Laplace or joint, there are too many draws, or the answers are
    not sums of the draws (near or far).
    """
    if any(draw.family not in ("laplace", "joint") for draw in draws):
        return None
    numbers = len(owners_of(draws))
    if not 0 < numbers <= MOST:
        return None
    unit = run.policy.reader.grid.steps
    try:
        plain = answered(run, draws)
        if bent(run, draws, plain, unit):
            return None
        columns = [answered(run, moved(draws, {at: unit})) - plain for at in range(numbers)]
        matrix = np.stack(columns, axis=1)
        rng = np.random.default_rng(numbers)
        for far in FAR:
            by = rng.integers(-far, far + 1, numbers) * unit
            if not summed(
                answered(run, moved(draws, dict(enumerate(by.tolist())))) - plain, matrix, by / unit
            ):
                return None
    except (Diverged, ValueError):  # another number of draws, or of answers
        return None
    return NoiseSums(tuple(draws), matrix, unit)


def bent(run: Transcript, draws: Sequence[RecordedDraw], plain: Floats, unit: int) -> bool:
    """Whether the answers to a far move, and to one twice as far, are not linear in it. This is
    seen at once, before each draw is moved alone.
    """
    by = np.random.default_rng(0).integers(-FAR[0], FAR[0] + 1, len(owners_of(draws))) * unit
    once, twice = (
        answered(run, moved(draws, dict(enumerate((k * by).tolist())))) - plain for k in (1, 2)
    )
    return not np.allclose(2 * once, twice, atol=1e-6)


def moved(draws: Sequence[RecordedDraw], by: dict[int, int]) -> list[RecordedDraw]:
    """The same draws, with these of the numbers drawn moved by so many grid steps."""
    found, start = list[RecordedDraw](), 0
    for draw in draws:
        if draw.family == "joint":
            noisy = tuple(value + by.get(start + i, 0) for i, value in enumerate(draw.noisy))
            found.append(draw._replace(noisy=noisy))
            start += len(noisy)
        else:
            found.append(draw._replace(noisy=draw.noisy + by[start]) if start in by else draw)
            start += 1
    return found


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
