"""Mechanism memory of a saved session: what the ledger says was read has to fit it, or a record
could be read, or noise drawn, twice.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import (
    AboveThreshold,
    BinaryTree,
    Block,
    EachAction,
    EachArm,
    Exact,
    GaussianBatches,
    Hybrid,
    LazyCumulative,
    LazyForgetful,
    Logarithmic,
    Mechanism,
    NoisyMax,
)
from dpbandits.mechanisms.restored import Readings
from dpbandits.noise import SimulatedNoise
from dpbandits.policies import DPUCB, HybridUCB, PrefixExponential
from tests.session.small import loaded, resealed

ONE, GRID = Fraction(1), Grid(steps=16)
MECHANISMS: dict[str, Mechanism] = {
    "exact": Exact(grid=GRID),
    "newest batch": LazyForgetful(epsilon=ONE, grid=GRID),
    "Gaussian": GaussianBatches(rho=ONE, grid=GRID),
    "running sum": LazyCumulative(epsilon=ONE, grid=GRID),
    "tree": BinaryTree(epsilon=ONE, grid=GRID, leaves=40),
    "padded tree": BinaryTree(epsilon=ONE, grid=GRID, leaves=40, padded=True),
    "logarithmic": Logarithmic(epsilon=ONE, grid=GRID),
    "hybrid, powers": Hybrid(epsilon=ONE, grid=GRID),
    "hybrid, doubling": Hybrid(epsilon=ONE, grid=GRID, segments="doubling"),
    "hybrid with roots": Hybrid(epsilon=ONE, grid=GRID, segments="doubling", root=True),
    "stopping": AboveThreshold(epsilon=ONE, grid=GRID, cap=10**6, bar=lambda count: 40.0),
    "stopping at the cap": AboveThreshold(
        epsilon=ONE, grid=GRID, cap=60, bar=lambda count: 10.0**6
    ),
    "stopping without noise": AboveThreshold(
        epsilon=None, grid=GRID, cap=10**6, bar=lambda count: 30.0
    ),
    "arms": EachArm(inner=Hybrid(epsilon=ONE, grid=GRID), width=2),
    "actions": EachAction(inner=BinaryTree(epsilon=ONE, grid=GRID, leaves=40), actions=1),
}


def histories(mechanism: Mechanism, releases: int = 40) -> Iterator[tuple[Any, Readings]]:
    """Memory after each release of one coordinate, as JSON gives it back, and what the ledger says
    by then.
    """
    rng, noise, memory, rewards = np.random.default_rng(5), SimulatedNoise(2), mechanism.init(1), 0
    yield json.loads(json.dumps(memory)), Readings(0, 0, 0, GRID.steps)
    for release in range(1, releases + 1):
        count = int(rng.integers(1, 4))
        block = Block((0,), (int(rng.integers(0, count * GRID.steps + 1)),), (count,))
        memory, _ = mechanism.answer(memory, block, noise)
        rewards += count
        yield json.loads(json.dumps(memory)), Readings(release, rewards, 0, GRID.steps)


@pytest.mark.parametrize("name", MECHANISMS)
def test_memory_fits_its_own_readings(name: str) -> None:
    for memory, read in histories(MECHANISMS[name]):
        assert MECHANISMS[name].remembers(memory, [read])


@pytest.mark.parametrize("name", MECHANISMS)
def test_memory_of_another_length_is_none(name: str) -> None:
    for memory, read in histories(MECHANISMS[name]):
        assert not MECHANISMS[name].remembers(memory, [read, read])
        assert not MECHANISMS[name].remembers(memory + memory, [read])


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in MECHANISMS
        if "stopping" not in name and name not in ("newest batch", "Gaussian")
    ],
)
def test_older_memory_does_not_fit(name: str) -> None:
    """Memory of an earlier save would have what was read since read again, with the same nodes and
    fresh noise.
    """
    saved = list(histories(MECHANISMS[name]))
    for i, (memory, _) in enumerate(saved):
        assert [MECHANISMS[name].remembers(memory, [read]) for _, read in saved] == [
            i == j for j in range(len(saved))
        ]


def places(value: Any, path: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    yield path
    if isinstance(value, list):
        for at, entry in enumerate(value):
            yield from places(entry, (*path, at))


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize(
    "value", ["abc", 0.5, float("nan"), True, 10**40, -(10**40), [], {}, [[0]]], ids=str
)
def test_what_is_no_number_of_it_fits_nowhere(name: str, value: Any) -> None:
    for memory, read in histories(MECHANISMS[name]):
        for path in places(memory):
            edited: Any = [copy.deepcopy(memory)]
            at = edited
            for step in (0, *path[:-1]) if path else ():
                at = at[step]
            at[path[-1] if path else 0] = value
            assert json.dumps(edited) == json.dumps([memory]) or not MECHANISMS[name].remembers(
                edited[0], [read]
            )


def test_a_noisy_maximum_remembers_nothing() -> None:
    best = NoisyMax(epsilon=ONE)
    assert best.remembers(None, [Readings(3, 3, 0, 1024)] * 2)
    assert not best.remembers([], [Readings(3, 3, 0, 1024)] * 2)


def played(policy: Any, rounds: int) -> dict[str, Any]:
    s = dpb.Session(policy, noise=SimulatedNoise(3), seed=1)
    for _ in range(rounds):
        s.tell(s.ask(), 1.0 if policy.about.feedback == "bandit" else [1.0] * policy.arms)
    return json.loads(s.to_json())  # type: ignore[no-any-return]


RULE = dpb.DPExponentialNAS(alpha=0.5, beta=0.1, cap=10**4, epsilon=1)
TREE, HYBRID = DPUCB(arms=2, epsilon=1, horizon=1000), HybridUCB(arms=2, epsilon=1)


@pytest.mark.parametrize(
    ("policy", "path", "value"),
    [
        (TREE, (0, 0), 0),  # the guard of its length starts again
        (TREE, (0, 1), 0),
        (TREE, (1, 2, 2), -1),
        (TREE, (1, 2, 2), 4097),
        (TREE, (1, 2, 0), 1),
        (TREE, (1, 3, 2), 0.5),
        (TREE, (1, 3, 0), 1),
        (HYBRID, (0, 1), 0),  # a division by zero, later
        (HYBRID, (0, 0), 0),
        (HYBRID, (0, 0), 10**9),
        (HYBRID, (0, 2), 0),
        (HYBRID, (0, 4), 0),
        (RULE, (0, 2), None),  # a threshold drawn afresh
        (RULE, (0, 2), "abc"),
        (RULE, (0, 0), 0),
        (RULE, (0, 1), 10**30),
        (RULE, (0, 3), True),
        (RULE, (0, 3), 0),
        (RULE, (0,), [0, 0, 0, True]),
        (RULE, (0,), [0, 0, None, False]),
    ],
    ids=str,
)
def test_contradicting_memory_is_refused(policy: Any, path: tuple[int, ...], value: Any) -> None:
    data = played(policy, 40)
    loaded(resealed(data))
    at = data["private"]["memory"]
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    with pytest.raises(
        ValueError, match=r"private.memory .*(not shown|whether the rule has halted)"
    ):
        dpb.Session.from_json(resealed(data))


def test_a_rule_that_halted_stays_so() -> None:
    rule = dpb.DPExponentialNAS(alpha=0.5, beta=0.1, cap=10**4, epsilon=10)
    data = played(rule, 3000)
    seen = data["public"]["vault"]["ledger"]["clocks"][0][1]
    assert data["public"]["state"][2] > 0
    assert data["private"]["memory"] == [[0, 0, 0, True]]
    loaded(resealed(data))
    data["private"]["memory"] = [[seen, 0, 5, False]]
    with pytest.raises(ValueError, match="whether the rule has halted"):
        dpb.Session.from_json(resealed(data))


def test_what_is_dropped_was_read_as_often() -> None:
    """Records that are dropped cost nothing: a ledger that says so of all of them says that nothing
    was spent.
    """
    data = played(PrefixExponential(actions=2, epsilon=1), 60)
    ledger = data["public"]["vault"]["ledger"]
    assert ledger["dropped"]
    loaded(resealed(data))
    ledger |= {"dropped": ledger["clocks"], "lines": [], "releases": 0}
    with pytest.raises(ValueError, match="more was dropped than PrefixExponential drops"):
        dpb.Session.from_json(resealed(data))
