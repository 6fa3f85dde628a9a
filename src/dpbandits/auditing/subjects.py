"""Policies and bare mechanisms of this package as black boxes: many independent runs on a table of
rewards, each an outcome, which is a row of numbers.
"""

import math
from binascii import crc32
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from multiprocessing import RawValue
from operator import methodcaller
from typing import Any, ClassVar, Protocol, final

import numpy as np

from dpbandits.auditing.played_noise import Outside
from dpbandits.auditing.tables import Neighbours, late_tapes, mixed, neighbouring
from dpbandits.checks.checks import horizon_of
from dpbandits.core.errors import MixedRuns, Parting, Tossed
from dpbandits.core.inputs import Floats, Integers, shown
from dpbandits.core.plan import EVERY, Action, Cycle, Hold, Plan, PublicRng, fewest_rounds
from dpbandits.core.privacy import NoiseKind
from dpbandits.mechanisms.base import Answer, Block, Mechanism, Separable
from dpbandits.noise.protocol import Relay, Selection
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.contract import (
    About,
    ArmsField,
    Feedback,
    Policy,
    Release,
    policy_dataclass,
)
from dpbandits.simulation.transcript import decisions

# A bare mechanism made into a policy that only feeds it: one record a round, one release every
# `each` rounds.


@final
@policy_dataclass
class Feeding(Policy):
    """A policy that goes on whatever the mechanism answers; the answers are what an audit looks at.
    State: the number of releases so far.
    """

    arms: ArmsField = 1  # type: ignore[assignment]  # read as 1
    fed: Mechanism = field(repr=True)
    each: int = 1

    def validate(self) -> None:
        """The policy declares the privacy that its mechanism promises."""
        guarantee = self.fed.guarantee
        about = About(
            paper="",
            algorithm="",
            bound="",
            privacy="none" if guarantee is None else guarantee.measure,
            feedback=feedback_of(self.fed),
            goal="estimate",
        )
        object.__setattr__(self, "about", about)

    def mechanism(self) -> Mechanism:
        return self.fed

    def init(self) -> tuple[int]:
        return (0,)

    def plan(self, state: tuple[int], rng: PublicRng) -> Plan:
        match self.about.feedback:
            case "bandit":
                arms = tuple(range(self.arms))
                return Cycle(arms, self.each, arms)
            case "semi":
                return Hold(tuple(range(self.arms)), self.each, tuple(range(self.arms)))
        return Hold(0, self.each, (EVERY,))

    def update(self, state: tuple[int], plan: Plan, release: Release) -> tuple[int]:
        return (state[0] + 1,)


def feed(mechanism: Mechanism, each: int = 1) -> Feeding:
    """The policy for this mechanism's kind of records: single rewards (of two arms, where it
    compares them), super arms of its width (or size), or vectors of all actions.
    """
    match feedback_of(mechanism):
        case "bandit":
            return Feeding(fed=mechanism, each=each, arms=2 if mechanism.compares else 1)
        case "semi":
            inner = getattr(mechanism, "inner", mechanism)
            arms = getattr(inner, "size", 3) if mechanism.together else mechanism.width
            return Feeding(fed=mechanism, each=each, arms=arms)
    return Feeding(fed=mechanism, each=each, arms=getattr(mechanism, "actions", 3))


def feedback_of(mechanism: Mechanism) -> Feedback:
    """What one of its records shows."""
    if isinstance(mechanism, Separable) or mechanism.compares:
        return "bandit"
    return "semi" if mechanism.width > 1 or mechanism.together else "full"


def alone(policy: Feeding) -> bool:
    """Whether the mechanism says that it treats every coordinate alone, in any number."""
    return isinstance(policy.fed, Separable) and not policy.fed.compares


def longest(policy: Policy) -> int:
    """The most rounds for which the policy can be played."""
    if isinstance(policy, Feeding):
        return releases_of(policy.fed) * policy.each
    return horizon_of(policy)


