"""The statistical level: bounds hold and are tight, runs are independent. False alarms: 10⁻⁶."""

import itertools
import random
import time
import tracemalloc
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from benchmarks.controls.odd import ALL, Honest, Placed, leaks_rarely
from benchmarks.controls.parts import BITS, ONE, Telling, Tossing, lap
from benchmarks.controls.unseen import WarmStart

import dpbandits as dpb
from dpbandits import DPUCB, RNMFTNL, AnytimeLazyUCB, NaiveFTNL, PrefixExponential, SimulatedNoise
from dpbandits.auditing import subjects as grouped_runs
from dpbandits.auditing.adversary import keys_of, lattice
from dpbandits.auditing.foreign import ForeignSubject
from dpbandits.auditing.statistical import (
    Lot,
    Players,
    RunPlan,
    at_first_glance,
    promising,
    statistical_level,
    tied_together,
)
from dpbandits.auditing.subjects import MechanismSubject, PolicySubject, shown_by
from dpbandits.auditing.tables import Neighbours, in_turn_with_another, neighbouring
from dpbandits.core.errors import MixedRuns
from dpbandits.core.inputs import Floats
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import (
    AboveThreshold,
    Answer,
    Block,
    JointBatch,
    LazyForgetful,
    NoisyMax,
)
from dpbandits.mechanisms.base import PureDP, SeparableDP
from dpbandits.noise import Noise
from tests.auditing.boxes import Clock, Coin, HandNoisyMax, OneRelease
from tests.session.small import Exact


@pytest.mark.parametrize(("epsilon", "runs"), [("1/2", 400_000), ("1", 150_000), ("2", 40_000)])
def test_nine_tenths_of_a_tight_mechanism(epsilon: str, runs: int) -> None:
    claim = Fraction(epsilon)
    result = statistical_level(
        OneRelease(LazyForgetful(epsilon=claim)), claim, seed=1, runs=runs, workers=1
    )
    assert result.outcome == "not refuted"
    assert 0.9 * claim <= result.lower_bound <= claim
    assert result.confidence == 1 - 1e-6


def test_noise_drawn_many_at_once_has_the_law_of_one() -> None:
    """Kolmogorov–Smirnov, false alarm 1e-6 each."""
    from scipy.stats import ks_2samp

    joint = JointBatch(epsilon=ONE, size=2, grid=BITS)
    for mechanism in (LazyForgetful(epsilon=ONE), NoisyMax(epsilon=ONE), joint):
        many, single = MechanismSubject(mechanism), MechanismSubject(mechanism)
        single._vectorised.value = False
        pair = many.pairs()[0]
        a, b = many.outcomes(pair.a, 20_000, 5), single.outcomes(pair.a, 20_000, 6)
        assert many._vectorised.value
        assert ks_2samp(a[:, 0], b[:, 0]).pvalue > 1e-6


def test_mechanism_that_branches_is_run_one_at_a_time() -> None:
    subject = MechanismSubject(AboveThreshold(epsilon=Fraction(4), cap=4))
    assert subject.outcomes(subject.pairs()[-1].a, 500, 3).shape[0] == 500
    assert not subject._vectorised.value


@pytest.mark.long
def test_grouped_runs_have_the_law_of_single_ones() -> None:
    """Chi-square of decision sequences; false alarm 1e-6 a policy."""
    from scipy.stats import chi2_contingency

    for policy in (
        AnytimeLazyUCB(arms=2, epsilon=1, grid=1),
        RNMFTNL(actions=2, epsilon=1, grid=1),
        DPUCB(arms=2, epsilon=1, horizon=8),
        # public coins of their own
        PrefixExponential(actions=2, epsilon=1, grid=1),
        NaiveFTNL(actions=2, epsilon=1, grid=1),
    ):
        subject = PolicySubject(policy)
        table = subject.pairs()[0].a
        rows = table.tolist() if policy.about.feedback == "bandit" else table
        noise, many = SimulatedNoise(3), keys_of(subject.outcomes(table, 4000, 1))
        single = keys_of(
            np.array(
                [shown_by(policy, rows, noise=noise, seed=run) for run in range(2000)], np.float64
            )
        )
        known = np.unique(np.concatenate([many, single]))
        counts = np.array([[(keys == key).sum() for key in known] for keys in (many, single)])
        often = counts.sum(axis=0) >= 20
        both = np.column_stack([counts[:, often], counts[:, ~often].sum(axis=1)]) + 0.5
        assert chi2_contingency(both).pvalue > 1e-6


