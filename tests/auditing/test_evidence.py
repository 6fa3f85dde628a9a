"""Evidence is valid at every time it is looked at, for every adversary, and it is strong."""

import json
import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpbandits as dpb
from dpbandits.auditing import verify
from dpbandits.auditing.evidence import (
    ALPHA,
    DELTAS,
    LARGEST,
    SCALE,
    bets_of,
    certified,
    log_wealth,
    reach,
    read,
    runs_needed,
    runs_to_reach,
    written,
    zcdp_epsilon,
)
from dpbandits.auditing.report import AuditReport, conclusion, heading
from dpbandits.auditing.statistical import statistical_level
from dpbandits.auditing.tables import Neighbours
from dpbandits.core.inputs import Floats
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import GaussianBatches, LazyForgetful, RandomizedResponse
from tests.auditing.boxes import Coin, Leader


@settings(deadline=None, derandomize=True, max_examples=50)
@given(epsilon=st.floats(0.01, 15), level=st.integers(1, LARGEST))
def test_no_bet_wins_on_average_under_the_claim(epsilon: float, level: int) -> None:
    """Summed up exactly, at the largest probability that the claim allows for an outcome."""
    one = [np.array([level]), np.array([], int)]
    likely = 1 / (1 + math.exp(-epsilon))
    for sides in (one, one[::-1]):
        first = math.exp(log_wealth(bets_of(*sides), [epsilon])[0])
        second = math.exp(log_wealth(bets_of(*sides[::-1]), [epsilon])[0])
        assert (
            max(chance * first + (1 - chance) * second for chance in (likely, 1 - likely, 0.5))
            <= 1 + 1e-12
        )


@pytest.mark.parametrize("delta", [1e-4, 0.05])
def test_no_bet_wins_on_average_under_a_claim_with_delta(delta: float) -> None:
    """The worst law for a bet is that of P(A) = e^ε Q(A) + δ, on either side."""
    epsilon, level = 0.5, 100
    for q in (0.0, 0.1, 0.4):
        p = math.exp(epsilon) * q + delta
        on = {(1, 0): p, (-1, 0): q / 2, (0, 0): 1 - p - q / 2}
        off = {(1, 0): q, (-1, 0): math.exp(epsilon) * q / 2 + delta}
        off[0, 0] = 1 - sum(off.values())
        mean = 0.0
        for side, law in enumerate((on, off)):
            for (sign, _), chance in law.items():
                stated = [np.array([sign * level]), np.array([], int)]
                wealth = math.exp(
                    log_wealth(bets_of(*(stated if side == 0 else stated[::-1])), [epsilon], delta)[
                        0
                    ]
                )
                mean += 0.5 * chance * wealth
        assert mean <= 1 + 1e-12


class Told:
    """One bit, told right with probability 1/(1 + e^-epsilon): it is exactly epsilon-private."""

    name = "told"

    def __init__(self, epsilon: float) -> None:
        self.right = 1 / (1 + math.exp(-epsilon))

    def pairs(self) -> list[Neighbours]:
        return [Neighbours(np.zeros((1, 1)), 0, np.zeros(1), np.ones(1), "one round")]

    def outcomes(self, table: Floats, runs: int, seed: int) -> Floats:
        told = np.random.default_rng([seed, 9]).random((runs, 1)) < self.right
        return np.where(told, table[0, 0], 1 - table[0, 0])


@pytest.mark.long
def test_no_audit_of_what_is_right_certifies_more_than_it_leaks() -> None:
    """At alpha = 1/20 the wealth reaches 20 in 13 of 40 audits with probability below 1e-6."""
    reached = 0
    for seed in range(40):
        found = statistical_level(Told(1.0), Fraction(1), runs=200, seed=seed, workers=1)
        assert found.outcome == "not refuted"
        bets = read(found.details["bets"])
        reached += bool(log_wealth(bets, [1.0])[0] >= math.log(20))
    assert reached < 13


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_half_a_claim_is_caught_within_1500_runs(seed: int) -> None:
    report = dpb.audit(
        "AnytimeLazyUCB", "1/2", epsilon=1, levels=["statistical"], runs=1_500, seed=seed, workers=1
    )
    assert report.failed
    assert 0.5 < report.lower_bound <= 1