ENDLESS = 10**12
"""Releases, of a mechanism that takes any number."""

PROBED = 4_000
"""More releases than an audit plays. Of a mechanism that says it takes fewer it is seen whether it
refuses the next one: one that begins anew may do so with the noise it had.
"""


def releases_of(mechanism: Mechanism) -> int:
    """The most releases that it takes."""
    said = getattr(getattr(mechanism, "inner", mechanism), "leaves", None)
    if type(said) is not int or said < 1:
        return ENDLESS
    return ENDLESS if said < PROBED and releases_again(mechanism, said) else said


def releases_again(mechanism: Mechanism, releases: int) -> bool:
    """Whether it answers after so many releases of blocks without a reward."""
    fed = feed(mechanism)
    where = (EVERY,) if fed.about.feedback == "full" else tuple(range(fed.arms))
    block = Block(where, np.zeros(fed.arms, np.int64), (1,) * len(where))
    if where != (EVERY,):
        block = block._replace(sums=(0,) * fed.arms)
    memory, noise = mechanism.init(fed.arms), SimulatedNoise(0)
    try:
        for _ in range(releases + 1):
            memory, _ = mechanism.answer(memory, block, noise)
    except ValueError:
        return False
    return True


# Many independent runs at once, in law those of separate ones.
#
# Of a policy, at the cost of its distinct histories: runs that drew the same noise so far are
# played once. At each draw the runs of a group draw for themselves, all at once, and part by what
# came out. Of a mechanism, with noise that is an array with a number a run.


MOST_DRAWS = 1000
"""Draws for one release after which a loop is given up that waits for noise it likes."""


@final
class ManyNoise(Relay):
    """The laws of `SimulatedNoise`, `runs` independent draws a call. Code that branches on a noised
    value cannot use it and raises.
    """

    kind: ClassVar[NoiseKind] = "simulated"

    def __init__(self, runs: int, seed: int, watched: Integers | None = None) -> None:
        """watched: places of runs whose answers are written down, in `kept`."""
        self.runs = runs
        self._rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence([seed, 341])))
        self._watched, self.kept, self.asked = watched, list[Any](), 0

    def _keep(self, answer: Any) -> Any:
        self.asked += 1
        if self.asked > MOST_DRAWS:
            raise TypeError(
                "Noise is drawn again and again: it may never please all runs at once. One run "
                "at a time."
            )
        if self._watched is not None:
            shape = (self.runs, *np.shape(answer)[1:])
            self.kept.append(np.broadcast_to(answer, shape)[self._watched])
        return answer

    def laplace(self, value: Any, *, sensitivity: int, epsilon: Fraction) -> Any:
        return self._keep(value + self._two_sided(sensitivity / float(epsilon)))

    def gaussian(self, value: Any, *, sensitivity: int, rho: Fraction) -> Any:
        sigma = sensitivity / math.sqrt(2 * float(rho))
        scale, draws = math.floor(sigma) + 1, np.zeros(self.runs, np.int64)
        waiting = np.arange(self.runs)
        while len(waiting):
            draw = self._two_sided(scale)[: len(waiting)]
            taken = self._rng.random(len(waiting)) < np.exp(
                -((np.abs(draw) - sigma * sigma / scale) ** 2) / (2 * sigma * sigma)
            )
            draws[waiting[taken]] = draw[taken]
            waiting = waiting[~taken]
        return self._keep(value + draws)

    def joint(self, values: Any, *, sensitivity: int, epsilon: Fraction) -> tuple[Any, ...]:
        size, rate = len(values), float(epsilon) / sensitivity
        radius, waiting = np.zeros(self.runs, np.int64), np.arange(self.runs)
        while len(waiting):
            m = self._rng.negative_binomial(size + 1, -math.expm1(-rate), len(waiting))
            chance = np.ones(len(waiting))
            for i in range(1, size + 1):
                chance *= (2 * m + 1) / (2 * (m + i))
            taken = self._rng.random(len(waiting)) < chance
            radius[waiting[taken]], waiting = m[taken], waiting[~taken]
        noise = self._rng.integers(-radius, radius, (size, self.runs), endpoint=True)
        noised = [value + z for value, z in zip(values, noise, strict=True)]
        return tuple(self._keep(np.stack(noised, axis=1)).T)

    def select(self, values: Any, *, sensitivity: int, epsilon: Fraction, law: Selection) -> Any:
        scale = 2 * sensitivity / float(epsilon)
        exact = np.stack([np.broadcast_to(v, self.runs) for v in values], axis=1)
        if law == "laplace":
            draws: Any = self._rng.exponential(scale, exact.shape).astype(
                np.int64
            ) - self._rng.exponential(scale, exact.shape).astype(np.int64)
        else:
            draws = (
                self._rng.gumbel(0.0, scale, exact.shape)
                if law == "exponential"
                else self._rng.exponential(scale, exact.shape)
            )
        return self._keep(np.argmax(exact + draws, axis=1))

    def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
        raise TypeError("A question's answer decides what is asked next: one run at a time.")

    def uniform(self) -> Any:
        return self._keep(self._rng.random(self.runs))

    def _two_sided(self, scale: float) -> Integers:
        one, other = self._rng.exponential(scale, (2, self.runs)).astype(np.int64)
        return np.asarray(one - other)


