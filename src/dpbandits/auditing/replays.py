"""A run replayed with one record replaced: does it answer the same, and at what cost?"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np

from dpbandits.auditing.played_noise import (
    BY_ITSELF,
    ITS_KIND,
    OWN_COINS,
    TIMES,
    UNEVEN,
    Outside,
    PlayedNoise,
    heeds_kind,
)
from dpbandits.auditing.shown_noise import (
    ADDED,
    MOST,
    NoiseSums,
    answered,
    log_ratio,
    moved,
    shows_noise,
    sums_of,
)
from dpbandits.auditing.subjects import Feeding, alone, longest
from dpbandits.checks.tape import RecordedDraw, Recorder, Tape, in_turn, loss
from dpbandits.core.errors import Diverged, Foreign, Leak, Unclear, Undecided
from dpbandits.core.inputs import Floats
from dpbandits.policies.contract import Policy
from dpbandits.simulation.transcript import Entered, Replay, Transcript, transcript

# What the transcript level plays, and which neighbours of a written run it replays.


TINY = 16
"""The number of rounds of the first runs, in which a leak shows at once, if it does not begin
later.
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
                run.end()
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
    order = in_turn(blocks[:EARLY], rng.permutation(blocks[EARLY:]).tolist())
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


# A run that was written down, and what replays of it with one changed record show.