def test_bounds_are_the_largest_claim_below_which_all_are_refuted() -> None:
    bets = bets_of(np.full(400, 30), np.full(60, 30))
    bound = certified(bets)
    assert log_wealth(bets, np.arange(0, bound, 0.01)).min() >= -math.log(ALPHA)
    assert log_wealth(bets, [bound + 0.03])[0] < -math.log(ALPHA)
    assert certified(bets, delta=0.01) < bound
    assert certified(bets_of(np.full(60, 30), np.full(400, 30))) == 0.0


def test_reach_is_what_right_guesses_certify() -> None:
    for runs in (30, 300, 5_000):
        sure = bets_of(np.full(runs, LARGEST), np.array([], int))
        assert certified(sure) <= reach(runs) <= certified(sure) + 0.06


def test_written_bets_are_read_again() -> None:
    bets = bets_of(np.array([3, 3, -300, 9]), np.array([-7, 3]))
    assert (read(written(bets)) == bets).all()
    assert bets.sum() == 6
    assert LARGEST / SCALE == 16


def test_gaussian_noise_has_a_curve() -> None:
    """N(0, 1) against N(1, 1): δ(ε) = Φ(1/2 − ε) − e^ε Φ(−1/2 − ε) is met, nearly."""

    def true(epsilon: float) -> float:
        from scipy.stats import norm

        return float(norm.cdf(0.5 - epsilon) - math.exp(epsilon) * norm.cdf(-0.5 - epsilon))

    rng, runs = np.random.default_rng(3), 400_000
    levels: list[Any] = [
        np.rint(SCALE * (0.5 - rng.normal(side, 1, runs))).astype(int) for side in (0, 1)
    ]
    bets = bets_of(*levels)
    for delta in (1e-3, 1e-2):
        bound = certified(bets, delta=delta)
        assert true(bound) > delta
        assert true(bound + 1) < delta


GAUSSIAN = GaussianBatches(rho=Fraction(1, 2), grid=Grid(steps=1))
LOUD = LazyForgetful(epsilon=Fraction(2), grid=Grid(steps=1))


@pytest.mark.parametrize(
    ("subject", "claimed", "verdict", "unit"),
    [
        (LOUD, {"claim": 1}, "failed", "epsilon"),
        (LOUD, {"claim": 1, "delta": 0.01}, "failed", "epsilon"),
        (LOUD, {"claim": 2, "delta": 0.01}, "not refuted", "epsilon"),
        (GAUSSIAN, {}, "not refuted", "rho"),
        (GAUSSIAN, {"rho": "1/20"}, "failed", "rho"),
        (GAUSSIAN, {"claim": 3, "delta": 0.01}, "not refuted", "epsilon"),
        (GAUSSIAN, {"rho": 9}, "no verdict", "rho"),
    ],
)
def test_every_kind_of_claim_is_verified(
    subject: Any, claimed: Any, verdict: str, unit: str
) -> None:
    report = dpb.audit(subject, levels=["statistical"], runs=1_000, workers=1, **claimed)
    data, details = json.loads(report.to_json()), report.levels[0].details
    found = verify(data)
    assert (report.verdict, found.verdict, found.unit) == (verdict, verdict, unit)
    assert found.lower_bound == (details["rho"] if unit == "rho" else report.lower_bound)
    if unit == "rho":
        data["levels"][0]["details"]["rho"] *= 2
        with pytest.raises(ValueError, match=r"ρ ≥ .* Do not trust it"):
            verify(data)