@final
class Scripted(Relay):
    """Gives back what was drawn before, whole numbers and coins as they fell; then draws from
    `rest`, or parts.
    """

    kind: ClassVar[NoiseKind] = "simulated"

    def __init__(self, script: tuple[Any, ...], rest: SimulatedNoise | None) -> None:
        self._script, self._rest, self._at = script, rest, 0

    def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
        return self._take(methodcaller(verb, *exact, **cost))

    def threshold(self, *, sensitivity: int, epsilon: Fraction) -> Any:
        return self.laplace(0, sensitivity=sensitivity, epsilon=epsilon)

    def exceeds(
        self, value: int, bar: int, threshold: int, *, sensitivity: int, epsilon: Fraction
    ) -> bool:
        """One answer: runs part by what it says, not by the noise it was made of."""
        return bool(
            self._take(
                lambda noise: (
                    noise.laplace(value, sensitivity=sensitivity, epsilon=epsilon)
                    >= bar + threshold
                )
            )
        )

    def _take(self, draw: Callable[[Any], Any]) -> Any:
        self._at += 1
        if self._at <= len(self._script):
            return self._script[self._at - 1]
        if self._rest is None:
            raise Parting(draw)
        return draw(self._rest)


@final
class NoCoins(PublicRng):
    """Public randomness that must not be used: a group of runs has none in common."""

    def __init__(self, seed: int, step: int) -> None:
        """Nothing is kept: whoever asks for the seed or the step has a use for them."""

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("__"):
            return super().__getattribute__(name)
        raise Tossed


def grouped(policy: Policy, table: Any, runs: int, seed: int) -> list[tuple[list[float], int]]:
    """Outcomes with how many of `runs` runs had them. Runs that toss public coins go on alone, each
    with its own.
    """
    found: list[tuple[list[float], int]] = []
    rest, parted, alone = SimulatedNoise(seed), 0, 0
    groups: list[tuple[tuple[Any, ...], int]] = [((), runs)]
    while groups:
        script, size = groups.pop()
        try:
            if size == 1:
                alone += 1
                outcome = shown_by(
                    policy, table, noise=Scripted(script, rest), seed=(seed << 32) + alone
                )
            else:
                outcome = shown_by(
                    policy, table, noise=Scripted(script, None), seed=seed, public=NoCoins
                )
            found.append((outcome, size))
        except Tossed:
            groups.extend([(script, 1)] * size)
        except Parting as parting:
            parted += 1
            drawn = np.asarray(parting.draw(ManyNoise(size, (seed << 32) + parted)))
            # of a joint draw, shape (values, runs), runs part by all of it
            values, counts = np.unique(drawn, axis=-1, return_counts=True)
            groups.extend(
                ((*script, tuple(value) if isinstance(value, list) else value), count)
                for value, count in zip(values.T.tolist(), counts.tolist(), strict=True)
            )
    return found


