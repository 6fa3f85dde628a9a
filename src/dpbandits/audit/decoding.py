"""Do the answers show the noise? Each draw is shifted alone, and what becomes of the release's answers is looked at.

Where every draw can be worked out from the answers (given the earlier ones), the loss of the noised values is the loss of the answers.
Where not, it only bounds that loss from above: a noisy maximum that tells its index hides the values it compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.checks.tape import Draw, Recorder
from dpbandits.mechanisms.base import Block, Mechanism
from dpbandits.noise import Noise
from dpbandits.privacy import Guarantee
from dpbandits.simulate.replay import Released, Transcript

ADDED = ("laplace", "gaussian")


class Response(NamedTuple):
    """One release: its first draw's place, and a column a draw: how the answers move with it; None: they change in kind."""

    first: int
    columns: tuple[NDArray[np.float64] | None, ...]

    @property
    def matrix(self) -> NDArray[np.float64] | None:
        """Shape (numbers, draws), if all noise is added."""
        columns = [column for column in self.columns if column is not None]
        return np.stack(columns, axis=1) if columns and len(columns) == len(self.columns) else None


@final
class Shifting(Mechanism):
    """A mechanism that answers as `inner` does; for each of its draws it is also asked what it would have answered otherwise."""

    def __init__(self, inner: Mechanism) -> None:
        self.inner, self.grid, self.width = inner, inner.grid, inner.width
        self.responses: list[Response] = []
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
        self.responses.append(Response(first, columns))
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


def responses(run: Transcript, draws: Sequence[Draw]) -> tuple[dict[int, Response], bool]:
    """Of a written run: the response of every release, by its event, and whether all draws are shown."""
    watching: list[Shifting] = []

    def wrap(mechanism: Mechanism) -> Mechanism:
        watching.append(Shifting(mechanism))
        return watching[0]

    run.replay({}, Recorder(0, script=list(draws)), wrap=wrap)
    answered = [at for at, event in enumerate(run.events) if isinstance(event, Released) and event.asked[0]]
    found = watching[0].responses
    return (dict(zip(answered, found, strict=True)), watching[0].shown) if len(found) == len(answered) else ({}, False)


def solved(response: Response | None, old: Any, new: Any, script: Sequence[Draw]) -> list[Draw] | None:
    """The script with the release's draws moved so that its answers come out as they were; None: no noise does that.

    For mechanisms that draw noise for 0 and add it themselves.
    """
    matrix, old, new = response.matrix if response else None, numbers(old), numbers(new)
    if response is None or matrix is None or not matrix.shape[0] == len(old) == len(new):
        return None
    gap = old - new
    moves = np.linalg.lstsq(matrix, gap, rcond=None)[0]
    if not np.allclose(matrix @ moves, gap, rtol=1e-9, atol=1e-12):
        return None
    changed = list(script)
    for at, move in enumerate(moves.tolist(), start=response.first):
        changed[at] = changed[at]._replace(noisy=changed[at].noisy + round(move * changed[at].sensitivity))
    return None if changed == list(script) else changed
