"""`check_mechanism`: what the vault and the ledger rely on in every mechanism."""

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from dpbandits.checks.checks import largest_loss, require
from dpbandits.checks.tape import Recorder
from dpbandits.core.errors import CheckFailed, Foreign
from dpbandits.core.inputs import refuse_others
from dpbandits.core.plan import EVERY
from dpbandits.mechanisms import Block, Mechanism
from dpbandits.mechanisms.base import Readings
from dpbandits.noise.protocol import Noise
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.simulation.transcript import identical

Rounds = tuple[tuple[int, ...], ...]
"""Rewards in grid steps: an entry a round, and in it an entry a coordinate."""


class MechanismTrial(NamedTuple):
    """A mechanism, and the records it is tried on.

    whole: whether a record is the rewards of all actions.
    """

    mechanism: Mechanism
    rounds: Rounds
    whole: bool

    def block(self, rewards: tuple[int, ...]) -> Block:
        if self.whole:
            return Block((EVERY,), np.array(rewards), (1,))
        return Block(tuple(range(len(rewards))), rewards, (1,) * len(rewards))

    def play(self, rounds: Rounds, noise: Noise) -> tuple[Any, list[Any]]:
        """The memory in the end, and all answers."""
        memory, told = self.mechanism.init(len(rounds[0])), list[Any]()
        for rewards in rounds:
            memory, answers = self.mechanism.answer(memory, self.block(rewards), noise)
            told.append(answers)
        return memory, told


def check_mechanism(
    mechanism: Mechanism, *, coordinates: int = 2, readings: int = 16, whole: bool = False
) -> None:
    """Run every check on a mechanism of yours.

    The exact loss of all its answers never exceeds its promise when one record changes, it changes
    no memory in place (an interrupted reading is done again from there), its memory survives
    JSON, as it does in a saved session, and holds no more than was released, where it says so.

    Args:
        coordinates: arms, or actions of a whole record; few, for all changes of a record are tried.
        readings: how often each is read; as often as one record may matter.
        whole: whether it reads whole records (full information).

    Raises:
        CheckFailed: the first broken promise.
    """
    refuse_others(mechanism, Mechanism, "a mechanism", "YourMechanism(epsilon=1)")
    bits = np.random.default_rng(1).integers(0, 2, (readings, coordinates)) * mechanism.grid.steps
    trial = MechanismTrial(mechanism, tuple(map(tuple, bits.tolist())), whole)
    memory_stays(trial)
    memory_survives_json(trial)
    promise_covers_loss(trial)
    memory_is_public(trial)


def promise_covers_loss(trial: MechanismTrial) -> None:
    """Change one record anywhere: the exact loss of all answers together is within the promise."""
    promise = trial.mechanism.promise()
    if promise is None:
        return
    first = Recorder(2)
    trial.play(trial.rounds, first)
    worst = largest_loss(first, (partial(trial.play, rounds) for rounds in neighbours(trial)))
    require(worst <= promise.cost, f"One record can cost {worst}, the promise is {promise.cost}.")
    require(worst > 0, "No change of a reward changes any answer: the check saw nothing.")


def memory_is_public(trial: MechanismTrial) -> None:
    """Where `public_memory` says so, records of which the same was told leave the same memory."""
    if not trial.mechanism.public_memory:
        return
    first = Recorder(2)
    memory, told = trial.play(trial.rounds, first)
    for rounds in neighbours(trial):
        again = Recorder(2, script=first.draws, tosses=first.thrown)
        other, same = trial.play(rounds, again)
        try:
            public = not identical(told, same) or identical(memory, other)
        except Foreign as why:
            raise CheckFailed(f"`public_memory` is true, but cannot be checked. {why}") from None
        require(
            public,
            "`public_memory` is true, but what it remembers depends on more than what it released.",
        )


def neighbours(trial: MechanismTrial) -> Iterator[Rounds]:
    """Rounds that differ in one record: any rewards on the coordinates one record may touch."""
    steps, coordinates = trial.mechanism.grid.steps, len(trial.rounds[0])
    whole = trial.whole or trial.mechanism.together
    width = coordinates if whole else min(trial.mechanism.width, coordinates)
    for at, rewards in enumerate(trial.rounds):
        for where in combinations(range(coordinates), width):
            for values in product((0, steps), repeat=width):
                changed = list(rewards)
                for coordinate, value in zip(where, values, strict=True):
                    changed[coordinate] = value
                yield (*trial.rounds[:at], tuple(changed), *trial.rounds[at + 1 :])


def memory_stays(trial: MechanismTrial) -> None:
    """A block that is read again from the old memory, with the same noise, gives the same."""
    memory = trial.mechanism.init(len(trial.rounds[0]))
    for at, rewards in enumerate(trial.rounds):
        before = deepcopy(memory)
        told = trial.mechanism.answer(memory, trial.block(rewards), SimulatedNoise(at))
        require(memory == before, f"Reading {at + 1} changes its memory in place.")
        again = trial.mechanism.answer(memory, trial.block(rewards), SimulatedNoise(at))
        require(told == again, f"Reading {at + 1} draws randomness beside the noise it is given.")
        memory = told[0]


def memory_survives_json(trial: MechanismTrial) -> None:
    """What JSON gives back is accepted by `remembers`, and answers as the memory itself does."""
    mechanism, steps = trial.mechanism, trial.mechanism.grid.steps
    memory: Any = mechanism.init(len(trial.rounds[0]))
    for at, rewards in enumerate(trial.rounds):
        restored = json.loads(json.dumps(memory))
        read = [Readings(at, at, 0, steps)] * len(rewards)
        require(
            mechanism.remembers(restored, read),
            f"After {at} readings `remembers` refuses the memory that JSON gives back.",
        )
        memory, told = mechanism.answer(memory, trial.block(rewards), SimulatedNoise(at))
        _, again = mechanism.answer(restored, trial.block(rewards), SimulatedNoise(at))
        require(told == again, f"After {at} readings restored memory answers something else.")