@final
class Witness:
    """A written run. It is prolonged until it has a release, if that is possible."""

    def __init__(self, play: AuditRun) -> None:
        self.recorder, self.run = play.written()
        self.seed = play.seed
        both = [self._unchanged(self.seed).plans for _ in range(2)]
        # None where the policy draws them from a source of its own
        self.plans = both[0] if both[0] == both[1] else None
        if heeds_kind(self.run, self.recorder):
            raise Foreign(ITS_KIND)

    @property
    def draws(self) -> list[RecordedDraw]:
        return self.recorder.draws

    @property
    def rounds(self) -> int:
        return self.run.path.rounds if self.run.path else 0

    def _unchanged(self, seed: int | None) -> Replay:
        """Replay the unchanged table: with the same noise and coins everything must stay the same,
        also the values that are handed to the noise.
        """
        try:
            seen = self.script(self.draws)
            replay = self.run.replay({}, seen, seed=seed)
        except Diverged:
            raise Foreign(OWN_COINS) from None
        if replay.at is not None or seen.draws != self.draws or seen.thrown != self.recorder.thrown:
            raise Foreign(OWN_COINS)
        return replay

    def confirm(self, event: int, change: Any, after: list[RecordedDraw]) -> None:
        """Replay a pair, and the unchanged table, again and again. after: the neighbour's draws.

        Raises:
            Foreign: the results differed, or randomness was used that the noise source did not
                give.
        """
        self.always(lambda: self._replayed(event, change).draws, after)

    def always(
        self,
        again: Callable[[], list[RecordedDraw] | str],
        first: list[RecordedDraw] | str,
        asking: bool = False,
    ) -> None:
        plans = self.plans if asking else None
        try:
            with Outside() as outside:
                for _ in range(TIMES):
                    if (
                        self._unchanged(None if plans is None else self.seed).plans != (plans or [])
                        or again() != first
                    ):
                        raise Foreign(OWN_COINS)
        except Leak:
            raise Foreign(OWN_COINS) from None
        if outside.used:
            raise Foreign(OWN_COINS)

    @cached_property
    def shown(self) -> bool:
        """Whether the answers determine all noise, so that its loss is theirs: each release
        determines its own noise, and sums stay sums far away. Coins never count as shown: another
        coin may hide what one coin tells.
        """
        if self.recorder.coins or not shows_noise(self.run, self.draws):
            return False
        return (
            len(self.draws) > MOST
            or any(draw.family != "laplace" for draw in self.draws)
            or self.sums is not None
        )

    def script(self, draws: Sequence[RecordedDraw]) -> Recorder:
        return Recorder(self.seed, script=list(draws), tosses=self.recorder.thrown)

    @cached_property
    def drawn(self) -> dict[int, int]:
        """The draws of each release."""
        again, before, found = self.script(self.draws), 0, dict[int, int]()
        for at, *_ in self.run.answers({}, again):
            found[at], before = len(again.draws) - before, len(again.draws)
        return found

    @cached_property
    def sums(self) -> NoiseSums | None:
        """How all answers are sums of the noise, if they are."""
        return None if self.recorder.coins else sums_of(self.run, self.draws)

    @cached_property
    def self_adding(self) -> bool:
        """Whether the mechanism draws noise for a value that is always 0, and adds it itself."""
        return bool(self.draws) and all(
            draw.family in ADDED and not np.any(draw.value) for draw in self.draws
        )

    def replayed(self, event: int, change: Any, asking: bool = False) -> list[RecordedDraw]:
        """The draws with which the neighbour gives the same answers. asking: also ask the policy
        for every plan again.

        Raises:
            Leak: there are none, or plans differ, in every replay.
            Unclear: it cannot be said whether there are any.
            Foreign: other replays came out differently.
        """
        try:
            return self._replayed(event, change, asking).draws
        except Leak as leak:
            if self.recorder.coins:
                raise Unclear(
                    f"{leak} Whether other coins make up for it, replays cannot say."
                ) from None
            self.always(lambda: self._text(event, change, asking), str(leak), asking)
            raise

    def _text(self, event: int, change: Any, asking: bool) -> str:
        """The leak's message; an empty text if there is none."""
        try:
            self._replayed(event, change, asking)
        except Leak as leak:
            return str(leak)
        return ""

    def _replayed(self, event: int, change: Any, asking: bool = False) -> Recorder:
        seed = self.seed if asking and self.plans is not None else None
        replay, other = self._again(event, change, self.draws, seed)
        if replay.at is not None:
            # so far a function of the rewards: of these it cannot answer what it did
            if not other.draws and not other.coins:
                raise self._leak(event, certain=True)
            if len(other.draws) != sum(self.drawn[at] for at in self.drawn if at <= replay.at):
                raise Unclear(UNEVEN)
            replay, other = self._moved(event, change, seed)
        self._same(replay, other, event)
        return other

    def _again(
        self, event: int, change: Any, draws: Sequence[RecordedDraw], seed: int | None
    ) -> tuple[Replay, Recorder]:
        other = self.script(draws)
        try:
            return self.run.replay({event: change}, other, seed=seed), other
        except Diverged as error:
            raise Unclear(
                "One changed record changes what is asked of the noise, and replays cannot say "
                f"what that tells: {error}"
            ) from None

    def _moved(self, event: int, change: Any, seed: int | None) -> tuple[Replay, Recorder]:
        """Replay with noise moved so that the mechanism's answers stay the same. It is a leak if
        the answers of both runs are the same sums of their noise, near and far, and no move of the
        noise makes up for the record.
        """
        if self.sums is None:
            raise Unclear(BY_ITSELF)
        gap = self._gap(self.sums, event, change)
        try:
            move = self.sums.move(gap)
        except Undecided:
            raise Foreign("Whether some noise keeps its answers takes too long to say.") from None
        if move is None:
            raise self._leak(event)
        replay, other = self._again(event, change, moved(self.draws, dict(enumerate(move))), seed)
        if replay.at is not None:
            raise self._leak(event) if self.sums.unique() else Unclear(BY_ITSELF)
        return replay, other

    def _gap(self, sums: NoiseSums, event: int, change: Any) -> Floats:
        """By how much the noise has to move the neighbour's answers, if it moves them as it does
        the run's.

        Raises:
            Leak: a number that no noise moves differs between the two runs.
            Unclear: the neighbour may make other sums of its noise, say with its sign turned, so it
                is not known how their answers come to agree.
        """
        old = answered(self.run, self.draws)
        try:
            new = sums.neighbour(self.run, {event: change})
        except Diverged:
            raise Unclear(UNEVEN) from None
        if (
            len(old) != len(new.answers)
            or ((old != new.answers) & new.still & ~sums.matrix.any(axis=1)).any()
        ):
            raise self._leak(event)
        if not new.fits:
            raise Unclear(BY_ITSELF)
        return old - new.answers

    def _leak(self, event: int, certain: bool = False) -> Leak:
        text = f"A record changed in the block that begins with round {self.begins(event)} "
        return Leak(text + "changes what is released, whatever the noise.", certain)

    def _same(self, replay: Replay, other: Recorder, event: int) -> None:
        if len(other.draws) != len(self.draws):
            raise Unclear(UNEVEN)
        if replay.at is None and replay.plans and replay.plans != self.plans:
            raise Leak(
                f"A record changed in the block that begins with round {self.begins(event)} "
                "changes a plan, though releases stay the same."
            )

    def begins(self, event: int) -> int:
        block = self.run.events[event]
        return block.start + 1 if isinstance(block, Entered) else 0