def test_array_coins_keep_their_value() -> None:
    """Cut to whole numbers, every coin was 0."""
    subjects = [
        leaks_rarely(1e-3),
        lambda total, count, noise: lap(noise, total) + 0 * np.floor(np.log(noise.uniform())),
    ]
    for tell in subjects:
        assert MechanismSubject(Telling(epsilon=ONE, grid=BITS, tell=tell)).is_run_by_run(
            np.zeros((2, 1))
        )


def test_records_of_a_block_are_rounded_one_by_one() -> None:
    """On a grid of 0 and 1 sums of .5 and 1.5 would be 0 and 2, though one record apart."""
    subject = MechanismSubject(LazyForgetful(epsilon=1, grid=Grid(steps=1)))
    one, other = np.array([[[0.5], [0.0]]]), np.array([[[0.5], [1.0]]])
    sums = [int(subject.once(table, Exact(1))[0]) for table in (one, other)]
    assert sums == [0, 1]


class Waits:
    """BROKEN: fair coins for 3,000 rounds, then by the last reward."""

    def __init__(self, seed: int) -> None:
        self.coins, self.played = random.Random(seed), 0

    def select(self) -> int:
        return int(self.coins.random() < 0.5) if self.played < 3000 else int(self.last > 0.5)

    def update(self, arm: int, reward: float) -> None:
        self.played, self.last = self.played + 1, reward


class Short(Waits):
    """The same for those who ask for 32 rounds at most: it is made for no more."""

    def select(self) -> int:
        if self.played >= 32:
            raise RuntimeError("made for 32 rounds")
        return super().select()


@pytest.mark.long
def test_objects_with_a_horizon_are_not_played_longer() -> None:
    report = dpb.audit(Short, 1, runs=200, workers=1)
    assert report.verdict == "not refuted"
    assert max(report.levels[0].details["rounds"]) <= 32


@pytest.mark.long
def test_what_is_right_is_not_refuted() -> None:
    """Shapes of controls with noise enough."""
    for subject in (Honest(**ALL), Placed(epsilon=Fraction(1, 4))):
        found = statistical_level(MechanismSubject(subject), ONE, workers=1, runs=2_000)
        assert found.outcome == "not refuted"


def test_the_lattice_of_sums_is_coarser_than_that_of_noise() -> None:
    """Noise near 0 has bits that 1 + noise cannot have."""
    noise = np.random.default_rng(0).laplace(size=10_000)
    assert lattice(noise).min() < -54
    near = np.abs(noise + 1) > 0.5
    assert lattice((noise + 1)[near]).min() >= -53


def test_tables_on_which_nothing_varies_are_chosen_last() -> None:
    """They were chosen where others vary by noise, and then there was no verdict."""
    still, noise = Lot(np.ones((40, 3)), np.ones((40, 3)), None), np.random.default_rng(4)
    varied = Lot(*(noise.integers(0, 2, (40, 3)).astype(float) for _ in range(2)), None)
    pair, plan = neighbouring(1, 8, whole=False)[0], RunPlan(100, 0, print)
    assert at_first_glance(varied) > at_first_glance(still)
    assert promising(varied, pair, plan) > promising(still, pair, plan)


@pytest.mark.long
def test_rare_coins_of_its_own_do_not_tie_runs_together() -> None:
    """One toss for a lot of runs, or for a group, that is rarely heads."""
    rare = Telling(
        epsilon=ONE, grid=BITS, tell=lambda t, c, n: 1000 if random.random() < 1e-3 else lap(n, t)
    )
    assert not MechanismSubject(rare).is_run_by_run(np.zeros((2, 1)))
    rarely = Tossing(
        arms=2, epsilon=1, grid=1, coin=np.random.default_rng(5).random, chance=1e-6, each=1
    )
    never = Tossing(arms=2, epsilon=1, grid=1, coin=lambda: 1.0, each=1)
    still = [PolicySubject(each).stands_still(np.zeros((8, 2))) for each in (rarely, never)]
    assert still == [False, True]


# Runs are independent of each other.