# What can be audited as a black box: something that is shown a reward table and yields an outcome,
# as often as asked.
#
# Policies and bare mechanisms here; objects of other libraries in `foreign`. An outcome is a row
# of numbers.


ROUNDS = 8
"""Rounds of an audited run: short prefixes carry the evidence."""


LATE = 500
"""Releases that come later are not waited for: such runs take too long to play often."""


class Subject(Protocol):
    """A black box."""

    name: str

    def pairs(self) -> Sequence[Neighbours]:
        """Neighbouring tables that may be hard to keep apart."""

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        """Independent runs on one table (see `Neighbours`), shape (runs, numbers)."""


@final
@dataclass
class PolicySubject:
    """Decisions and releases of one of our policies, simulated noise and public randomness drawn
    afresh each run. The guarantee is that of the releases; decisions follow from them.

    rounds: so many; where not every arm can be released that early, so many after that.
    """

    policy: Policy
    rounds: int = ROUNDS

    def __post_init__(self) -> None:
        self.name = repr(self.policy)
        self._still: bool | None = None
        first = self.policy.plan(self.policy.init(), PublicRng(0, 0))
        every_arm = fewest_rounds(first) * self.policy.arms
        if self.rounds <= every_arm < LATE:
            self.rounds += every_arm

    def pairs(self) -> list[Neighbours]:
        arms = self.policy.arms
        whole = self.policy.about.feedback != "bandit"
        most = longest(self.policy)
        return mixed([neighbouring(arms, min(self.rounds, most), whole)])

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        rows = table.tolist() if self.policy.about.feedback == "bandit" else table
        if not self.policy.about.randomised and self.stands_still(rows):
            groups = grouped(self.policy, rows, runs, seed)
            outcomes = np.repeat(
                np.array([outcome for outcome, _ in groups], np.float64),
                [size for _, size in groups],
                axis=0,
            )
            # so that any part of the runs is like any other
            return np.random.default_rng([seed, 343]).permutation(outcomes)
        noise = SimulatedNoise(seed)
        return np.array(
            [
                shown_by(self.policy, rows, noise=noise, seed=(seed << 32) + run)
                for run in range(runs)
            ],
            np.float64,
        )

    def stands_still(self, rows: Any) -> bool:
        """Whether a run is its noise and its public coins; one with coins of its own is not played
        in groups.
        """
        if self._still is None:
            with Outside() as outside:  # rare coins do not show in what is played
                both = [
                    [
                        shown_by(self.policy, rows, noise=SimulatedNoise(run), seed=run)
                        for run in range(20)
                    ]
                    for _ in range(2)
                ]
            self._still = both[0] == both[1] and not outside.used
        return self._still


RELEASED = 64
"""Numbers of releases in an outcome: of longer runs, half of them from either end."""


