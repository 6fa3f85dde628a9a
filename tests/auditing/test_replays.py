"""Replays of unusual shapes: what is right does not fail, what leaks does not pass. All claim 1."""

import functools
import gc
import random
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from benchmarks.controls.parts import BITS, Telling, lap

from dpbandits import AdaCUCB, audit
from dpbandits.auditing.played_noise import AGAIN, PATIENCE, PUSHED, Outside, PlayedNoise
from dpbandits.auditing.report import LevelResult
from dpbandits.auditing.subjects import feed
from dpbandits.auditing.transcript import transcript_level
from dpbandits.core.errors import Foreign
from dpbandits.core.plan import Hold, Plan
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import (
    AboveThreshold,
    Answer,
    Block,
    EachAction,
    EachArm,
    GaussianBatches,
    LazyForgetful,
    Mechanism,
)
from dpbandits.mechanisms.base import SeparableDP
from dpbandits.noise import Noise
from dpbandits.noise.protocol import Values
from dpbandits.policies.base import PrivatePolicy, StatisticsPolicy, first_unseen
from dpbandits.policies.contract import About
from dpbandits.simulation.transcript import form_of, identical
from tests.auditing.boxes import ONE, HandNoisyMax

Tell = Callable[[Any, int, Noise], Any]
"""What is released of a block: of its exact sum, its records and the noise."""


def replayed(subject: Mechanism | Tell, rounds: int = 32, replays: int = 12) -> LevelResult:
    if not isinstance(subject, Mechanism):
        subject = Telling(epsilon=ONE, grid=BITS, tell=subject)
    return transcript_level(feed(subject), rounds=rounds, replays=replays)


# What answers are made of.


def sparse_vector_ends(total: int, count: int, noise: Noise) -> int:
    """Right: a question to a noised threshold, by plain draws."""
    return int(lap(noise, total, Fraction(1, 4)) >= 3 + lap(noise, 0, Fraction(1, 2)))


def by_size(total: int, count: int, noise: Noise) -> int:
    """Drawn 4 and told 1 of one record; drawn and told 4 of several."""
    drawn = lap(noise, total, 4)
    return lap(noise, total) if count == 1 else drawn


def in_eighths(total: int, count: int, noise: Noise) -> int:
    return total if total % 8 else noise.laplace(total, sensitivity=8, epsilon=ONE)


def gaussian(total: int, count: int, noise: Noise) -> int:
    return noise.gaussian(total, sensitivity=1, rho=Fraction(1, 8))


SHAPES: list[tuple[str, Any, str, float | None]] = [
    ("drawn twice, told one", lambda t, c, n: (lap(n, t), lap(n, t))[0], "passed", 1),
    ("adds by itself", lambda t, c, n: t + lap(n, 0), "passed", 1),
    ("adds half by itself", lambda t, c, n: t + lap(n, 0, 2), "failed", 2),
    ("one draw more", lambda t, c, n: lap(n, t) + lap(n, 0), "passed", 1),
    ("adds two by itself", lambda t, c, n: t + lap(n, 0) + lap(n, 0), "passed", 1),
    ("exact of several", lambda t, c, n: lap(n, t) if c == 1 else t, "failed", None),
    ("less of several", by_size, "failed", 4),
    # far out only draws of a like weight make up for each other: .001 is sure, and 5 is true
    ("two weights", lambda t, c, n: lap(n, t, 5) + 1000 * lap(n, 0), "not applicable", 5),
    ("a bit of it", lambda t, c, n: int(lap(n, t, 8) >= 200), "not applicable", None),
    ("an eighth of it", lambda t, c, n: lap(n, t) % 8, "passed", None),
    ("noise of its own", lambda t, c, n: t + int(random.expovariate(1)), "not applicable", None),
    ("question by hand", sparse_vector_ends, "passed", None),
    ("exact between", Telling(epsilon=ONE, grid=Grid(steps=8), tell=in_eighths), "failed", None),
    ("noisy maximum by hand", HandNoisyMax(), "not applicable", None),
    ("Gaussian", gaussian, "failed", None),
    ("Gaussian, cut", lambda t, c, n: max(0, min(c, gaussian(t, c, n))), "not applicable", None),
    *(
        (type(made).__name__, made, "passed", None)
        for made in (
            EachArm(inner=AboveThreshold(epsilon=ONE / 2, grid=BITS, cap=8), width=2),
            EachAction(inner=AboveThreshold(epsilon=ONE / 2, grid=BITS, cap=8), actions=2),
        )
    ),
    # equal, and written otherwise
    ("a bit for a 1", lambda t, c, n: (lap(n, t), 2 * t > c or 1), "failed", None),
    ("sign of zero", lambda t, c, n: -0.0 if (z := lap(n, t)) == 0 and t else z, "failed", None),
    # by a way of its own where noise is secure: only simulated noise is handed to it
    ("kind", lambda t, c, n: lap(n, t, 2 if n.kind == "secure" else 1), "not applicable", None),
]