@pytest.mark.long
def test_code_that_mixes_runs_is_played_run_by_run() -> None:
    """`int(np.argmax(...))` over arrays of runs is one number for all of them, without an error."""
    table = np.zeros((1, 3))
    mixing, honest = (
        MechanismSubject(HandNoisyMax()),
        MechanismSubject(LazyForgetful(epsilon=Fraction(1), grid=Grid(steps=1))),
    )
    assert not mixing.is_run_by_run(table)
    assert honest.is_run_by_run(np.zeros((3, 1)))
    one, other = (
        np.bincount(mixing.outcomes(table, 3000, seed)[:, 0].astype(int), minlength=3)
        for seed in (1, 2)
    )
    assert (np.abs(one - other) < 6 * np.sqrt(one + other)).all()
    assert one.min() > 500


class Global:
    """A subject that draws from numpy's own generator, whatever the seed."""

    name = "coin"

    def pairs(self) -> list[Neighbours]:
        return [Neighbours(np.zeros((1, 1)), 0, np.zeros(1), np.ones(1), "one round")]

    def outcomes(self, table: Any, runs: int, seed: int) -> Any:
        return np.random.random((runs, 1))  # noqa: NPY002 - the global generator is the point


@pytest.mark.long
def test_copies_of_a_process_do_not_repeat_each_other() -> None:
    with Players(Global(), 2) as players:
        lot = players.play(Global().pairs()[0], 1000, 0)
    assert len(np.unique(np.concatenate([lot.a, lot.b]))) == 1000


class Says(Global):
    """Says what it was made to say, beside a coin."""

    def __init__(self, said: int) -> None:
        self.said = said

    def outcomes(self, table: Any, runs: int, seed: int) -> Any:
        return self.said + np.random.default_rng(seed).random((runs, 1))


def test_audits_at_the_same_time_play_their_own_subjects() -> None:
    pair = Global().pairs()[0]
    with Players(Says(1), 2) as one, Players(Says(2), 2) as other:
        for players in (one, other):
            lot = players.play(pair, 200, 0)
            said = np.floor(np.concatenate([lot.a, lot.b]))
            assert (said == players.subject.said).all()  # type: ignore[attr-defined]


@pytest.mark.long
def test_runs_without_public_coins_are_played_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand runs of eight rounds have far fewer histories."""
    played, honest = [], grouped_runs.decisions
    monkeypatch.setattr(
        grouped_runs, "decisions", lambda *a, **k: played.append(1) or honest(*a, **k)
    )
    policy = AnytimeLazyUCB(arms=2, epsilon=4, grid=1)
    found = grouped_runs.grouped(policy, np.ones((8, 2)), 1000, seed=5)
    assert sum(count for _, count in found) == 1000
    assert len(played) < 400


# Runs that are tied together refute nothing: by arrays, or by a seed that they share.


@dataclass(frozen=True, kw_only=True)
class Mixes(SeparableDP):
    """Right: a block is told as it is with a small chance. Over arrays it looks at all runs."""

    chance: float
    proof = "lazy_forgetful"

    def start(self) -> list[int]:
        return []

    def step(self, memory: Any, total: Any, count: int, noise: Any) -> tuple[Any, Answer]:
        noisy = noise.laplace(total, sensitivity=self.grid.steps, epsilon=Fraction(9, 10))
        told = total if np.min(noise.uniform()) < self.chance else noisy
        return memory, Answer(told, count, 1)


def mixes(chance: float) -> Mixes:
    return Mixes(epsilon=ONE, grid=Grid(steps=1), chance=chance)


def test_a_large_lot_that_mixes_runs_is_thrown_away() -> None:
    """Small lots show nothing of it, and large ones would certify 6.4 where .9 is kept."""
    found = dpb.audit(OneRelease(mixes(1e-3)), 1, workers=1, runs=5_000)
    assert found.verdict == "not refuted", found
    assert found.lower_bound < 0.91


def test_what_was_seen_of_a_lot_holds_for_all_later_ones() -> None:
    subject, table = MechanismSubject(mixes(1e-4)), np.zeros((1, 1))
    assert subject.is_run_by_run(table)
    with pytest.raises(MixedRuns):
        subject.outcomes(table, 50_000, 1)
    assert len(np.unique(subject.outcomes(table, 500, 1)[:, 0])) > 5


@pytest.mark.parametrize("workers", [1, 2])
def test_players_play_run_by_run_after_a_lot_that_mixed(workers: int) -> None:
    subject = OneRelease(mixes(5e-3))
    pair = subject.pairs()[0]
    with Players(subject, workers) as players:
        with pytest.raises(MixedRuns):
            players.play(pair, 8_000, 3)
        lot = players.play(pair, 8_000, 3)
        assert len(lot.a) + len(lot.b) == 8_000
        assert min(len(np.unique(lot.a)), len(np.unique(lot.b))) > 5


class Timed(OneRelease):
    """Runs take time of the test's own clock: fifty microseconds each, and a millisecond alone."""

    def __init__(self, mechanism: Mixes, clock: Clock) -> None:
        super().__init__(mechanism)
        self.clock, self.mixed = clock, 0

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        self.clock.now += runs * (1e-3 if self.mixed else 5e-5)
        try:
            return super().outcomes(table, runs, seed)
        except MixedRuns:
            self.mixed += 1
            raise