def shown_by(policy: Policy, table: Any, **how: Any) -> list[float]:
    """All that a run shows: its decisions, and the numbers that were released."""
    releases = list[Release]()
    played = decisions(policy, table, releases=releases, **how)
    numbers = [number for release in releases for number in released_numbers(release.answers)]
    if len(numbers) > RELEASED:
        numbers = numbers[: RELEASED // 2] + numbers[-RELEASED // 2 :]
    return code(played) + numbers + [-1.0] * (RELEASED - len(numbers))


def released_numbers(answers: Any) -> list[float]:
    """The numbers of an answer; of one that holds other things, a hash of its text."""
    try:
        return [float(number) for number in numbers_of(answers)]
    except (TypeError, ValueError):
        return [float(crc32(repr(answers).encode()))]


def code(actions: Sequence[Action]) -> list[float]:
    """Numbers for a sequence of actions: arms; super arms as bits; weights as they are."""
    numbers: list[float] = []
    for action in actions:
        if isinstance(action, int):
            numbers.append(action)
        elif isinstance(action[0], float):
            numbers.extend(action)
        else:
            numbers.append(sum(1 << (int(arm) % 50) for arm in action))
    return numbers


# A bare mechanism as a black box: all its answers to a stream of records.


@final
@dataclass
class MechanismSubject:
    """All answers of a bare mechanism to a stream of records, one a release; many runs at once
    where its code takes arrays.
    """

    mechanism: Mechanism

    def __post_init__(self) -> None:
        self.name = repr(self.mechanism)
        self._feed = feed(self.mechanism)
        # forked workers share it: what one of them sees holds for all
        self._vectorised, self._checked = RawValue("b", True), dict[Any, bool]()

    def pairs(self) -> list[Neighbours]:
        """One record a release, in streams of several lengths, also of so many that a late leak
        shows; several records a release; and several coordinates, a record being in one of them.
        """
        arms, most = self._feed.arms, longest(self._feed)
        bandit = self._feed.about.feedback == "bandit"
        how: dict[str, Any] = {"whole": not bandit, "apart": bandit and arms > 1}
        kinds = [neighbouring(arms, n, **how) for n in sorted({min(n, most) for n in STREAMS})]
        kinds += [
            neighbouring(arms, each * n, block=each, **how) for each, n in BLOCKS if n <= most
        ]
        if alone(self._feed):
            kinds.append(neighbouring(2, min(2, most), whole=False, apart=True))
        last = sorted({min(n, most) for n in LATE_RELEASES} - set(range(ROUNDS + 1)))
        return mixed(kinds, [late_tapes(arms, n, **how) for n in last])

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        """Raises MixedRuns where many runs at once were not what each alone would be; from then on
        it plays run by run, and whatever was played at once is better forgotten.
        """
        few = runs * len(table) <= ONE_BY_ONE
        if not few and self._vectorised.value and self.agrees(table):
            return np.concatenate(
                [
                    self.all_at_once(table, min(MANY, runs - done), (seed << 32) + done)
                    for done in range(0, runs, MANY)
                ]
            )
        noise = SimulatedNoise(seed)
        return np.array([self.once(table, noise) for _ in range(runs)], np.float64)

    def agrees(self, table: Floats) -> bool:
        """`is_run_by_run`, looked at once for each table. If it is not on the first one, nothing
        was played yet; if not on a later one, what was played is to be forgotten.
        """
        key = (table.shape, table.tobytes())
        if key not in self._checked:
            first, self._checked[key] = not self._checked, self.is_run_by_run(table)
            if not self._checked[key]:
                self._vectorised.value = False
                if not first:
                    raise MixedRuns
        return self._checked[key]

    def is_run_by_run(self, table: Floats) -> bool:
        """Whether many runs at once answer what each alone does: not, where code branches on a
        noised value, mixes runs, or has randomness of its own, or draws again until it likes every
        run's noise.
        """
        few = max(2, few_alone(table))
        # one toss for a whole lot ties its runs together, however rare what it changes
        with Outside() as outside:
            row, alike = self.compared(table, few, 1, np.arange(few))
        return alike and not outside.used and row.shape[1] > 0

    def all_at_once(self, table: Floats, runs: int, seed: int) -> Floats:
        """A lot, some runs of which are also played alone: code that mixes runs seldom may do so in
        a lot of many only.
        """
        few = min(runs, max(1, min(few_alone(table), runs // 1000)))
        at = np.random.default_rng([seed, 344]).choice(runs, few, replace=False, shuffle=False)
        row, alike = self.compared(table, runs, seed, at)
        if not alike:
            self._vectorised.value = False
            raise MixedRuns
        return row

    def compared(self, table: Floats, runs: int, seed: int, at: Integers) -> tuple[Floats, bool]:
        """A lot, and whether the runs at these places answer the same if their draws fall for each
        of them alone.
        """
        noise = ManyNoise(runs, seed, at)
        try:
            row = [
                np.broadcast_to(np.asarray(number, np.float64), runs)
                for number in self.once(table, noise)
            ]
            alone = [
                self.once(table, Scripted(tuple(drawn[nth].tolist() for drawn in noise.kept), None))
                for nth in range(len(at))
            ]
            many = np.stack(row, axis=1) if row else np.zeros((runs, 0))
            return many, bool(np.array_equal(np.array(alone, np.float64), many[at]))
        except (TypeError, ValueError, ArithmeticError, Parting):
            return np.zeros((runs, 0)), False

    def once(self, table: Floats, noise: Any) -> list[Any]:
        """Every number that is answered; of long streams those of the first and of the last
        releases.
        """
        memory = self.mechanism.init(table.shape[-1])
        first = list[Any]()
        last = deque[list[Any]](maxlen=ENDS)
        coordinates = (
            tuple(range(table.shape[-1])) if self._feed.about.feedback != "full" else (EVERY,)
        )
        # each record is rounded, as in a vault: a rounded sum could move by more than one record
        steps = np.rint(table * self.mechanism.grid.steps).astype(np.int64)
        each, many = (table.shape[1], steps.sum(axis=1)) if table.ndim == 3 else (1, steps)
        for row in many:
            sums = (
                tuple(row.tolist())
                if isinstance(self.mechanism, Separable) or coordinates != (EVERY,)
                else row
            )
            if isinstance(noise, ManyNoise):
                noise.asked = 0
            memory, given = self.mechanism.answer(
                memory, Block(coordinates, sums, (each,) * len(coordinates)), noise
            )
            (first if len(first) < ENDS else last).append(numbers_of(given))
        return [number for release in (*first, *last) for number in release]


def numbers_of(answer: Any) -> list[Any]:
    """All of it, in order; of no answer as many as there are in one."""
    numbers = list[Any]()
    _collect(answer, numbers)
    return numbers


def _collect(answer: Any, numbers: list[Any]) -> None:
    # millions of answers come by: what nearly all of them consist of is asked for first
    kind = type(answer)
    if kind is float or (kind is int and -LARGEST <= answer <= LARGEST):
        numbers.append(answer)
    elif isinstance(answer, (tuple, list)):
        for part in answer:
            _collect(part, numbers)
    elif answer is None:
        numbers.extend([-1] * len(Answer._fields))
    elif isinstance(answer, (str, bytes, dict, set)):
        raise ValueError(
            "Expected a mechanism to answer with numbers, as Answer(total, count, scales) holds "
            f"them, got {shown(answer)}."
        )
    elif isinstance(answer, int) and abs(answer) > LARGEST:
        raise ValueError(
            "Expected a mechanism to answer with numbers that a float holds, got a larger one."
        )
    else:
        numbers.append(answer)


LARGEST = int(np.finfo(np.float64).max)


STREAMS = (1, 2, ROUNDS)
"""Releases of short streams."""


BLOCKS = ((8, 1), (8, 4), (3, 2))
"""Records a release, and releases."""


LATE_RELEASES = (16, 40, 120, 3200)
"""Releases of longer streams, of which a few are tried."""


ENDS = 16
"""Releases at either end of a long stream that are looked at."""


MANY = 200_000
"""Runs drawn at once."""


ONE_BY_ONE = 320
"""So few releases are played sooner one by one than it is seen whether they can be at once."""


CHECKED = 32
"""Of them, runs that are also played alone, in every lot (of small and of long ones fewer)."""


def few_alone(table: Floats) -> int:
    return min(CHECKED, 64 * CHECKED // len(table))
