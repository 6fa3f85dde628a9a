"""What a reasonable person tries and cannot have: every refusal says what was expected, what came
and what to write instead.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.checks import check_policy
from dpbandits.mechanisms.rewards import checked_reward, checked_rewards, scaled_value
from dpbandits.oracles import problem_from_data

POLICY, COINS = dpb.DPKLUCB(arms=2, epsilon=1), dpb.Bernoulli([0.5, 0.4])
RULE = dpb.DPNAS(alpha=0.5, beta=0.1, cap=1000, epsilon=1)
UNIFORM = dpb.UniformMatroid(arms=4, rank=2)
NAN, HUGE = float("nan"), 10**5000


def runs() -> dpb.Runs:
    return dpb.simulate(POLICY, COINS, 10, runs=3)


def audited(**arguments: Any) -> dpb.AuditReport:
    return dpb.audit("AnytimeLazyUCB", **{"levels": ["transcript"], "budget": 1} | arguments)


REFUSED: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    # whole numbers
    "arms=True": (lambda: dpb.UCB1(arms=True), ValueError, "arms=True to be a whole number"),
    "arms='5'": (lambda: dpb.UCB1(arms="5"), ValueError, "write arms=5, without quotes"),
    "arms=2.5": (lambda: dpb.UCB1(arms=2.5), ValueError, "arms=2.5 to be a whole number"),
    "arms beyond memory": (lambda: dpb.UCB1(arms=10**30), ValueError, "from 1 to 10_000_000"),
    "actions beyond memory": (
        lambda: dpb.NaiveFTNL(actions=10**30, epsilon=1),
        ValueError,
        "from 1 to 10_000_000",
    ),
    "problem beyond memory": (
        lambda: dpb.TopK(arms=10**30, k=1),
        ValueError,
        "arms=1000.* to be <= 10000000",
    ),
    "grid=True": (
        lambda: dpb.UCB1(arms=2, grid=True),
        ValueError,
        "grid=True to be a whole number of steps",
    ),
    "Grid(steps=True)": (lambda: dpb.Grid(steps=True), ValueError, "grid=True"),
    "rounding": (
        lambda: dpb.Grid(rounding="up"),
        ValueError,
        "rounding='up' to be 'nearest' or 'bernoulli'",
    ),
    "rounds=1e6": (lambda: dpb.simulate(POLICY, COINS, 1e6), ValueError, "write rounds=1000000"),
    "rounds=10**30": (lambda: dpb.simulate(POLICY, COINS, 10**30), ValueError, "rounds=1000"),
    "rounds of 5000 digits": (
        lambda: dpb.simulate(POLICY, COINS, HUGE),
        ValueError,
        "a number of more than 4300 digits",
    ),
    "runs=10**21": (
        lambda: dpb.simulate(POLICY, COINS, 10, runs=10**21),
        ValueError,
        "from 1 to 1_000_000_000",
    ),
    "runs=True": (lambda: dpb.simulate(POLICY, COINS, 10, runs=True), ValueError, "runs=True"),
    "runs beyond memory": (
        lambda: dpb.simulate(POLICY, COINS, 10**6, runs=10**9),
        ValueError,
        "Simulate fewer runs at a time",
    ),
    "seed=True": (lambda: dpb.simulate(POLICY, COINS, 10, seed=True), ValueError, "seed=True"),
    "workers=0": (lambda: dpb.simulate(POLICY, COINS, 10, workers=0), ValueError, "workers=0"),
    "at=[1.5]": (
        lambda: dpb.simulate(POLICY, COINS, 10, at=[1.5]),
        ValueError,
        r"at=\[1.5\] to be a list of rounds",
    ),
    "at=5": (
        lambda: dpb.simulate(POLICY, COINS, 10, at=5),
        ValueError,
        "at=5 to be a list of rounds",
    ),
    "horizon": (
        lambda: dpb.DPUCB(arms=2, epsilon=1, horizon=10**30),
        ValueError,
        "horizon=1000.* whole number of rounds, from 1 to",
    ),
    "horizon beside beta": (
        lambda: dpb.SuccessiveElimination(arms=2, beta=0.1, horizon="a"),
        ValueError,
        "horizon='a'",
    ),
    "first=True": (lambda: dpb.DPKLUCB(arms=2, epsilon=1, first=True), ValueError, "first=True"),
    "cap=1e6": (lambda: dpb.NAS(alpha=0.1, beta=0.1, cap=1e6), ValueError, "write cap=1000000"),
    "estimates(runs=0)": (
        lambda: dpb.estimates(RULE, dpb.Bernoulli([0.5]), runs=0),
        ValueError,
        "runs=0",
    ),
    "identify(cap=True)": (
        lambda: dpb.identify(dpb.AdaPTT(arms=2, epsilon=1), COINS, cap=True),
        ValueError,
        "cap=True",
    ),
    "Session(class)": (
        lambda: dpb.Session(dpb.DPKLUCB, noise=dpb.SecureNoise()),
        TypeError,
        "got the class DPKLUCB itself",
    ),
    "check_policy(class)": (
        lambda: check_policy(dpb.DPKLUCB),
        TypeError,
        "got the class DPKLUCB itself",
    ),
    "a matroid's class": (
        lambda: dpb.DPKLMAT(problem=dpb.UniformMatroid, epsilon=1),
        TypeError,
        "got the class UniformMatroid",
    ),
    "estimate(5)": (
        lambda: dpb.estimate(RULE, 5, noise=dpb.SimulatedNoise(1)),
        TypeError,
        "such as a list, got an object of type int",
    ),
    "a key of text": (
        lambda: dpb.Session(POLICY, noise=dpb.SecureNoise()).to_json(key="0" * 32),
        ValueError,
        "got text: decode it",
    ),
    "a path for a document": (
        lambda: dpb.Session.from_json("session.json"),
        ValueError,
        r"of a file, its read_text\(\)",
    ),
    # numbers
    "epsilon=True": (
        lambda: dpb.DPSE(arms=2, epsilon=True),
        ValueError,
        "epsilon=True to be a finite number > 0",
    ),
    "epsilon=[]": (lambda: dpb.DPSE(arms=2, epsilon=[]), ValueError, "for example epsilon=1"),
    "alpha=True": (
        lambda: dpb.DPKLUCB(arms=2, epsilon=1, alpha=True),
        ValueError,
        "alpha=True to be a number",
    ),
    "alpha=NaN": (
        lambda: dpb.DPKLUCB(arms=2, epsilon=1, alpha=NAN),
        ValueError,
        "alpha=nan to be a number",
    ),
    "preset=[]": (
        lambda: dpb.DPKLUCB(arms=2, epsilon=1, preset=[]),
        ValueError,
        r"preset=\[\] to be one of 'default'",
    ),
    "low": (
        lambda: dpb.NAS(alpha=0.1, beta=0.1, cap=9, low="-1e99999999"),
        ValueError,
        "low='-1e99999999' to be a finite number",
    ),
    "high": (
        lambda: dpb.NAS(alpha=0.1, beta=0.1, cap=9, high="1e99999999"),
        ValueError,
        "high='1e99999999' to be a finite number",
    ),
    "low beyond use": (
        lambda: dpb.NAS(alpha=0.1, beta=0.1, cap=9, low=-HUGE),
        ValueError,
        "low to be a number from -1e100",
    ),
    "vector": (
        lambda: dpb.LinearMatroid([["1e99999999"]]),
        ValueError,
        "to be a number of at most 100 digits",
    ),
    "epsilon over many levels": (
        lambda: dpb.TreeFTRL(actions=10**6, epsilon=1e-5, horizon=100),
        ValueError,
        r"epsilon >= 0.0009 for grid=1024 .* got 1e-05. Use a coarser grid or a larger budget",
    ),
    "epsilon over many arms": (
        lambda: dpb.CUCBLDP1(problem=dpb.TopK(arms=10**6, k=10**6), epsilon=1e-5),
        ValueError,
        "Use a coarser grid or a larger budget",
    ),
    # environments
    "Bernoulli('abc')": (
        lambda: dpb.Bernoulli("abc"),
        ValueError,
        "means to be numbers, .* got 'abc'; for example",
    ),
    "Bernoulli(['0.5'])": (
        lambda: dpb.Bernoulli(["0.5"]),
        ValueError,
        r"got \['0.5'\]. Leave the quotes out",
    ),
    "Bernoulli([nan])": (lambda: dpb.Bernoulli([NAN]), ValueError, "entry 0 is nan"),
    "Bernoulli([])": (
        lambda: dpb.Bernoulli([]),
        ValueError,
        r"at least one number, such as \[0.5, 0.4\]",
    ),
    "Bernoulli(0.5)": (lambda: dpb.Bernoulli(0.5), ValueError, r"such as \[0.5, 0.4\]"),
    "Bernoulli of rows": (lambda: dpb.Bernoulli([[0.5, 0.4]]), ValueError, r"got shape \(1, 2\)"),
    "Bernoulli of ragged rows": (
        lambda: dpb.Bernoulli([[0.5], [0.4, 0.3]]),
        ValueError,
        "All rows need the same length",
    ),
    "Bernoulli([True, False])": (
        lambda: dpb.Bernoulli([True, False]),
        ValueError,
        "means to be numbers",
    ),
    "Bernoulli(None)": (lambda: dpb.Bernoulli(None), ValueError, "got None; for example"),
    "Bernoulli({.5})": (lambda: dpb.Bernoulli({0.5}), ValueError, "means to be numbers, in a list"),
    "Uniform('a', [1])": (lambda: dpb.Uniform("a", [1]), ValueError, "low to be numbers"),
    "Beta(['1'], [1])": (lambda: dpb.Beta(["1"], [1]), ValueError, "a to be numbers"),
    "Categorical": (
        lambda: dpb.Categorical([0, 1], [["a", "b"]]),
        ValueError,
        "probabilities to be numbers",
    ),
    "Table of words": (
        lambda: dpb.Table([["yes"]]),
        ValueError,
        "rewards to be numbers, .* got an object of type list",
    ),
    "Table(resample=1)": (
        lambda: dpb.Table([[0.5]], resample=1),
        ValueError,
        "resample=1 to be True or False",
    ),
    "LoggedReplay(arms=True)": (
        lambda: dpb.LoggedReplay([0], [1], arms=True),
        ValueError,
        "arms=True",
    ),
    "ragged actions": (
        lambda: dpb.LoggedReplay([[0], [0, 1]], [1, 1], arms=2),
        ValueError,
        "lists of unequal length",
    ),
    "gap(-1)": (lambda: COINS.gap(-1), ValueError, "action=-1 to be a whole number from 0 to 1"),
    # simulation and theory
    "a class for a policy": (
        lambda: dpb.simulate(dpb.DPKLUCB, COINS, 10),
        TypeError,
        r"the class DPKLUCB itself. Make one first",
    ),
    "a class for coins": (
        lambda: dpb.simulate(POLICY, dpb.Bernoulli, 10),
        TypeError,
        "the class Bernoulli itself",
    ),
    "a name for a policy": (
        lambda: dpb.simulate("DPKLUCB", COINS, 10),
        TypeError,
        r"a policy such as dpbandits.DPKLUCB\(arms=5",
    ),
    "swapped": (lambda: dpb.simulate(COINS, POLICY, 10), TypeError, "Expected a policy such as"),
    "identify a class": (
        lambda: dpb.identify(dpb.AdaPTT, COINS),
        TypeError,
        "the class AdaPTT itself",
    ),
    "estimate a class": (
        lambda: dpb.estimate(dpb.DPNAS, [0.5], noise=dpb.SimulatedNoise(1)),
        TypeError,
        "the class DPNAS itself",
    ),
    "quantiles([2])": (
        lambda: runs().quantiles([2]),
        ValueError,
        r"q=\[2\] to be one number in \[0, 1\].*0.99 is the 99 % quantile",
    ),
    "quantiles('a')": (lambda: runs().quantiles("a"), ValueError, "q to be numbers"),
    "regret('abc')": (lambda: runs().regret("abc"), ValueError, "at='abc' to be a list of rounds"),
    "regret([0])": (
        lambda: runs().regret([0]),
        ValueError,
        r"whole numbers from 1 to 10; for example at=\[10\]",
    ),
    "lower_bound(…, 0)": (
        lambda: dpb.lower_bound(POLICY, COINS, 0),
        ValueError,
        "rounds=0 to be a whole number of at least 1",
    ),
    "upper_bound(class)": (
        lambda: dpb.upper_bound(dpb.UCB1, COINS, 9),
        TypeError,
        "the class UCB1 itself",
    ),
    "bounds of other arms": (
        lambda: dpb.lower_bound(POLICY, dpb.Bernoulli([0.5]), 9),
        ValueError,
        "arms=2, the environment has 1",
    ),
    "spent(None)": (lambda: dpb.spent(None), TypeError, "entries of session.ledger, got None"),
    "spent([1])": (lambda: dpb.spent([1]), TypeError, r"entries of session.ledger, got \[1\]"),
    # problems
    "best('abc')": (lambda: UNIFORM.best("abc"), ValueError, "weights to be numbers"),
    "checked(5)": (lambda: UNIFORM.checked(5), ValueError, "action=5 to be a list of arms"),
    "contains(None)": (
        lambda: UNIFORM.contains(None),
        ValueError,
        "action=None to be a list of arms",
    ),
    "value(['a'])": (
        lambda: UNIFORM.value(["a"], [1] * 4),
        ValueError,
        "arm='a' to be a whole number",
    ),
    "independent(5)": (lambda: UNIFORM.independent(5), ValueError, "subset=5 to be a list of arms"),
    "blocks=[1]": (
        lambda: dpb.PartitionMatroid(blocks=[1], capacities=[1]),
        ValueError,
        r"blocks\[0\]=1 to be a list of arms",
    ),
    "capacities=5": (
        lambda: dpb.PartitionMatroid(blocks=[[0]], capacities=5),
        ValueError,
        "capacities=5 to be a list",
    ),
    "sets=5": (
        lambda: dpb.TransversalMatroid(5),
        ValueError,
        "sets=5 to be a list of lists of arms",
    ),
    "vectors=[1]": (
        lambda: dpb.LinearMatroid([1]),
        ValueError,
        r"vectors\[0\]=1 to be a list of numbers",
    ),
    "super_arms=[1]": (
        lambda: dpb.ExplicitSet([1]),
        ValueError,
        r"super_arms\[0\]=1 to be a list of arms",
    ),
    "edges=5": (
        lambda: dpb.GraphicMatroid(5),
        ValueError,
        "edges=5 to be a list of pairs of nodes",
    ),
    "edges=[1]": (
        lambda: dpb.GraphicMatroid([1]),
        ValueError,
        r"edges\[0\]=1 to be a pair of nodes",
    ),
    "costs='no'": (
        lambda: dpb.ExplicitSet([[0]], costs="no"),
        ValueError,
        "costs='no' to be True or False",
    ),
    "k=True": (lambda: dpb.TopK(arms=3, k=True), ValueError, "k=True to be a whole number"),
    "from_data(None)": (
        lambda: dpb.TopK.from_data(None),
        ValueError,
        "data that to_data.. returned",
    ),
    "from_data of less": (
        lambda: dpb.TopK.from_data({"kind": "TopK", "arms": 3}),
        ValueError,
        "TopK to hold k, too",
    ),
    "problem_from_data([])": (
        lambda: problem_from_data([]),
        ValueError,
        "data that to_data.. returned",
    ),
    "oracle=5": (
        lambda: dpb.UserDecisionSet(arms=2, size=1, oracle=5),
        TypeError,
        "oracle=5 to be a function",
    ),
    # the audit
    "audit(arms=True)": (lambda: audited(arms=True), ValueError, "arms=True"),
    "audit(rounds='8')": (
        lambda: audited(rounds="8"),
        ValueError,
        "write rounds=8, without quotes",
    ),
    "audit(seed=-1)": (
        lambda: audited(seed=-1),
        ValueError,
        "seed=-1 to be a whole number of at least 0",
    ),
    "audit(workers=None)": (lambda: audited(workers=None), ValueError, "workers=None"),
    "audit(budget=True)": (
        lambda: audited(budget=True),
        ValueError,
        "budget=True to be a finite number of seconds",
    ),
    "audit(levels=5)": (
        lambda: audited(levels=5),
        ValueError,
        "levels, a list of some of transcript",
    ),
    "audit(levels='transcript')": (
        lambda: audited(levels="transcript"),
        ValueError,
        "For example levels=",
    ),
    "audit(levels=[])": (lambda: audited(levels=[]), ValueError, r"got \[\]. For example"),
    "audit(None)": (
        lambda: dpb.audit(None, levels=["transcript"]),
        TypeError,
        "Expected a policy, a mechanism, a randomizer, a function",
    ),
    # missing values
    "a reward that is NaN": (
        lambda: checked_reward(NAN),
        dpb.RewardError,
        "a missing value .*Expire the decision",
    ),
    "rewards with NaN": (
        lambda: checked_rewards([0.5, NAN], 2),
        dpb.RewardError,
        "entry 1 is NaN, a missing value .*Expire the decision",
    ),
    "a value that is NaN": (
        lambda: scaled_value(NAN, 0, 1),
        dpb.RewardError,
        "Leave missing values out",
    ),
    "a reward too large": (lambda: checked_reward(2), dpb.RewardError, "Rescale it"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_says_what_to_write(case: str) -> None:
    call, error, words = REFUSED[case]
    started = time.process_time()
    with pytest.raises(error, match=words) as caught:
        call()
    assert len(str(caught.value)) < 500, "short enough to be read"
    assert time.process_time() - started < 30, "nothing is tried before it is refused"


def test_a_reward_is_not_shown() -> None:
    for call in (
        lambda: dpb.Table([["0.7314"]]),
        lambda: dpb.LoggedReplay([0], ["0.7314"], arms=1),
        lambda: checked_reward(7.314),
    ):
        with pytest.raises(ValueError, match="Expected") as caught:
            call()
        assert "7314" not in str(caught.value)
        assert "7.314" not in str(caught.value)


WHOLE: dict[str, Callable[[Any], object]] = {
    "arms": lambda n: dpb.UCB1(arms=n).arms,
    "actions": lambda n: dpb.NaiveFTNL(actions=n, epsilon=1).actions,
    "grid": lambda n: dpb.UCB1(arms=2, grid=n).grid,
    "private grid": lambda n: dpb.DPSE(arms=2, epsilon=1, grid=n).grid,
    "steps": lambda n: dpb.Grid(steps=n).steps,
    "horizon": lambda n: dpb.DPUCB(arms=2, epsilon=1, horizon=n).horizon,
    "first": lambda n: dpb.DPKLUCB(arms=2, epsilon=1, first=n).first,
    "first of AdaPTT": lambda n: dpb.AdaPTT(arms=2, epsilon=1, first=n).first,
    "cap": lambda n: dpb.NAS(alpha=0.1, beta=0.1, cap=n).cap,
    "rounds": lambda n: dpb.simulate(POLICY, COINS, n).rounds,
    "runs": lambda n: len(dpb.simulate(POLICY, COINS, 10, runs=n).plays),
    "seed": lambda n: dpb.simulate(POLICY, COINS, 10, seed=n).seed,
    "cap of identify": lambda n: dpb.identify(dpb.AdaPTT(arms=2, epsilon=1), COINS, cap=n).cap,
    "arms of a problem": lambda n: dpb.TopK(arms=n, k=1).arms,
}


@pytest.mark.parametrize("case", WHOLE)
@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8, lambda n: np.array(n)])
def test_whole_numbers_of_any_kind_are_taken_and_kept_plain(
    case: str, kind: Callable[[int], Any]
) -> None:
    found = WHOLE[case](kind(7))
    assert found == 7
    assert type(found) is int


def test_numbers_of_any_kind_are_taken_and_kept_plain() -> None:
    from fractions import Fraction

    for given in (np.float32(2), np.float64(2), Fraction(2), np.int64(2)):
        kept = dpb.DPKLUCB(arms=2, epsilon=1, alpha=given).alpha
        assert kept == 2
        assert type(kept) in (int, float)
    assert dpb.DPKLUCB(arms=2, epsilon=np.float64(0.1)).epsilon == Fraction(1, 10)


def test_an_audit_takes_numpy_numbers() -> None:
    """How far it comes in a budget is the machine's affair, so only a number of runs is judged."""
    given = {"arms": np.int64(2), "seed": np.int64(1), "rounds": np.int32(4)}
    assert audited(**given, runs=np.int64(60), workers=np.int64(1)).passed
    assert [level.level for level in audited(**given, budget=np.float64(1)).levels] == [
        "transcript"
    ]


def test_a_bound_at_one_round_is_a_number() -> None:
    assert dpb.upper_bound(dpb.HybridUCB(arms=2, epsilon=1), COINS, 1) >= 0
