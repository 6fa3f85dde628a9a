"""Do the answers show the noise? Each draw is shifted alone, and what becomes of the release's answers is looked at.

Where every draw can be worked out from the answers (given the earlier ones), the loss of the noised values is the loss of the answers.
Where not, it only bounds that loss from above: a noisy maximum that tells its index hides the values it compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.checks.tape import Draw, Recorder
from dpbandits.mechanisms.base import Block, Mechanism
from dpbandits.noise import Noise
from dpbandits.privacy import Guarantee
from dpbandits.simulate.replay import Transcript

ADDED = ("laplace", "gaussian")


@final
class Shifting(Mechanism):
    """A mechanism that answers as `inner` does; for each of its draws it is also asked what it would have answered otherwise."""

    def __init__(self, inner: Mechanism) -> None:
        self.inner, self.grid, self.width = inner, inner.grid, inner.width
        self.shown = True

    def promise(self) -> Guarantee | None:
        return self.inner.promise()

    def init(self, coordinates: int) -> Any:
        return self.inner.init(coordinates)

    def answer(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, tuple[Any, ...]]:
        return self._watched("answer", memory, block, noise)

    def finish(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, tuple[Any, ...]]:
        return self._watched("finish", memory, block, noise)

    def _watched(self, verb: str, memory: Any, block: Block, noise: Any) -> tuple[Any, tuple[Any, ...]]:
        first, before = len(noise.draws), deepcopy(memory)
        memory, answers = getattr(self.inner, verb)(memory, block, noise)
        draws, plain = noise.draws[first:], numbers(answers)

        def column(at: int) -> NDArray[np.float64] | None:
            """With one draw shifted; an answer of another form, or one that needs other noise, has changed for sure."""
            other = Given(noise, shifted(draws, at))
            try:
                moved = numbers(getattr(self.inner, verb)(deepcopy(before), block, other)[1])
            except Exhausted:
                return None
            return moved - plain if len(moved) == len(plain) else None

        columns = tuple(column(at) if draw.family != "threshold" else None for at, draw in enumerate(draws))
        self.shown = self.shown and all_shown(draws, columns)
        return memory, answers


class Exhausted(Exception):
    """Another draw was asked for than the ones there are."""


@final
class Given:
    """Noise that gives back what is scripted, whatever is asked for."""

    def __init__(self, recorder: Recorder, script: Sequence[Draw]) -> None:
        self.kind, self._recorder, self._left = recorder.kind, recorder, list(script)

    def __getattr__(self, name: str) -> Any:
        if name in ("uniform", "state"):
            return getattr(self._recorder, name)
        return self._next

    def _next(self, *asked: Any, **price: Any) -> int:
        if not self._left:
            raise Exhausted
        return self._left.pop(0).noisy


def shifted(draws: Sequence[Draw], at: int) -> list[Draw]:
    """One draw further by a step of sensitivity; of a choice, another one; of a question, the other answer."""
    old, script = draws[at], list(draws)
    if old.family.startswith("select"):
        new = (old.noisy + 1) % len(old.value)
    else:
        new = 1 - old.noisy if old.of >= 0 else old.noisy + old.sensitivity
    script[at] = old._replace(noisy=new)
    return script


def numbers(answer: Any) -> NDArray[np.float64]:
    """Every number in an answer, in order."""
    if answer is None:
        return np.zeros(0)
    if isinstance(answer, (tuple, list)):
        return np.concatenate([np.zeros(0), *map(numbers, answer)])
    return np.atleast_1d(np.asarray(answer, np.float64)).ravel()


def all_shown(draws: Sequence[Draw], columns: Sequence[NDArray[np.float64] | None]) -> bool:
    """Whether the answers determine these draws. A threshold's is priced by the questions put to it."""
    added = [column for draw, column in zip(draws, columns, strict=True) if draw.family in ADDED]
    others = [column for draw, column in zip(draws, columns, strict=True) if draw.family not in (*ADDED, "threshold")]
    if any(column is not None and not column.any() for column in others):
        return False
    steady = [column for column in added if column is not None]
    return len(steady) == len(added) and (not steady or int(np.linalg.matrix_rank(np.stack(steady, axis=1))) == len(steady))


def shown(run: Transcript, draws: Sequence[Draw]) -> bool:
    """Whether every release of a written run determines its own draws, given the earlier ones, as far as small shifts show."""
    watching: list[Shifting] = []

    def wrap(mechanism: Mechanism) -> Mechanism:
        watching.append(Shifting(mechanism))
        return watching[0]

    replay = run.replay({}, Recorder(0, script=list(draws)), wrap=wrap)
    return replay.at is None and watching[0].shown