QUICK = ("Gaussian", "sign of zero", "kind")


@pytest.mark.parametrize(
    ("subject", "outcome", "loss"),
    [
        pytest.param(*each, id=name, marks=() if name in QUICK else pytest.mark.long)
        for name, *each in SHAPES
    ],
)
def test_shapes(subject: Any, outcome: str, loss: float | None) -> None:
    """What is certified is the loss of what was told, not of what was drawn."""
    found = replayed(subject)
    assert found.outcome == outcome, found
    if loss is not None:
        assert found.details["loss_value"] == pytest.approx(loss, abs=1e-9)
    if outcome == "not applicable":
        assert found.lower_bound == pytest.approx(0.001 if loss == 5 else 0.0, rel=1e-6)
    if outcome == "passed":
        assert found.lower_bound <= (loss or 1)


@pytest.mark.long
def test_long_runs_hide_no_more_than_short_ones() -> None:
    """Of more than 600 draws only small moves were tried: 1 was certified where .434 is true."""
    found = replayed(lambda t, c, n: lap(n, t) % 2, rounds=700, replays=4)
    assert (found.outcome, found.lower_bound) == ("passed", 0.0)


@pytest.mark.long
@pytest.mark.parametrize(
    "subject", [GaussianBatches(rho=Fraction(1, 3), grid=BITS), AdaCUCB(arms=2, rho="1/3")]
)
def test_gaussian_noise_keeps_no_epsilon(subject: Any) -> None:
    policy = feed(subject) if isinstance(subject, Mechanism) else subject
    found = transcript_level(policy, ONE, rounds=64, replays=12)
    assert (found.outcome, found.lower_bound) == ("failed", float("inf"))
    assert transcript_level(policy, rounds=64, replays=12).outcome == "passed"


@pytest.mark.long
@pytest.mark.parametrize(
    "subject",
    [
        GaussianBatches(rho=Fraction(1, 50), grid=BITS),
        Telling(
            epsilon=ONE,
            grid=BITS,
            tell=lambda t, c, n: n.gaussian(t, sensitivity=1, rho=Fraction(1, 50)),
        ),
        AdaCUCB(arms=2, rho="1/50"),
    ],
    ids=["batches", "one that claims an epsilon", "policy"],
)
def test_runs_alone_are_no_evidence_that_gaussian_noise_keeps_an_epsilon(subject: Any) -> None:
    """Nothing so rare was counted as would refute it, and that was `passed`."""
    report = audit(subject, 1, levels=["statistical"], runs=2000, workers=1)
    assert (report.verdict, report.passed, report.failed) == ("no verdict", False, False), report
    assert "Gaussian noise keeps no pure epsilon" in str(report)


class Finishing(LazyForgetful):  # type: ignore[misc]  # final for everybody else
    """Releases exact sums at the end."""

    def finish(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, tuple[Any, ...]]:
        pairs = zip(block.sums, block.counts, strict=True)
        return memory, tuple(Answer(float(total), count, 0) for total, count in pairs)


def test_what_a_rule_releases_at_its_end_is_looked_at() -> None:
    for made, outcome in ((LazyForgetful, "passed"), (Finishing, "failed")):
        rule = feed(made(epsilon=ONE, grid=BITS), each=7)
        assert transcript_level(rule, rounds=64).outcome == outcome


@dataclass(frozen=True, kw_only=True)
class Lap(SeparableDP):
    """Right. What is derived from it tells more."""

    epsilon: Fraction = ONE
    grid: Grid = BITS
    proof = "lazy_forgetful"

    def start(self) -> list[int]:
        return [0]

    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Any]:
        return [memory[0] + 1], Answer(lap(noise, total), count, 1)


class Begins(Lap):
    """Says that it takes one release, and goes on: without noise."""

    leaves = 1

    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Any]:
        if memory[0] == 0:
            return super().step(memory, total, count, noise)
        return memory, Answer(total, count, 1)


class OneDrawForAll(Lap):
    """All coordinates of a release at once."""

    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Any]:
        return self.steps([memory], (total,), (count,), noise)[0]

    def told(self, totals: Values, noise: Noise) -> list[Any]:
        draw = lap(noise, 0)
        return [int(total) + draw for total in totals]

    def steps(
        self, memories: list[Any], totals: Values, counts: Sequence[int], noise: Noise
    ) -> list[tuple[Any, Any]]:
        parts = zip(memories, self.told(totals, noise), counts, strict=True)
        return [(memory, Answer(total, n, 1)) for memory, total, n in parts]