@pytest.mark.parametrize(
    ("subject", "claimed"),
    [
        (RandomizedResponse(epsilon=3), {"rho": "1/100"}),  # too little, and passed
        (RandomizedResponse(epsilon=3), {"claim": 2, "delta": 0.9}),  # which it keeps
    ],
)
def test_an_exact_loss_decides_no_other_kind_of_claim(subject: Any, claimed: Any) -> None:
    report = dpb.audit(subject, levels=["randomised response"], runs=1, **claimed)
    assert (report.verdict, report.lower_bound) == ("no verdict", 0.0)


def test_a_report_says_what_a_refutation_would_take() -> None:
    """Bets that win go on to win; where guesses are as often wrong, no number of runs will do."""
    winning = bets_of(np.full(30, 18), np.full(10, 18))
    needed = runs_needed(winning, 0.5)
    assert needed is not None
    times = math.ceil(needed / winning.sum())
    assert certified(winning * times) > 0.5 > certified(winning * (times - 2))
    assert runs_needed(winning, 2.0) is None
    for claim in (0.5, 1.0, 6.0):
        runs = runs_to_reach(claim)
        assert reach(runs) > claim >= reach(runs - 1)


def test_claims_that_cannot_be() -> None:
    for subject, claims in (
        (LOUD, {"claim": 1, "rho": 1}),
        (GAUSSIAN, {"delta": 0.01}),  # it claims a rho itself
        (Leader, {"epsilon": 1, "rho": 1}),
    ):
        with pytest.raises(ValueError, match="another claim beside rho="):
            dpb.audit(subject, runs=1, **claims)  # type: ignore[arg-type]
    for delta in (1.0, "0.1"):  # a text was a TypeError about "<="
        with pytest.raises(ValueError, match="a number in"):
            dpb.audit(LOUD, 1, delta=delta)  # type: ignore[arg-type]


@pytest.mark.parametrize("rho", [0.01, 0.5, 4.0])
def test_the_epsilon_of_a_rho_is_above_the_gaussian_curve(rho: float) -> None:
    """N(0, 1) against N(sqrt(2 rho), 1) is rho-zCDP, and keeps less than what that implies."""
    from scipy.stats import norm

    shift = math.sqrt(2 * rho)
    for delta in DELTAS:
        e = zcdp_epsilon(rho, delta)
        true = norm.cdf(shift / 2 - e / shift) - math.exp(e) * norm.cdf(-shift / 2 - e / shift)
        assert true <= delta * (1 + 1e-9)


# What a report says of its evidence, and its verification by somebody who does not trust it.


class Tossing(Coin):
    """Its coins are not those it is given a seed for."""

    def __init__(self, seed: int) -> None:
        self.rng, self.arms = random.SystemRandom(), 2


def audit(make: Any, claim: Any = 1, runs: int = 500, **more: Any) -> AuditReport:
    return dpb.audit(make, claim, runs=runs, workers=1, **more)


PROGRESS: list[str] = []
"""What was told while `Leader` was audited."""


@pytest.fixture(scope="module")
def leaks() -> AuditReport:
    return audit(Leader, arms=2, seed=7, progress=PROGRESS.append)


@pytest.fixture(scope="module")
def keeps() -> AuditReport:
    return audit(Coin)


@pytest.fixture(scope="module")
def out_of_reach() -> AuditReport:
    return audit(Leader, 8)


def test_a_claim_out_of_reach_gets_no_verdict(
    keeps: AuditReport, out_of_reach: AuditReport
) -> None:
    """1,000 bets can show 4.3 at most: nothing of a claim of 8, something of a claim of 1."""
    report = out_of_reach
    assert f"To refute it takes {runs_to_reach(8):,} runs at least." in str(report)
    assert (report.verdict, report.passed, report.failed) == ("no verdict", False, False)
    assert report.levels[0].reach == reach(1000) < 8
    assert conclusion(report).startswith("No verdict: the claim is out of reach")
    assert keeps.verdict == "not refuted"
    assert conclusion(keeps).startswith("Not refuted: ")


