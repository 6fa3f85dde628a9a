"""Damaged documents: whatever a part is replaced by, a clear ValueError at loading that shows
nothing private, or no harm.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.core.plan import EVERY
from dpbandits.noise import SimulatedNoise
from dpbandits.policies import CUCBDP, DPKLUCB, DPTSMAT, RNMFTNL, HybridUCB, TreeFTRL
from tests.session.small import loaded, resealed

TOP = dpb.TopK(arms=4, k=2)
SECRET = 126 / 1024


def played(policy: Any, rounds: int = 14) -> dict[str, Any]:
    s = dpb.Session(policy, noise=SimulatedNoise(1), seed=1)
    s.ask()
    for _ in range(rounds):
        d = s.ask()
        s.tell(
            d,
            SECRET
            if policy.about.feedback == "bandit"
            else [SECRET] * len(d.observe or range(policy.arms)),
        )
    return json.loads(s.to_json())  # type: ignore[no-any-return]


POLICIES = [
    DPKLUCB(arms=3, epsilon=1, first=4),
    DPTSMAT(problem=TOP, epsilon=1),
    CUCBDP(problem=TOP, epsilon=1, horizon=100),
    HybridUCB(arms=2, epsilon=1),
    TreeFTRL(actions=3, epsilon=1, horizon=100),
]


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from paths(value[key], (*path, key))


def changed(data: dict[str, Any], path: tuple[Any, ...], value: Any) -> str:
    """The document with another value there; `...` takes it away."""
    data = copy.deepcopy(data)
    parent: Any = data
    for key in path[:-1]:
        parent = parent[key]
    if value is ...:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return resealed(data)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_no_damage_raises_anything_but_a_value_error(policy: Any) -> None:
    """Every part in turn is left out, or replaced by what does not belong there."""
    data = played(policy)
    for path in paths(data):
        if path and "generator" not in path and path[1:2] != ("rng",):
            for value in (..., None, "x", -1, 1.5, [], {}, 10**30):
                said = complaint(changed(data, path, value))
                assert path[0] != "private" or str(round(SECRET * 1024)) not in said


def complaint(text: str) -> str:
    """What loading says; nothing if it succeeds. Errors of any other kind pass through."""
    try:
        dpb.Session.from_json(text)
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("path", "value", "what"),
    [
        ("public", 5, "public is not an object"),
        ("public.vault", None, "vault is not an object"),
        ("public.vault.ledger", ..., "lacks ledger"),
        ("public.vault.ledger.lines", [], "do not add up to its clocks"),
        ("public.vault.ledger.lines.0.3", None, "another cost"),
        ("public.vault.ledger.lines.0.3", "1000", "another cost"),
        ("public.vault.ledger.lines.0.1", 4, "vault.ledger"),
        ("public.vault.ledger.clocks.0.1", 0, "does not fit its clock"),
        ("public.vault.ledger.releases", 7, "not as many releases"),
        ("public.vault.counts.0", -1, "counts"),
        ("public.vault.counts.0", 9, "do not add up"),
        ("public.pending", None, "pending is not a list"),
        ("public.pending", [], "do not add up"),
        ("public.pending.0.2", 7, "none of this policy's"),
        ("public.pending.0.1", 2, "do not add up"),
        ("public.pending.0.1", 2**62, "a number of pending decisions"),
        ("public.told_in_plan", None, "told_in_plan is not a list"),
        ("public.told_in_plan.0.1", 99, "told_in_plan counts more"),
        ("public.asked", -1, "asked"),
        ("public.lost", None, "lost"),
        ("public.lost", 1, "do not add up"),
        ("public.generation", 0, "generation"),
        ("public.campaign", "", "campaign"),
        ("public.noise", "secure", "different kinds of noise"),
        ("public.noise", {"kind": "secure", "pool": True}, "different kinds of noise"),
        ("public.generation", 2**62, "generation"),
        ("public.vault.ledger.dropped", [[0, 1]], "DPKLUCB never does"),
        ("public.vault.ledger.clocks.0.0", 3, "a coordinate that this policy does not have"),
        ("public.vault.ledger.clocks.0.0", EVERY, "a coordinate that this policy does not have"),
        ("public.max_pending", 10**9, "max_pending"),
        ("public.vault.records", 15, "do not add up"),
        ("public.vault.turns", 7, "do not add up"),
        ("public.step", 1.5, "step"),
        ("public.seed", None, "lacks seed in private"),
        ("public.default", None, "default=None"),
        ("public.rng", {"x": 1}, "rng"),
        ("public.plan_finished", 5, "plan_finished is not a list"),
        ("public.plan_finished", [0], "plan_finished does not fit"),
        ("public.state", {}, "state does not fit"),
        ("public.state.0", None, "state does not fit"),
        ("public.state.1.0", None, "state does not fit"),
        ("public.state.1.0", -4, "state does not fit"),
        ("policy.arms", ..., "parameters of DPKLUCB"),
        (
            "policy.arms",
            10**30,
            "arms=1000000000000000000000000000000 to be a whole number from 1 to 10_000_000",
        ),
        ("private", [], "private is not an object"),
        ("private.sums", None, "sums is not a list"),
        ("private.sums.0", -1, "not shown"),
        ("private.sums.0", 10**6, "not shown"),
        ("private.sums.0", None, "not shown"),
        ("private.memory", [], "memory"),
        ("private.memory.0", None, "memory"),
        ("private.memory.0.1", "x", "memory"),
        ("private.noise", {}, "noise is of no known kind"),
        ("private.noise.kind", "loud", "noise is of no known kind"),
        ("private.noise.seed", [], "position of its simulated noise"),
        ("private.noise.generator", {}, "position of its simulated noise"),
    ],
)
def test_the_damaged_part_is_named(path: str, value: Any, what: str) -> None:
    keys = tuple(int(key) if key.isdigit() else key for key in path.split("."))
    with pytest.raises(ValueError, match=what):
        dpb.Session.from_json(changed(played(POLICIES[0]), keys, value))


class Silent(SimulatedNoise):
    def laplace(self, value: int, **kwargs: Any) -> int:
        raise OSError("no randomness")


def test_a_release_that_is_due_is_not_forgotten() -> None:
    s = dpb.Session(DPKLUCB(arms=3, epsilon=1, first=4), noise=Silent(1), seed=1)
    for _ in range(3):
        s.tell(s.ask(), 1.0)
    with pytest.raises(OSError, match="no randomness"):
        s.tell(s.ask(), 1.0)
    data = json.loads(s.to_json())
    assert data["public"]["plan_finished"] == [0]
    again = loaded(resealed(data))
    assert (again.ask().action, again.releases) == (1, 1)
    with pytest.raises(ValueError, match="plan_finished does not fit"):
        dpb.Session.from_json(changed(data, ("public", "plan_finished"), None))


class OwnSet(dpb.DecisionSet):
    def __init__(self) -> None:
        self.arms, self.size = 2, 1

    def parameters(self) -> dict[str, Any]:
        return {}

    def _best(self, weights: Any) -> tuple[int, ...]:
        return (int(weights.argmax()),)

    def _contains(self, action: Any) -> bool:
        return len(action) == 1


class TopKOfMine(dpb.UniformMatroid):
    pass


TopKOfMine.__name__ = "TopK"  # the name of another one in the table


@pytest.mark.parametrize(
    "problem", [OwnSet(), TopKOfMine(arms=3, rank=2)], ids=["own", "same name"]
)
def test_a_set_that_no_table_makes_again_has_to_be_given(problem: Any) -> None:
    policy = dpb.LazyCUCB(problem=problem, epsilon=1)
    text = dpb.Session(policy, noise=SimulatedNoise(1)).to_json()
    with pytest.raises(ValueError, match=r"Expected policy=, .* arms of your own, and a document"):
        dpb.Session.from_json(text)
    again: Any = loaded(text, policy=policy)
    assert again.policy.problem is problem


@pytest.mark.parametrize("epoch", [10**9, 10**30, 2**62])
def test_epochs_that_were_never_played_are_refused(epoch: int) -> None:
    """2 to their power would be the rounds of the next plan."""
    s = dpb.Session(RNMFTNL(actions=2, epsilon=1), noise=SimulatedNoise(1), seed=1)
    for _ in range(4):
        s.tell(s.ask(), [1.0, 0.0])
    data = json.loads(s.to_json())
    data["public"]["state"][1] = epoch
    with pytest.raises(ValueError, match="state does not fit"):
        dpb.Session.from_json(resealed(data))


@pytest.mark.parametrize("arms", [["1/3", 1], [True, 0], [None, 1], [[0], 1], "01"])
def test_a_state_of_other_things_is_refused(arms: Any) -> None:
    """It loaded, and the session refused every release from then on."""
    data = json.loads(
        dpb.Session(
            dpb.DPSE(arms=2, epsilon=1, beta=0.1), noise=SimulatedNoise(1), seed=1
        ).to_json()
    )
    data["public"]["state"][0] = arms
    with pytest.raises(ValueError, match=r"public.state does not fit DPSE"):
        dpb.Session.from_json(resealed(data))