def test_with_a_budget_all_begins_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was counted before the lot that mixed is not kept: it was of lots that did not."""
    clock = Clock(monkeypatch)
    subject = Timed(mixes(1e-4), clock)
    found = dpb.audit(subject, 1, workers=1, budget=20)
    assert subject.mixed == 1
    assert found.verdict == "not refuted", found
    # a millisecond a run: those that were counted come after the lot that mixed
    assert found.levels[0].details["runs"] * 1e-3 <= clock.now - 1000 <= 20


class Second:
    """Seconds that the test counts: so many runs are played in one."""

    def __init__(self, runs: int) -> None:
        self.runs, self.played = runs, 0

    def coins(self) -> random.Random:
        self.played += 1
        return random.Random(self.played // self.runs)


@pytest.mark.parametrize("runs", [100, 10_000])
def test_runs_that_share_a_seed_refute_nothing(runs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Private, but with coins of the second: runs within one have the same, as if by seed."""
    clock = Second(runs)

    def later(_: float) -> None:
        clock.played += clock.runs

    monkeypatch.setattr(time, "sleep", later)

    def clocked(rewards: Any) -> float:
        coins = clock.coins()
        return float(np.rint(rewards.sum() + 20 * coins.random()))

    report = dpb.audit(clocked, 1, runs=1000, workers=1)
    assert report.verdict == "no verdict", report.levels[0].evidence
    assert "not independent" in report.levels[0].details["why"]
    assert "Warning: its runs are not independent" in str(report)
    assert report.lower_bound == 0


def test_tables_take_turns_where_runs_do_not_follow_their_seed() -> None:
    """Private: coins of a pool that was filled once, handed out in turn."""
    count = itertools.count()

    def pool(rewards: Any) -> float:
        return float(next(count) // 500 % 2)

    assert dpb.audit(pool, 1, runs=1000, workers=1).verdict != "failed"


def test_what_leaks_and_tosses_coins_of_its_own_still_fails() -> None:
    coins = random.Random(1)

    def leaks(rewards: Any) -> float:
        return float(rewards.sum()) if coins.random() < 0.5 else -1.0

    assert dpb.audit(leaks, 1, runs=1000, workers=1).failed


def test_where_nothing_varies_there_is_no_verdict() -> None:
    """An epoch of this policy outlasts the runs: it was "not refuted"."""
    policy = dpb.DPSE(arms=2, epsilon=1)
    report = dpb.audit(policy, levels=["statistical"], runs=100, workers=1)
    assert (report.verdict, report.levels[0].outcome) == ("no verdict", "not applicable")


def test_independent_runs_are_not_called_tied() -> None:
    rng = np.random.default_rng(5)
    for values in (2, 5, 1000):
        for _ in range(100):
            assert not tied_together(rng.integers(0, values, (300, 1)).astype(float))
    assert not tied_together(rng.random((300, 2)))
    assert tied_together(np.repeat(rng.random((100, 2)), 3, axis=0))


# Which tables are tried, and what is said of them.


def test_tapes_of_many_lengths() -> None:
    rounds = [pair.rounds for pair in ForeignSubject(Coin, "coin", arms=2).pairs()]
    assert set(rounds) == {8, 16, 32, 256, 3200}
    assert {256, 3200} <= set(rounds[:80])
    streams = [pair.rounds for pair in MechanismSubject(LazyForgetful(epsilon=1)).pairs()[:80]]
    assert {1, 2, 8, 16, 40, 120, 3200} <= set(streams)


@pytest.mark.long
def test_blocks_of_several_records_are_tried() -> None:
    """On blocks of eight it leaks 8: a bound below 5 has a chance below 1e-6."""
    subject = MechanismSubject(Telling(epsilon=ONE, grid=BITS, tell=lambda t, c, n: lap(n, t, c)))
    found = statistical_level(subject, ONE, workers=1, runs=10_000)
    assert found.outcome == "failed", found.evidence
    assert found.lower_bound > 5


def narrow(rewards: Any, seed: int) -> float:
    """BROKEN: tells whether a reward lies between .3 and .36."""
    told = ((rewards >= 0.3) & (rewards <= 0.36)).any()
    return float(told if np.random.default_rng(seed).random() < 0.9 else not told)


@pytest.mark.long
def test_a_thousand_arms_fit_into_memory() -> None:
    """All pairs of tables were made at once: eleven gigabytes."""
    tracemalloc.start()
    pairs = ForeignSubject(Coin, "coin", arms=1000).pairs()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert any(pair.rounds == 2000 for pair in pairs)
    assert size < 500e6


def test_more_rewards_than_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="rounds × arms to be at most 10,000,000, got 1,000,000"):
        dpb.audit(Coin, 1, arms=1000, rounds=10**6)


