"""The question as a user asks it in Python: of policies, mechanisms, randomizers, functions of data
and objects of other libraries.

Leaks of foreign objects are deterministic here, so that they are seen for sure; what is private
fails with probability 1e-6.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from math import exp, inf, log
from typing import Any, ClassVar

import numpy as np
import pytest
from benchmarks.controls import ours

import dpbandits as dpb
from dpbandits.auditing import audit as run
from dpbandits.auditing.foreign import (
    LATE,
    ForeignSubject,
    FunctionSubject,
    RandomizerSubject,
    takes_data,
)
from dpbandits.auditing.laws import noisy_max_loss, published_loss, randomised_response_level
from dpbandits.auditing.report import AuditReport, LevelResult, conclusion, figure_of
from dpbandits.auditing.statistical import statistical_level
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import (
    EachArm,
    LazyForgetful,
    LocalLaplace,
    NoisyMax,
    RandomizedResponse,
    Randomizer,
)
from dpbandits.noise import Noise
from dpbandits.policies.contract import Policy
from tests.auditing.boxes import ONE, Coin, Leader


def test_claim_can_be_put_to_it() -> None:
    report = dpb.audit("AnytimeLazyUCB", "1/4", epsilon="1/2", levels=["transcript"], runs=1000)
    assert not report.passed
    assert "FAILED at transcript" in conclusion(report)


def test_objects_that_cannot_be_audited() -> None:
    with pytest.raises(TypeError, match="fresh object for each run"):
        dpb.audit(Leader(), 1)
    with pytest.raises(TypeError, match="select\\(\\) and update"):
        dpb.audit(dict, 1)
    with pytest.raises(ValueError, match="did you mean AnytimeLazyUCB"):
        dpb.audit("AnytimeLazyUC")
    with pytest.raises(ValueError, match="Expected levels"):
        dpb.audit("AnytimeLazyUCB", levels=["hope"])


@pytest.mark.parametrize(
    "amount",
    [*({"budget": x} for x in (0, -1, math.nan, math.inf)), *({"runs": x} for x in (0, 2.5, True))],
)
def test_amounts_that_are_none(amount: Any) -> None:
    with pytest.raises(ValueError, match=r"to be seconds|whole number of at least 1"):
        dpb.audit("AnytimeLazyUCB", **amount)


def test_an_epsilon_that_would_be_ignored_is_refused() -> None:
    policy, mechanism = (
        dpb.AnytimeLazyUCB(arms=2, epsilon="1/2"),
        LazyForgetful(epsilon=Fraction(1)),
    )
    for made, own in (
        (policy, "1/2"),
        (mechanism, "1"),
        (dpb.UCB1(arms=2), "none"),
        (lambda: policy, "1/2"),
    ):
        with pytest.raises(ValueError, match=f"audited as it is .*{own}"):
            dpb.audit(made, epsilon=3)
    assert dpb.audit(policy, epsilon=0.5, levels=["transcript"], runs=1000).claim == Fraction(1, 2)
    for name in ("UCB1", "AdaCUCB"):
        with pytest.raises(ValueError, match=f"{name} takes no epsilon"):
            dpb.audit(name, epsilon=1)
    with pytest.raises(ValueError, match="both are what it is held to"):
        dpb.audit(Leader, 1, epsilon=2)


def test_what_a_level_leaves_the_next_ones_use(monkeypatch: pytest.MonkeyPatch) -> None:
    given = dict[str, float]()

    def spend_nothing(*_: Any, until: float = 0.0, **__: Any) -> LevelResult:
        given["statistical"] = until
        return LevelResult("statistical", "passed")

    def replay_none(play: Any, first: int, seconds: float) -> LevelResult:
        given["transcript"] = seconds
        return LevelResult("transcript", "passed")

    monkeypatch.setattr(run, "statistical_level", spend_nothing)
    monkeypatch.setattr(run, "largest_in_time", replay_none)
    monkeypatch.setattr(run, "clock", lambda: 0.0)  # no time passes
    dpb.audit(Coin, 1, budget=60)
    # white-box levels have no use for their shares
    assert given == {"statistical": pytest.approx(0.95 * 60)}
    dpb.audit(dpb.AnytimeLazyUCB(arms=2, epsilon=1, grid=1), budget=60)
    assert given["transcript"] == pytest.approx(60 * 25 / 95)
    assert given["statistical"] == pytest.approx(0.95 * 60)
    # others overran: there is a least
    assert run.share(["statistical"], -5, 60) == pytest.approx(21)


@pytest.mark.long
def test_no_claim_is_no_pass() -> None:
    report = dpb.audit("UCB1", levels=["statistical"], runs=500, workers=1)
    assert report.claim is None
    assert not report.passed
    assert report.lower_bound > 1


def test_everything_knows_all() -> None:
    """Registered private policies are controls; those by contexts are in test_in_contexts."""
    made = [control.make() for control in ours()]
    names = {type(each).__name__ for each in made if isinstance(each, Policy)}
    private = [row for row in dpb.list_policies() if row.privacy != "none"]
    assert names == {row.name for row in private if not row.contexts}


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (0.0, "0"),
        (1.97199, "1.971"),
        (1 - 1e-14, "1"),
        (2.0, "2"),
        (31.0699, "31.06"),
        (1e-7, "1e-07"),
    ],
)
def test_a_bound_is_never_rounded_up(value: float, printed: str) -> None:
    assert figure_of(value) == printed


# Objects of other libraries.


class Says:
    """Plays what it was made with."""

    def __init__(self, action: Any) -> None:
        self.action = action

    def ask(self) -> Any:
        return self.action

    def tell(self, decision: Any, reward: Any) -> None:
        pass


def run_of(make: Any, claim: Any = 1, **more: Any) -> AuditReport:
    return dpb.audit(make, claim, **{"runs": 500, "workers": 1} | more)


def test_rounds_can_be_asked_for() -> None:
    def lengths(**how: Any) -> set[int]:
        return {pair.rounds for pair in ForeignSubject(Leader, "leader", **how).pairs()}

    assert lengths(rounds=5) == {5, 10, 20, 256, LATE}
    assert lengths(rounds=LATE + 100) == {LATE + 100}
    assert lengths(arms=40) == {8, 16, 80, 256, LATE}
    moved = {
        tuple(sorted((float(pair.a[where][0]), float(pair.b[where][0]))))
        for pair in ForeignSubject(Leader, "leader").pairs()
        for where in [pair.a != pair.b]
    }
    assert moved == {(0.0, 1.0), (0.5, 1.0), (0.25, 0.5), (0.02, 0.97)}
    for pair in ForeignSubject(Leader, "leader").pairs():
        assert (pair.a != pair.b).any(axis=-1).sum() == 1, pair.label
    with pytest.raises(ValueError, match="rounds=0"):
        run_of(Leader, rounds=0)


def seeded(seed: int) -> dpb.Session:
    return dpb.Session(
        dpb.AnytimeLazyUCB(arms=2, epsilon=1, grid=1), noise=dpb.SimulatedNoise(seed), seed=seed
    )


@pytest.mark.long
def test_a_seed_that_is_fixed_or_not_heeded_is_hinted_at() -> None:
    fixed = run_of(lambda: seeded(0), runs=100)
    assert fixed.failed
    assert "is its seed fixed? Let make(seed=...) take one" in fixed.levels[0].evidence

    def once(seed: int = 0) -> dpb.Session:
        return seeded(0)

    heedless = run_of(once, runs=100)
    assert "does it use the seed it is given?" in heedless.levels[0].evidence
    drawn = run_of(seeded, runs=100)
    assert not drawn.failed
    assert "seed" not in drawn.levels[0].evidence


@pytest.mark.parametrize(
    ("action", "error", "says"),
    [
        (2, ValueError, "from 0 to 1, got 2. Of an object with more arms say so"),
        (-1, ValueError, "from 0 to 1, got -1"),
        ((), ValueError, "which names none"),
        ((0, 5), ValueError, "got 5"),
        ("one", TypeError, "got 'one' of type str"),
        (0.5, TypeError, "got 0.5 of type float"),
        (None, TypeError, "got None"),
    ],
)
def test_what_is_no_arm_is_named(action: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        run_of(lambda: Says(action))


@pytest.mark.parametrize("action", [1, np.int64(1), np.array(1), (0, 1), [1, 0], True])
def test_arms_in_many_guises(action: Any) -> None:
    subject = ForeignSubject(lambda: Says(action), "says")
    assert len(subject.outcomes(subject.pairs()[0].a, 3, 0)) == 3


def test_errors_of_the_object_stay_what_they_are() -> None:
    class Boom(Says):
        def ask(self) -> Any:
            raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom") as caught:
        dpb.audit(lambda: Boom(0), 1, runs=100, workers=2, name="Boom")
    assert "Boom was being played" in caught.value.__notes__


# Randomizers, functions of data, and exact laws.


def noisy_sum(rewards: Any, seed: int) -> float:
    """1-private for rewards in hundredths: whole steps, as last bits would tell more."""
    up, down = np.random.default_rng(seed).geometric(1 - math.exp(-1 / 100), 2)
    return float(np.rint(100 * np.sum(rewards)) + up - down)


def exact_mean(rewards: Any) -> float:
    return float(np.mean(rewards))


class Loud(RandomizedResponse):  # type: ignore[misc]  # final for everybody else
    """Twice its epsilon."""

    def randomise(self, steps: int, noise: Noise) -> int:
        return RandomizedResponse(epsilon=2 * self.epsilon, grid=self.grid).randomise(steps, noise)


def test_a_randomizer_by_itself() -> None:
    randomizer = RandomizedResponse(epsilon=Fraction(1), grid=Grid(steps=1))
    report = dpb.audit(randomizer, levels=["randomised response", "transcript"])
    assert [(level.level, level.outcome) for level in report.levels] == [
        ("randomised response", "passed")
    ]
    assert (report.claim, report.subject) == (1, repr(randomizer))
    assert 0.9 < report.lower_bound <= 1
    made = dpb.audit(RandomizedResponse, epsilon="1/2", levels=["randomised response"])
    assert (made.passed, made.claim) == (True, Fraction(1, 2))
    assert dpb.audit(Loud(epsilon=ONE, grid=Grid(steps=1)), levels=["randomised response"]).failed
    with pytest.raises(ValueError, match="audited as it is"):
        dpb.audit(LocalLaplace(epsilon=Fraction(1)), epsilon=2)


@pytest.mark.long
def test_a_randomizer_by_its_reports_alone() -> None:
    """It leaks 2. A bound above that comes with probability 10⁻⁶."""
    found = statistical_level(
        RandomizerSubject(Loud(epsilon=Fraction(1))), Fraction(1), workers=1, runs=20_000
    )
    assert found.outcome == "failed", found
    assert found.lower_bound < 2
    assert RandomizerSubject(LocalLaplace(epsilon=Fraction(1), width=3)).outcomes(
        np.ones((1, 3)), 5, 1
    ).shape == (5, 3)


@pytest.mark.long
def test_a_function_of_data() -> None:
    kept = statistical_level(
        FunctionSubject(noisy_sum, "noisy sum"), Fraction(1), workers=1, runs=20_000
    )
    assert kept.outcome == "not refuted", kept
    assert 0.7 < kept.lower_bound < 1
    leaks = dpb.audit(exact_mean, 1, runs=2000, workers=1)
    assert leaks.failed
    assert leaks.subject == "exact_mean"
    assert leaks.lower_bound > 3


def test_its_data() -> None:
    shapes = set()

    def first(data: Any, arms: int = 0) -> tuple[str, float]:
        shapes.add((data.shape, arms))
        data[:] = 7  # its own copy
        return "text", float(data.sum())

    subject, table = FunctionSubject(first, "first"), np.ones((4, 1))
    assert subject.outcomes(table, 2, 0).shape == (2, 2)
    assert table.max() == 1
    FunctionSubject(first, "first", arms=3).outcomes(np.ones((4, 3)), 2, 0)
    assert shapes == {((4,), 1), ((4, 3), 3)}
    assert {pair.a.shape for pair in FunctionSubject(first, "first", arms=3, rounds=5).pairs()} == {
        (1, 3),
        (2, 3),
        (5, 3),
    }


def test_what_is_taken_for_a_function_of_data() -> None:
    class Makes:
        def __init__(self, data: Any) -> None: ...

    assert takes_data(exact_mean)
    assert takes_data(noisy_sum)
    assert takes_data(lambda table: 0)
    for maker in (
        lambda: 0,
        lambda seed: 0,
        lambda seed, arms: 0,
        lambda data=None: 0,
        lambda a, b: 0,
        Makes,
        dict,
    ):
        assert not takes_data(maker)
    with pytest.raises(TypeError, match="taken for a function of data"):
        dpb.audit(lambda size: object(), 1, runs=100)
    with pytest.raises(ValueError, match="as many numbers"):
        dpb.audit(lambda rewards, seed: [0] * (1 + seed % 2), 1, runs=100)


class Uniform(Coin):
    """Says how many arms it was made with."""

    made: ClassVar[set[int]] = set()

    def __init__(self, arms: int, seed: int = 0) -> None:
        super().__init__(seed, arms)
        self.made.add(arms)


def test_a_mechanism_is_made_for_as_many_arms() -> None:
    one = LazyForgetful(epsilon=ONE, grid=Grid(steps=1))
    made = run.resolve(lambda arms: EachArm(inner=one, width=arms), None, 3)
    assert made.width == 3


@pytest.mark.long
def test_arms_reach_what_makes_a_subject() -> None:
    """And not the tables alone."""
    for arms, expected in ((3, {3}), (None, {2})):
        Uniform.made.clear()
        dpb.audit(Uniform, 1, arms=arms, runs=100, workers=1)
        assert Uniform.made == expected
    Uniform.made.clear()
    dpb.audit(lambda seed, arms=4: Uniform(arms, seed), 1, runs=100, workers=1)
    assert Uniform.made == {4}
    made = dpb.audit(
        lambda arms: dpb.AnytimeLazyUCB(arms=arms, epsilon=1),
        arms=3,
        levels=["transcript"],
        runs=100,
    )
    assert "arms=3" in made.subject
    assert math.isclose(made.lower_bound, 1)


def law_level(randomise: Callable[..., int], grid: int = 1, **more: Any) -> LevelResult:
    """The verdict on a randomizer that claims 1."""
    made = type("Made", (LocalLaplace,), {"randomise": randomise, **more})
    return randomised_response_level(made(epsilon=ONE, grid=Grid(steps=grid)))


def answer(self: Randomizer, steps: int, noise: Any) -> int:
    return RandomizedResponse(epsilon=self.epsilon, grid=self.grid).randomise(steps, noise)


@pytest.mark.parametrize(("grid", "width", "epsilons"), [(7, 3, ["1/10", "4"]), (1024, 1, ["1"])])
def test_randomised_response_costs_its_claim(grid: int, width: int, epsilons: list[str]) -> None:
    for epsilon in epsilons:
        made = RandomizedResponse(epsilon=Fraction(epsilon), grid=Grid(steps=grid), width=width)
        result = randomised_response_level(made)
        assert result.outcome == "passed"
        assert result.lower_bound == pytest.approx(float(Fraction(epsilon)), abs=1e-12)
        less = randomised_response_level(made, Fraction(epsilon) * Fraction(999, 1000))
        assert less.outcome == "failed"


def test_a_reward_told_without_noise_has_no_epsilon() -> None:
    raw = law_level(lambda self, steps, noise: steps, 1024)
    assert (raw.outcome, raw.lower_bound) == ("failed", inf)
    zero = law_level(lambda self, steps, noise: 0 if steps == 0 else answer(self, steps, noise))
    assert zero.outcome == "failed"


def test_every_switching_point_counts() -> None:
    """The truth is told when the first coin is below a quarter, or below 10⁻⁷."""
    often = law_level(
        lambda self, steps, noise: steps if noise.uniform() < 0.25 else answer(self, steps, noise)
    )
    keep = exp(1) / (1 + exp(1))
    assert often.outcome == "failed"
    wanted = log((0.25 + 0.75 * keep) / (0.75 * (1 - keep)))
    assert often.lower_bound == pytest.approx(wanted, abs=1e-9)
    rarely = law_level(
        lambda self, steps, noise: steps if noise.uniform() < 1e-7 else answer(self, steps, noise)
    )
    assert rarely.outcome == "failed"


def test_other_reports_are_left_to_runs() -> None:
    """Noise on the reward, hidden coins, and a name that tells the reward."""
    noised = randomised_response_level(LocalLaplace(epsilon=ONE))
    hidden = iter(range(10**6))
    own = law_level(lambda self, steps, noise: next(hidden) // 20 % 2)
    seen = [0]

    def noting(self: Randomizer, steps: int, noise: Any) -> int:
        seen[0] = steps
        return answer(self, steps, noise)

    named = law_level(noting, name=property(lambda self: f"after {seen[0]}"))
    for found in (noised, own, named):
        assert (found.outcome, found.lower_bound) == ("not applicable", 0.0), found


@pytest.mark.parametrize(("rounds", "loss"), [(2, 1.307), (4, 1.595)])
def test_noisy_max_with_the_published_noise(rounds: int, loss: float) -> None:
    """Lap(1/ε): 1.307 and 1.595 at ε = 1; on the grid of 1/1024 within 0.001 of them."""
    published = noisy_max_loss(NoisyMax(epsilon=2 * ONE, grid=Grid(steps=1024)), rounds)
    assert published == pytest.approx(loss, abs=1e-3)
    assert published == pytest.approx(published_loss(rounds, 1.0), abs=1e-3)
    assert noisy_max_loss(NoisyMax(epsilon=ONE, grid=Grid(steps=1024)), rounds) < 1
