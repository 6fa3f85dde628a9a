"""Do the answers show the noise? Each draw is shifted alone, to see how the answers of the release
change. And how much does one outcome of it tell? Its exact log-ratio is a lower bound on epsilon
that holds for certain.

If every draw can be worked out from the answers (given the earlier ones), the loss of the noised
values is the loss of the answers. If not, it only bounds that loss from above: a noisy maximum that
tells its index hides the values it compared.
"""

import math
from collections.abc import Callable, Sequence
from copy import deepcopy
from fractions import Fraction
from typing import Any, cast, final

import numpy as np

from dpbandits.auditing.transcript.outside_randomness import NO_NUMBER
from dpbandits.checks.tape import RecordedDraw, Recorder
from dpbandits.core.errors import DrawsExhausted, Unclear
from dpbandits.core.inputs import Floats
from dpbandits.core.privacy import Guarantee
from dpbandits.mechanisms.base import Block, Mechanism
from dpbandits.noise.laws import selection_law
from dpbandits.noise.protocol import Noise, Selection
from dpbandits.simulation.transcript import Transcript

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

    def promise(self) -> Guarantee | None:
        return self.inner.promise()

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
            try:
                moved = answer_numbers(
                    getattr(self.inner, verb)(deepcopy(before), block, Given(noise, script))[1]
                )
            except DrawsExhausted:
                return None
            return moved - plain if len(moved) == len(plain) else None

        if self.shown:
            self.shown = choices_shown(draws, change) and sums_shown(draws, change)
        return memory, answers


@final
class Given:
    """Noise that gives back the scripted values, whatever it is asked for."""

    def __init__(self, recorder: Recorder, script: Sequence[RecordedDraw]) -> None:
        self.kind, self._recorder, self._left = recorder.kind, recorder, list(script)

    def __getattr__(self, name: str) -> Any:
        if name in ("uniform", "state"):
            return getattr(self._recorder, name)
        return self._next

    def _next(self, *asked: Any, **price: Any) -> Any:
        if not self._left:
            raise DrawsExhausted
        return self._left.pop(0).noisy


def with_noisy(draws: Sequence[RecordedDraw], by: dict[int, Any]) -> list[RecordedDraw]:
    """The same draws, some with other noised values."""
    return [draw._replace(noisy=by.get(at, draw.noisy)) for at, draw in enumerate(draws)]


def shifted(
    draws: Sequence[RecordedDraw], added: Sequence[tuple[int, int]], by: Sequence[int]
) -> list[RecordedDraw]:
    """The same draws, these numbers moved so many units. added: a draw's place, and which of its
    numbers (a joint draw has several).
    """
    moved: dict[int, Any] = {}
    for (at, which), units in zip(added, by, strict=True):
        noisy, step = moved.get(at, draws[at].noisy), int(units) * draws[at].sensitivity
        if draws[at].family == "joint":
            noisy = (*noisy[:which], noisy[which] + step, *noisy[which + 1 :])
        else:
            noisy += step
        moved[at] = noisy
    return with_noisy(draws, moved)


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
    added = [
        (at, which)
        for at, draw in enumerate(draws)
        if draw.family in ADDED
        for which in range(len(draw.noise()))
    ]
    columns = [change(shifted(draws, [one], [1])) for one in added]
    steady = [column for column in columns if column is not None]
    if len(steady) < len(added) or not added:
        return not added
    matrix, rng = np.stack(steady, axis=1), np.random.default_rng(len(added))
    for far in FAR:
        by = rng.integers(-far, far + 1, len(added))
        moved = change(shifted(draws, added, by.tolist()))
        if moved is None or not summed(moved, matrix, by):
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
        return old.price * Fraction(far[1] - far[0], old.sensitivity)
    if old.family == "laplace":
        return old.price * Fraction(
            abs(new.value - new.noisy) - abs(old.value - old.noisy), old.sensitivity
        )
    if old.family.startswith("select by "):
        law = cast(Selection, old.family.removeprefix("select by "))
        scale = float(2 * old.sensitivity / old.price)
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