class ToldToTheOthers(OneDrawForAll):
    def told(self, totals: Values, noise: Noise) -> list[Any]:
        return [lap(noise, int(totals[0])), *([float(totals[0])] * (len(totals) - 1))]


@pytest.mark.parametrize("made", [Lap, Begins, OneDrawForAll, ToldToTheOthers])
def test_what_passed_and_leaks_is_failed(made: type[Lap]) -> None:
    """Nobody had handed it several coordinates, or a second release. What it is made of passes."""
    assert replayed(made()).outcome == ("passed" if made is Lap else "failed")


@pytest.mark.long
@pytest.mark.parametrize("wrong", [OneDrawForAll, ToldToTheOthers])
def test_runs_show_what_coordinates_tell_of_each_other(wrong: type[Lap]) -> None:
    report = audit(wrong(), levels=["statistical"], runs=5000, workers=1)
    assert report.failed, report


# Exact sums that an answer holds out of sight.


class Slotted(float):
    __slots__ = ("exact",)


class Near(float):
    """Calls everything equal."""

    __hash__ = float.__hash__

    def __eq__(self, other: object) -> bool:
        return True


class Colour(Enum):
    RED = 1


@dataclass
class Told:
    noisy: float
    exact: int


KEPT: list[float] = [0.0, 0.0]


def in_a_slot(noisy: float, total: int) -> float:
    told = Slotted(noisy)
    told.exact = total  # type: ignore[attr-defined]
    return told


def in_the_bits_of_nan(noisy: float, total: int) -> tuple[float, float]:
    return noisy, struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000000 | total))[0]


def in_the_order(noisy: float, total: int) -> Any:
    return np.array([[noisy, 1.0], [2.0, 3.0]], order="F" if total else "C")


def in_notes_on_the_type(noisy: float, total: int) -> Any:
    return np.array(noisy, dtype=np.dtype(float, metadata={"exact": total}))


def in_the_rest_of_an_array(noisy: float, total: int) -> Any:
    return np.array([noisy, total])[:1]


def in_an_object_that_is_kept(noisy: float, total: int) -> list[float]:
    """The object that was answered before changes, too, and so all answers were equal."""
    KEPT[:] = noisy, total
    return KEPT


@pytest.mark.parametrize(
    ("hide", "outcome"),
    [
        (lambda noisy, _: noisy, "passed"),
        (lambda noisy, _: np.array([noisy]), "passed"),
        (in_the_order, "failed"),
        (in_an_object_that_is_kept, "failed"),
        # what is no plain value cannot be compared; and the bits are no sum of any noise, so nobody
        # can say what would make up for the record
        (in_a_slot, "not applicable"),
        (in_the_bits_of_nan, "not applicable"),
        (in_notes_on_the_type, "not applicable"),
        (in_the_rest_of_an_array, "not applicable"),
        (Told, "not applicable"),
        (lambda noisy, total: Near(total + 0 * noisy), "not applicable"),
        (lambda noisy, total: functools.partial(abs, total), "not applicable"),
        (lambda _, total: {total}, "not applicable"),
    ],
)
def test_exact_sums_out_of_sight_do_not_pass(hide: Any, outcome: str) -> None:
    found = replayed(lambda total, _, noise: hide(float(lap(noise, total)), total), rounds=32)
    assert found.outcome == outcome, found
    if outcome == "not applicable":
        assert found.lower_bound == 0


@pytest.mark.parametrize(
    "value",
    [
        *(Slotted(1), Near(1), Colour.RED, Told(1.0, 2), {1}, bytearray(b"a"), lambda: 0),
        *(np.void(b"a"), np.array([0, 1])[:1], np.array([1, "a"], object)),
        [np.zeros(2, np.dtype(float, metadata={"exact": 1}))],
    ],
)
def test_what_may_hold_more_than_is_seen_is_not_compared(value: Any) -> None:
    with pytest.raises(Foreign, match="cannot be compared"):
        form_of(value)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (np.zeros((2, 2)), np.zeros((2, 2)), True),
        (np.zeros((2, 2)), np.zeros((2, 2), order="F"), False),
        (np.zeros(2), np.zeros(2, np.float32), False),
        (np.float64(1), 1.0, False),
        ((1, 2), [1, 2], False),
        (True, 1, False),
        (0.0, -0.0, False),
        (float("nan"), float("nan"), True),
        (Fraction(1, 3), Fraction(1, 2), False),
        (Answer(1.0, 2, 3), Answer(1.0, 2, 3), True),
        (Answer(1.0, 2, 3), (1.0, 2, 3), False),
        ({"a": [1]}, {"a": [1]}, True),
    ],
)
def test_all_that_a_value_holds_is_compared(one: Any, other: Any, same: bool) -> None:
    assert identical(one, other) is same


# Policies that look past the vault: other rewards change a plan, though releases stay the same.