def test_a_report_says_what_was_looked_at(leaks: AuditReport) -> None:
    seen, said = leaks.levels[0].details, conclusion(leaks)
    assert leaks.failed
    for text in ("apart in 1,000 of 1,000 guesses", "if the object is meant to draw at random"):
        assert text in leaks.levels[0].evidence
    assert any("pair" in line for line in PROGRESS)
    assert any("bet on 1,000 runs" in line for line in PROGRESS)
    assert seen["runs"] == 1000
    assert {8, 32} <= set(seen["rounds"])
    assert seen["arms"] == 2
    assert {0.0, 0.25, 0.5, 1.0} <= set(seen["rewards"])
    assert leaks.setting | {"version": 0} == {
        "version": 0,
        "seed": 7,
        "runs": 500,
        "budget": None,
        "arms": 2,
        "rounds": 8,
        "delta": 0.0,
        "rho": None,
    }
    for text in (
        "pairs of tables",
        "1,000 runs",
        "rounds",
        "could have shown ε = 4.2",
        f"dpbandits {dpb.__version__}",
        "seed 7",
    ):
        assert text in said, said


def test_coins_of_its_own_are_in_the_headline(keeps: AuditReport) -> None:
    report = audit(Tossing, runs=100)
    assert "warning: noise of its own" in heading(report)
    assert "Warning: " in conclusion(report)
    assert "warning" not in heading(keeps)


def parsed(report: AuditReport) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(report.to_json())
    return data


def test_a_third_party_verifies_the_bound(
    leaks: AuditReport, keeps: AuditReport, out_of_reach: AuditReport
) -> None:
    data = parsed(leaks)
    found = verify(data)
    assert (found.verdict, found.lower_bound) == ("failed", data["lower_bound"])
    assert "verified: ε ≥" in found.lines[0]
    data["levels"].append({"level": "transcript", "outcome": "failed", "lower_bound": 517})
    assert "not verified: transcript" in verify(data).lines
    data["verdict"] = "passed"
    assert any("'passed', rests on more: failed" in line for line in verify(data).lines)
    assert verify(parsed(keeps)).verdict == "not refuted"
    assert verify(parsed(out_of_reach)).verdict == "no verdict"


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda data: data["levels"][0].update(lower_bound=9.0), "Do not trust it"),
        (lambda data: data["levels"][0]["details"]["bets"][0].__setitem__(1, 10**6), "trust"),
        (lambda data: data["levels"][0]["details"].update(bets=[[0, 1, -1]]), "whole numbers"),
        (lambda data: data["levels"][0]["details"].update(bets=[[0.5, 1, 1]]), "whole numbers"),
        (lambda data: data["levels"][0]["details"].update(bets="x"), "list of rows"),
        (lambda data: data["levels"][0]["details"].pop("bets"), "made bets"),
        (lambda data: data["levels"].append(data["levels"][0]), "one statistical level"),
        (lambda data: data.update(levels={"a": 1}), "list of levels"),
        (lambda data: data.pop("claim"), "with a claim"),
        (lambda data: data.update(claim="1/0"), "with a claim"),
        (lambda data: data["levels"][0].update(reach=99.0), "Do not trust it"),
        (lambda data: data["levels"][0].update(outcome="not refuted"), "Do not trust it"),
        (lambda data: data["levels"][0]["details"]["curve"][0].__setitem__(1, 7.0), "trust"),
        (lambda data: data["levels"][0]["details"].update(curve=[]), "a curve"),
        (lambda data: data["levels"][0]["details"].update(claimed_rho="1/2"), "of ρ alone"),
        (lambda data: data["levels"][0]["details"].update(delta=2), "of ρ alone"),
        (lambda data: data["levels"][0]["details"].update(runs=3), "Do not trust it"),
    ],
)
def test_a_report_that_does_not_add_up_is_refused(
    spoil: Any, says: str, leaks: AuditReport
) -> None:
    data = parsed(leaks)
    spoil(data)
    with pytest.raises(ValueError, match=says):
        verify(data)