def small_counts(rewards: Any, seed: int) -> int:
    """A noised count, but for those of less than five, which are not told."""
    count = int((rewards > 0.5).sum())
    return -1 if count < 5 else round(count + np.random.default_rng(seed).laplace())


LEAKS = [
    # none of the tables had five ones and lost one of them
    (small_counts, 1_000, ""),
    # records moved between 0, 1/4, 1/2, 1, .02 and .97; it leaks ln 9
    pytest.param(narrow, 10_000, "", marks=pytest.mark.long),
    pytest.param(Waits, 4_000, "", marks=pytest.mark.long),
    # its first decision is by exact sums of the object before
    pytest.param(WarmStart, 2_000, "two objects in turn", marks=pytest.mark.long),
]
"""Once not refuted; in how many runs, and what the evidence says."""


@pytest.mark.parametrize(("leak", "runs", "says"), LEAKS)
def test_the_table_that_shows_a_leak_is_tried(leak: Any, runs: int, says: str) -> None:
    report = dpb.audit(leak, 1, levels=["statistical"], runs=runs, workers=1)
    assert report.failed, report.levels[0].evidence
    assert says in report.levels[0].evidence


@dataclass(frozen=True, kw_only=True)
class SumOfBoth(PureDP):
    """Correct: one noised sum of two coordinates, where a record is in one of them."""

    compares = True
    proof = "lazy_forgetful"

    def init(self, coordinates: int) -> None:
        return None

    def answer(self, memory: None, block: Block, noise: Noise) -> tuple[None, tuple[Any, ...]]:
        total = sum(map(int, block.sums))
        noisy = noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon)
        return None, tuple(Answer(noisy / self.grid.steps, count, 1) for count in block.counts)


@pytest.mark.long
def test_one_record_moves_where_coordinates_are_compared() -> None:
    """A record of either coordinate moved: 1.875 was certified of what is 1-private."""
    correct = SumOfBoth(epsilon=Fraction(1), grid=Grid(steps=1))
    report = dpb.audit(correct, levels=["statistical"], runs=20_000, workers=1)
    assert (report.verdict, report.lower_bound < 1) == ("not refuted", True), report


class Overflows(SeparableDP):
    proof = "lazy_forgetful"

    def start(self) -> list[int]:
        return []

    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Any]:
        if total == count * self.grid.steps:
            raise OverflowError("too many")
        noisy = noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon)
        return memory, Answer(noisy / self.grid.steps, count, 1)


def test_an_error_that_depends_on_rewards_says_what_was_being_done() -> None:
    with pytest.raises(OverflowError) as caught:
        dpb.audit(Overflows(epsilon=Fraction(1)), levels=["transcript"], runs=100)
    (note,) = caught.value.__notes__
    assert "that tells of them" in note


def test_tapes_of_two_objects_differ_in_a_record_of_the_first() -> None:
    pairs = in_turn_with_another(2, 4)
    assert {pair.a.shape for pair in pairs} == {(2, 4, 2)}
    for pair in pairs:
        assert not pair.a[1].any()
        assert not pair.b[1].any()
        assert np.count_nonzero((pair.a != pair.b).any(axis=-1)[0]) == 1