# What the neighbours that were replayed prove: the least and the largest possible loss, and the
# loss that is certified by outcomes that were seen.
#
# Nothing is said of a pair before it was replayed again and again with the same result.


SLACK = Fraction(1, 10**9)
"""The error of the logarithm of a ratio of two floats."""


class Pair(NamedTuple):
    """Two reward tables that differ in one record, in block `event` of a run, by `change` grid
    steps.

    outcome: the log-ratio of what was seen, in whichever direction it is larger, if it is known.
    """

    loss: Fraction
    outcome: float
    round: int
    event: int
    change: tuple[int, ...]


def as_float(loss: float | Fraction) -> float:
    """Return the size of a loss as a float. What is certified is never rounded up: the largest
    float stands for what is larger.
    """
    size = -loss if loss < 0 else loss
    return sys.float_info.max if size > sys.float_info.max else float(size)


def pair_of(witness: Witness, event: int, change: Any, after: list[RecordedDraw]) -> Pair:
    return Pair(
        loss(witness.draws, after),
        as_float(log_ratio(witness.draws, after) or 0.0),
        witness.begins(event),
        event,
        tuple(np.atleast_1d(change).tolist()),
    )


def change_of(change: tuple[int, ...]) -> Any:
    return np.array(change) if len(change) > 1 else change[0]


class Found(NamedTuple):
    """What one run's replays showed."""

    witness: Witness
    pairs: int
    of: int
    worst: tuple[Pair, ...]  # largest loss first
    unclear: str  # why of some neighbours nothing can be said; empty: of all something can
    others: tuple[Pair, ...] = ()  # the rest, by falling loss: of their draws, like all of these

    @property
    def asked(self) -> int:
        """Pairs in which the policy was asked for all its plans again: all, or, where it draws them
        from a source of its own, none.
        """
        return 0 if self.witness.plans is None else self.pairs


class Case(NamedTuple):
    """A pair, the run that it belongs to, and the draws with which the neighbour gives the same
    answers.
    """

    pair: Pair
    witness: Witness
    after: list[RecordedDraw]

    def confirm(self) -> None:
        self.witness.confirm(self.pair.event, change_of(self.pair.change), self.after)

    def outcome(self) -> Fraction:
        """The log-ratio of the outcome that was seen, in whichever direction it is larger; 0 if it
        is not known.
        """
        ratio = log_ratio(self.witness.draws, self.after) or Fraction(0)
        if isinstance(ratio, Fraction):
            return abs(ratio)
        return max(Fraction(0), Fraction(abs(ratio)) - SLACK)


def case_of(pair: Pair, witness: Witness) -> Case:
    after = witness.replayed(pair.event, change_of(pair.change))
    if loss(witness.draws, after) != pair.loss:
        raise Foreign(OWN_COINS)
    return Case(pair, witness, after)


