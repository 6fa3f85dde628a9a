"""What the transcript level plays, and which neighbours of a written run it replays."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dpbandits.auditing.mechanism_policy import Feeding, alone, longest
from dpbandits.auditing.transcript.played_noise import PlayedNoise
from dpbandits.checks.tape import Recorder, Tape
from dpbandits.policies.contract import Policy
from dpbandits.simulation.transcript import Entered, Transcript, transcript

TINY = 16
"""The number of rounds of the first runs, in which a leak shows at once, if it does not begin
later: a slow machine, too, sees this much.
"""

SHORT = 256
"""The number of rounds of a short run; every neighbour of a short run is replayed."""

EARLY = 16
"""The number of blocks at a run's start that are always looked at; later ones are chosen at random.
"""


LONGEST = 20_000
"""The most rounds to which a run is prolonged until something is released."""


class AuditRun(NamedTuple):
    """One run: rewards are 0 or 1 with these means, or anything on the grid (`spread`)."""

    policy: Policy
    rounds: int
    means: np.ndarray[Any, Any]
    noise: PlayedNoise
    seed: int
    spread: bool = False

    def rewards(self, rounds: int) -> np.ndarray[Any, Any]:
        """Shape (arms, rounds)."""
        rng, steps = np.random.default_rng(self.seed), self.policy.reader.grid.steps
        uniform = rng.random((self.policy.arms, rounds))
        return (
            np.rint(uniform * steps) / steps
            if self.spread
            else (uniform < self.means[:, None]).astype(float)
        )

    def written(self) -> tuple[Recorder, Transcript]:
        """The run and its draws. If nothing is released in the rounds asked for, the run is
        prolonged until something is.
        """
        rounds, most = self.rounds, min(LONGEST, longest(self.policy))
        while True:
            recorder = Recorder(self.seed, base=self.noise)
            run = transcript(
                self.policy,
                Tape(self.rewards(rounds)),
                rounds,
                noise=recorder,
                seed=self.seed,
                begins=self.noise.begin,
            )
            if self.policy.about.goal == "estimate":
                run.finish()
            if run.releases or rounds >= most:
                return recorder, run
            rounds = min(4 * rounds, most)


def plays(policy: Policy, rounds: int, seed: int) -> list[AuditRun]:
    """The runs to audit, tiny ones first. Rewards are uneven, even, or between 0 and 1. Noise falls
    as it does, or is pushed far up or down: then outcomes lie beyond both sums, where the ratio is
    largest, and policies take other ways. A bare mechanism is also run with several records in a
    block, and with several coordinates in a release.
    """
    uneven = np.linspace(0.8, 0.2, policy.arms) if policy.arms > 1 else np.array([0.5])
    even, long = np.full(policy.arms, 0.5), min(rounds, longest(policy))
    short, tiny, fine = min(SHORT, long), min(TINY, long), policy.reader.grid.steps > 1
    found = [
        AuditRun(policy, tiny, uneven, PlayedNoise(seed + 10), seed + 8, spread=fine),
        AuditRun(policy, tiny, even, PlayedNoise(seed + 11, up=True), seed + 9),
        AuditRun(policy, short, uneven, PlayedNoise(seed + 1), seed),
        AuditRun(policy, short, even, PlayedNoise(seed + 2, up=True), seed + 1),
        AuditRun(policy, short, uneven, PlayedNoise(seed + 3, up=False), seed + 2),
        AuditRun(policy, short, uneven[::-1], PlayedNoise(seed + 4, up=True), seed + 3),
    ]
    if fine:
        found.append(AuditRun(policy, short, even, PlayedNoise(seed + 5), seed + 4, spread=True))
    if isinstance(policy, Feeding):
        several = replace(policy, each=3)
        found.insert(2, AuditRun(several, 3 * tiny, even, PlayedNoise(seed + 12), seed + 10))
        found += [
            AuditRun(several, short, even, noise, seed + 5)
            for noise in (PlayedNoise(seed + 6), PlayedNoise(seed + 9, up=False))
        ]
        if alone(policy):
            found += runs_beside(policy, tiny, short, seed)
    return [
        *found,
        AuditRun(policy, long, uneven, PlayedNoise(seed + 7), seed + 6),
        AuditRun(policy, long, even, PlayedNoise(seed + 8, up=True), seed + 7),
    ]


SIDES = 3
"""Coordinates that a mechanism which treats each alone is handed in one release: what one of them
is told may depend on another one, or be noised like it.
"""


def runs_beside(policy: Feeding, tiny: int, short: int, seed: int) -> list[AuditRun]:
    """Runs with several coordinates a release."""
    several, even = replace(policy, arms=SIDES), np.full(SIDES, 0.5)
    return [
        AuditRun(several, SIDES * tiny, even, PlayedNoise(seed + 13), seed + 11),
        AuditRun(several, short, even, PlayedNoise(seed + 14, up=True), seed + 12),
    ]


def draws_gaussians(policy: Policy, seed: int) -> bool:
    """Whether the policy promises what Gaussian noise can keep (zCDP), or draws Gaussian noise in a
    short run.
    """
    if policy.guarantee is not None and policy.guarantee.measure == "zCDP":
        return True
    recorder, _ = plays(policy, SHORT, seed)[-1].written()
    return any(draw.family == "gaussian" for draw in recorder.draws)


def record_changes(run: Transcript, rng: np.random.Generator) -> list[tuple[int, Any]]:
    """Pairs (block, change of its sums). In every block that a release may read, one record moves
    by a whole unit, in all coordinates and in each one alone, and by a part of a unit. Blocks of
    the first rounds alternate with later ones.
    """
    last = max(
        (at for at, event in enumerate(run.events) if not isinstance(event, Entered)), default=0
    )
    blocks = [at for at, event in enumerate(run.events[:last]) if isinstance(event, Entered)]
    early, late = blocks[:EARLY], rng.permutation(blocks[EARLY:]).tolist()
    turns = [at for pair in zip(early, late, strict=False) for at in pair]
    order = turns + early[len(late) :] + late[len(early) :]
    unit = run.policy.reader.grid.steps
    return [(at, change) for at in order for change in changes(run.events[at], unit, rng)]


def all_changed(run: Transcript, rng: np.random.Generator) -> dict[int, Any]:
    """Changes of the sums of all blocks at once: to none, to full, or to anything between."""
    unit, found = run.policy.reader.grid.steps, dict[int, Any]()
    for at, event in enumerate(run.events):
        if isinstance(event, Entered):
            full, size = event.rounds * unit, np.shape(event.steps)
            ends = rng.integers(0, 2, size) * full
            other = np.where(rng.random(size) < 0.5, ends, rng.integers(0, full + 1, size))
            found[at] = other - event.steps if size else int(other) - event.steps
    return found


def changes(event: Any, unit: int, rng: np.random.Generator) -> list[Any]:
    """The changes that one record can make to a block's sums. Any table with these sums will do, so
    a record may rise by what its block lacks to be full, and fall by what it holds.
    """
    full = event.rounds * unit
    part = int(rng.integers(1, unit)) if unit > 1 else 0
    if np.ndim(event.steps) == 0:
        return [d for d in (unit, -unit, part, -part) if d and 0 <= event.steps + d <= full]
    moves = [
        np.where((event.steps + wish >= 0) & (event.steps + wish <= full), wish, 0)
        for wish in wishes(event.steps, full, unit, rng)
    ]
    if part:
        moves.append(np.where(event.steps + part <= full, part, 0))
    return [move for move in np.unique(moves, axis=0) if move.any()]


def wishes(
    steps: np.ndarray[Any, Any], full: int, unit: int, rng: np.random.Generator
) -> Iterator[np.ndarray[Any, Any]]:
    """Moves of whole units: all coordinates one way, one coordinate alone, one against the others,
    and every coordinate in whichever direction it can go.
    """
    size = len(steps)
    some = np.arange(size) if size <= 6 else rng.choice(size, 3, replace=False)
    one = np.eye(size, dtype=np.int64)[some]
    for wish in np.concatenate([np.ones((1, size), np.int64), one, 1 - 2 * one]):
        yield unit * wish
        yield -unit * wish
    yield np.where(steps + unit <= full, unit, -unit)
    yield np.where(steps - unit >= 0, -unit, unit)
