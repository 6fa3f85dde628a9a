"""`check_mechanism`: checks the properties of a mechanism that vault and ledger use."""

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from itertools import accumulate, combinations, product
from typing import Any, NamedTuple

import numpy as np

from dpbandits.checks.checks import largest_loss, require
from dpbandits.checks.tape import Recorder
from dpbandits.core.errors import CheckFailed, Foreign
from dpbandits.core.inputs import has_form_of, refuse_others
from dpbandits.core.plan import EVERY
from dpbandits.mechanisms import Block, Mechanism
from dpbandits.noise.protocol import Noise
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.session.evidence import NoiseMoments
from dpbandits.session.saving import as_plain, has_texts_as_keys
from dpbandits.simulation.transcript import identical

Rounds = tuple[tuple[int, ...], ...]
"""By release and coordinate, sums of rewards in grid steps, or numbers of records."""

SIZES = 1, 8, 1000
"""The most records in a block, in turn: noise may depend on how many there are."""

PLAYS, WON = 320, 1e6
"""Plays that are bet on against a law, and the wealth that refutes it."""


class MechanismTrial(NamedTuple):
    """A mechanism and the records of its test.

    Args:
        mechanism: the mechanism.
        rounds: the sums of the blocks.
        counts: the records in them; a block without records is not released.
        whole: True if a record is the rewards of all actions.
    """

    mechanism: Mechanism
    rounds: Rounds
    counts: Rounds
    whole: bool

    def released(self, at: int) -> list[int]:
        return [coordinate for coordinate, count in enumerate(self.counts[at]) if count]

    def block(self, at: int, rewards: tuple[int, ...]) -> Block:
        if self.whole:
            return Block((EVERY,), np.array(rewards), self.counts[at][:1])
        released, counts = self.released(at), self.counts[at]
        return Block(tuple(released), *(tuple(of[c] for c in released) for of in (rewards, counts)))

    def play(self, rounds: Rounds, noise: Noise) -> tuple[Any, list[Any]]:
        """Return the final memory and all answers; the last one is that of `finish`, if there is
        one.
        """
        mechanism, all_answers = self.mechanism, list[Any]()
        memory, finishes = mechanism.init(len(rounds[0])), len(self.rounds)
        if type(mechanism).finish is not Mechanism.finish:
            finishes -= 1
        for at, rewards in enumerate(rounds):
            block = self.block(at, rewards)
            answer = mechanism.answer if at < finishes else mechanism.finish
            memory, answers = answer(memory, block, noise)
            require(
                self.whole or len(answers) == len(block.coordinates),
                f"Release {at + 1} has not an answer for each coordinate.",
            )
            all_answers.append(answers)
        return memory, all_answers


def check_mechanism(
    mechanism: Mechanism, *, coordinates: int = 2, readings: int = 16, whole: bool = False
) -> None:
    """Run every check on a mechanism.

    The exact privacy loss of all answers, about blocks of one record and of up to a thousand, of
    all coordinates and of one, never exceeds the guarantee when one record changes (for a mechanism
    that draws noise `ahead`, `audit` says so). No memory is changed in place, because an
    interrupted release is repeated from the old memory. The memory survives JSON, as in a saved
    session. If `public_memory` is true, it holds released values only. If it states a `law`, from
    which intervals and names come, its answers cover what that says, with no more noise.

    Args:
        mechanism: an instance of a user-defined mechanism.
        coordinates: number of arms, or of actions of a whole record; few, because all changes of a
            record are tried.
        readings: number of releases, at least as many as one record may affect.
        whole: True if it releases whole records (full information).

    Raises:
        CheckFailed: the first violation.
        TypeError: not a mechanism.
    """
    refuse_others(mechanism, Mechanism, "a mechanism", "YourMechanism(epsilon=1)")
    for most in SIZES[:1] if whole else SIZES:
        rng, steps = np.random.default_rng(1), mechanism.grid.steps
        counts = rng.integers(1, most + 1, (readings, coordinates))
        if mechanism.together:
            counts[:] = counts[:, :1]
        elif most > 1 and not mechanism.compares:  # blocks of single coordinates
            counts[1::3, 1:] = counts[2::3, :-1] = 0
        sums = rng.integers(0, counts + 1) * steps
        # in every second release of rewards between 0 and 1
        sums[1::2] = rng.integers(0, counts[1::2] * steps + 1)
        rounds, records = (tuple(map(tuple, each.tolist())) for each in (sums, counts))
        trial = MechanismTrial(mechanism, rounds, records, whole)
        memory_is_kept(trial)
        guarantee_covers_loss(trial)
        memory_is_public(trial)
        law_covers_noise(trial)