class Priced(NamedTuple):
    """The largest loss of the answers is at least `least`, and at most `most` (None: not known).
    case: the pair that shows most.
    """

    least: Fraction
    most: Fraction | None
    case: Case


def priced(runs: list[Found]) -> Priced:
    """The loss of the answers, worked out from the loss of the draws."""
    runs = sorted(runs, key=lambda run: len(run.witness.draws))
    worst, others = (
        sorted(
            ((pair, run.witness) for run in runs for pair in getattr(run, which)),
            key=lambda case: -case[0].loss,
        )
        for which in ("worst", "others")
    )
    found = Priced(Fraction(0), Fraction(0), case_of(*worst[0]))
    found = with_pairs(found, worst, lambda found, loss: loss <= found.least)
    # answers may hide the draws of one pair and show those of another, which cost as much or less
    found = with_pairs(found, others, lambda found, loss: found.most is None or loss <= found.most)
    if found.least:
        found.case.confirm()
    if any(run.unclear or (run.witness.self_adding and run.witness.sums is None) for run in runs):
        # what noise would have to do to keep the answers is not known
        return found._replace(most=None)
    return found


def with_pairs(
    found: Priced,
    pairs: list[tuple[Pair, Witness]],
    is_enough: Callable[[Priced, Fraction], bool],
) -> Priced:
    """The same with these pairs, by falling loss of their draws, until no further one is needed.

    is_enough: whether a pair whose draws lose so much changes nothing.
    """
    for pair, witness in pairs:
        if is_enough(found, pair.loss):
            break
        case = case_of(pair, witness)
        least, most = cost(case)
        found = Priced(
            max(least, found.least),
            None if most is None or found.most is None else max(most, found.most),
            case if least > found.least else found.case,
        )
    return found


def cost(case: Case) -> tuple[Fraction, Fraction | None]:
    """The least and the largest loss of the answers. If noise is added and shown, both are the loss
    of the draws. Of a selection, the outcome that was seen is certain. Of questions to a threshold,
    both are the cost in the proof.
    """
    pair, witness = case.pair, case.witness
    if witness.shown:
        chosen = any(draw.family.startswith("select") for draw in witness.draws)
        return case.outcome() if chosen else pair.loss, pair.loss
    if witness.sums is None:
        return Fraction(0), pair.loss
    told = witness.sums.loss(case.after)
    most = pair.loss if told.most is None else min(pair.loss, told.most)
    return min(told.least, most), most


def certified_loss(runs: list[Found], found: Priced) -> float:
    """The log-ratio of an outcome that was seen: of the case that was priced highest, and of others
    that may show more. Of a bare mechanism, also the loss that added noise shows in its tails.
    """
    sure = isinstance(found.case.witness.run.policy, Feeding) and all(
        draw.family in ADDED for draw in found.case.witness.draws
    )
    certain, best = found.least if sure else Fraction(0), None
    if found.least and found.case.witness.shown:
        certain = max(certain, found.case.outcome())
    for run in sorted(runs, key=lambda run: len(run.witness.draws)):
        for pair in run.worst:
            if certain >= found.least or pair.loss <= certain or not run.witness.shown:
                break  # no outcome tells more than the loss
            case = case_of(pair, run.witness)
            if (told := case.outcome()) > certain:
                certain, best = told, case
    if best is not None and best.pair != found.case.pair:  # that one was repeated already
        best.confirm()
    return as_float(certain)


def unbounded(runs: list[Found]) -> bool:
    """Whether some answer shows Gaussian noise that a record moves. Far out in its tails this noise
    exceeds every epsilon.
    """
    for run in runs:
        for pair in run.worst if run.witness.shown else ():
            case = case_of(pair, run.witness)
            moved = [
                (a.noisy - a.value) != (b.noisy - b.value)
                for a, b in zip(run.witness.draws, case.after, strict=True)
                if a.family == "gaussian"
            ]
            if any(moved):
                case.confirm()
                return True
    return False
