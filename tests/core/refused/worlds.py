"""Environments, simulations and problems that cannot be."""

from __future__ import annotations

import dpbandits as dpb
from dpbandits.oracles import problem_from_data
from tests.core.refused.parts import (
    COINS,
    NAN,
    POLICY,
    UNIFORM,
    Refusals,
    runs,
)

WORLDS: Refusals = {
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
        "TopK to have k, too",
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
}