def law_covers_noise(trial: MechanismTrial) -> None:
    """An answer covers the newest block alone, or the first ones, as its law says. Bets that its
    noise has larger moments win `WON` with probability 1/`WON` at most where it has not.
    """
    law, steps = trial.mechanism.law, trial.mechanism.grid.steps
    if law is None or trial.whole:
        return
    noise, wealth = NoiseMoments(law), 0.0
    for seed in range(PLAYS):
        place, at = divmod(seed, len(trial.rounds))
        coordinate = place % len(trial.rounds[0])
        released = trial.released(at)
        if coordinate not in released:
            continue
        _, answers = trial.play(trial.rounds[: at + 1], SimulatedNoise(seed))
        sums, counts = (
            [each[coordinate] for each in of[: at + 1]] for of in (trial.rounds, trial.counts)
        )
        answer = answers[at][released.index(coordinate)]
        said = trial.mechanism.noised_sum(answer, sum(map(bool, counts)))
        if said is not None and said.rounds:
            covered = dict(zip(accumulate(counts), accumulate(sums), strict=True))
            if law.forgets:
                covered = {counts[at]: sums[at]}
            require(
                said.rounds in covered,
                f"Answer {at + 1} covers {said.rounds} rounds: by `law` it covers "
                f"{'the newest block alone' if law.forgets else 'the first blocks'}.",
            )
            exact = covered[said.rounds] / steps
            off = (said.total - exact) * noise.thetas
            gain = np.logaddexp(off, -off) - np.log(2.0) - noise.of(said.draws)  # 0 on average
            wealth = wealth + np.logaddexp(0.0, gain) - np.log(2.0)
    won = np.logaddexp.reduce(np.atleast_1d(wealth)) - np.log(len(noise.thetas))
    require(bool(won < np.log(WON)), "Answers have more noise than `law` says.")


def guarantee_covers_loss(trial: MechanismTrial) -> None:
    """Change one record: the exact privacy loss of all answers together is within the guarantee.
    With the noise that gives the same noised values, the answers are the same.
    """
    guarantee = trial.mechanism.guarantee
    if guarantee is None or trial.mechanism.ahead:
        return
    first = Recorder(2)
    _, answers = trial.play(trial.rounds, first)

    def replay(rounds: Rounds, noise: Recorder) -> None:
        _, same = trial.play(rounds, noise)
        try:
            is_same = identical(answers, same)
        except Foreign as why:
            raise CheckFailed(str(why)) from None
        require(is_same, "An answer changes with a reward, whatever the noise.")

    worst = largest_loss(first, (partial(replay, rounds) for rounds in neighbours(trial)))
    require(
        worst <= guarantee.cost, f"One record can cost {worst}, the guarantee is {guarantee.cost}."
    )
    require(worst > 0, "No change of a reward changes any answer: the check saw nothing.")


def memory_is_public(trial: MechanismTrial) -> None:
    """If `public_memory` is true, records with the same answers leave the same memory."""
    if not trial.mechanism.public_memory:
        return
    first = Recorder(2)
    memory, answers = trial.play(trial.rounds, first)
    for rounds in neighbours(trial):
        again = Recorder(2, script=first.draws, tosses=first.thrown)
        other, same = trial.play(rounds, again)
        try:
            public = not identical(answers, same) or identical(memory, other)
        except Foreign as why:
            raise CheckFailed(f"`public_memory` is true, but cannot be checked. {why}") from None
        require(
            public,
            "`public_memory` is true, but the memory depends on more than the released values.",
        )


def neighbours(trial: MechanismTrial) -> Iterator[Rounds]:
    """Yield rounds that differ in one record: any rewards on the coordinates that one record may
    enter.
    """
    steps, whole = trial.mechanism.grid.steps, trial.whole or trial.mechanism.together
    for at, (rewards, counts) in enumerate(zip(trial.rounds, trial.counts, strict=True)):
        released = trial.released(at)
        width = len(released) if whole else min(trial.mechanism.width, len(released))
        for where in combinations(released, width):
            ends = (
                (max(0, rewards[i] - steps), min(steps * counts[i], rewards[i] + steps))
                for i in where
            )
            for values in product(*ends):
                changed = list(rewards)
                for coordinate, value in zip(where, values, strict=True):
                    changed[coordinate] = value
                yield (*trial.rounds[:at], tuple(changed), *trial.rounds[at + 1 :])


def memory_is_kept(trial: MechanismTrial) -> None:
    """A block that is released again from the old memory, with the same noise, gives the same
    answer. After JSON the memory has the form of a fresh one, and its answers are those of the
    memory itself.
    """
    answer = trial.mechanism.answer
    fresh = memory = trial.mechanism.init(len(trial.rounds[0]))
    for at, rewards in enumerate(trial.rounds):
        before, block = deepcopy(memory), trial.block(at, rewards)
        result = answer(memory, block, SimulatedNoise(at))
        require(memory == before, f"Release {at + 1} changes its memory in place.")
        again = answer(memory, block, SimulatedNoise(at))
        require(result == again, f"Release {at + 1} uses randomness other than its noise source.")
        plain = as_plain(memory)
        restored = json.loads(json.dumps(plain))
        require(
            has_form_of(restored, fresh) and has_texts_as_keys(plain),
            f"After {at} releases the memory has, after JSON, not the form of a fresh one.",
        )
        _, answers = answer(restored, block, SimulatedNoise(at))
        require(
            answers == result[1], f"After {at} releases the restored memory gives other answers."
        )
        memory = result[0]
