"""Numbers that a policy cannot have."""

from __future__ import annotations

import dpbandits as dpb
from dpbandits.checks import check_policy
from tests.core.refused.parts import (
    COINS,
    HUGE,
    NAN,
    POLICY,
    RULE,
    Refusals,
)

NUMBERS: Refusals = {
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
}