EXACT = [0, 0]
"""Sum and records of the newest block, which no policy should see."""


@dataclass(frozen=True, kw_only=True)
class Interim(StatisticsPolicy, PrivatePolicy):
    """Looks at the newest exact block once. Its rule says the same where all rewards are swapped.

    adds: the noise by itself. own: plans come by coins of its own.
    """

    about = About(paper="", algorithm="", bound="")
    at: int = 10**6
    adds: bool = False
    own: bool = False

    def mechanism(self) -> Mechanism:
        def tell(total: int, count: int, noise: Noise) -> int:
            EXACT[:] = total, count
            return total + lap(noise, 0) if self.adds else lap(noise, total)

        return Telling(epsilon=self.budget, grid=Grid(steps=self.grid), tell=tell)

    def plan(self, state: Any, rng: Any) -> Plan:
        arm = first_unseen(state)
        if arm is None:
            arm = int(state.totals[0] * state.rounds[1] < state.totals[1] * state.rounds[0])
            arm = random.randrange(2) if self.own else arm
        if state.t == self.at and abs(2 * EXACT[0] - EXACT[1]) >= 2:
            arm = 1 - arm
        return Hold(arm, 4, (arm,))

    def regret_bound(self, means: Any, rounds: int) -> float:
        return float("nan")


def interim(**how: Any) -> Interim:
    return Interim(arms=2, epsilon=1, grid=1, **how)


@pytest.mark.parametrize(
    "at", [100, *(pytest.param(at, marks=pytest.mark.long) for at in (600, 1800))]
)
def test_a_look_past_the_vault_is_seen_by_a_number_of_runs(at: int) -> None:
    """In most neighbours no plan was asked for, and all of these passed."""
    assert audit(interim(at=at), levels=["transcript"], runs=100).failed


def test_a_look_past_the_vault_is_seen_in_short_runs() -> None:
    for policy, rounds in ((interim(at=204), 256), (interim(at=20, adds=True), 40)):
        found = transcript_level(policy, rounds=rounds, replays=40)
        assert found.outcome == "failed", found


def test_plans_are_asked_for_again() -> None:
    found = transcript_level(interim(), Fraction(1), rounds=64, replays=12)
    assert found.outcome == "passed", found
    assert found.details["asked"] == found.details["pairs"] > 0
    own = transcript_level(interim(own=True), rounds=64, replays=12)
    assert own.outcome == "not applicable", own


# Noise that is drawn again until it pleases, and generators that the noise source does not know.


def together(total: int, count: int, noise: Noise) -> float:
    """Two questions in turn: neither is asked twice in a row."""
    while True:
        ones, zeros = (lap(noise, of, Fraction(1, 4)) for of in (total, count - total))
        if ones >= 0 and zeros >= 0:
            return ones / max(1, ones + zeros)


def ever_larger(total: int, count: int, noise: Noise) -> float:
    """With half of what is left of the budget each time, so no question comes twice."""
    epsilon = ONE / 2
    while not 0 <= (noisy := lap(noise, total, epsilon)) <= count:
        epsilon /= 2
    return float(noisy)


def never(total: int, count: int, noise: Noise) -> float:
    while lap(noise, total) < 10**9:
        pass
    return 0.0


def never_by_coins(total: int, count: int, noise: Noise) -> float:
    while noise.uniform() < 2:
        pass
    return 0.0


@pytest.mark.parametrize(
    ("draws", "says"),
    [
        (together, ""),
        (ever_larger, "larger than any float"),
        (never, f"more than {PATIENCE:,} times"),
        (never_by_coins, f"more than {PATIENCE:,} times"),
    ],
)
def test_noise_that_is_drawn_again_and_again_ends(draws: Tell, says: str) -> None:
    found = replayed(draws, rounds=16)
    assert found.outcome == "not applicable"
    assert says in found.evidence


def test_noise_falls_freely_after_a_while_and_is_pushed_again_in_the_next_release() -> None:
    noise = PlayedNoise(1, up=True)
    for _ in range(2):
        noise.begin()
        assert all(lap(noise, value) > value for _ in range(AGAIN) for value in (3, 4))
        assert min(lap(noise, 3) for _ in range(20)) <= 3
        assert all(lap(noise, value) > value for value in range(10, PUSHED - 2 * AGAIN - 10))


def test_a_draw_of_a_generator_that_is_held_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """However the garbage collector has moved it, and though its call is not."""
    monkeypatch.setattr(Outside, "_note", lambda *_: None)
    held = random.Random(3), np.random.default_rng(3), np.random.RandomState(3)
    draws = held[0].random, held[1].random, held[2].random_sample
    for generation, draw in enumerate(draws):
        for is_drawn in (False, True):
            with Outside() as outside:
                gc.collect(generation)
                if is_drawn:
                    draw()
            assert outside.used is is_drawn
