"""Sessions whose problem is the caller's own: a document names no code, so the policy is given
again, and the session goes on with its oracle.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

import dpbandits as dpb
from tests.session.small import loaded, resealed

KEY = bytes(range(32))


def heaviest(weights: Any) -> Any:
    return weights.argsort()[-2:]


def policy_on(
    kind: Any = dpb.DPJointCUCB, arms: int = 4, size: int = 2, epsilon: Any = 4, **options: Any
) -> Any:
    problem = dpb.UserDecisionSet(arms=arms, size=size, oracle=heaviest)
    return kind(problem=problem, epsilon=epsilon, **options)


def played(s: Any, rounds: int, **user: Any) -> list[Any]:
    """The super arms that were played. Rewards are known by arm."""
    found = []
    for _ in range(rounds):
        decision = s.ask(**user)
        found.append(decision.action)
        if decision.learn:
            s.tell(decision, [(arm + 1) / 5 for arm in decision.observe])
    return found


def session(policy: Any, **options: Any) -> Any:
    return dpb.Session(policy, noise=dpb.SimulatedNoise(1), seed=1, **options)


@pytest.mark.parametrize("at", [0, 3, 100])
@pytest.mark.parametrize(
    "policy", [policy_on(), policy_on(dpb.DPKLCUCB), policy_on(dpb.CUCBDP, horizon=900)], ids=repr
)
def test_it_goes_on_as_it_would_have(policy: Any, at: int) -> None:
    s = session(policy)
    played(s, at)
    waiting = s.ask()
    again = dpb.Session.from_json(s.to_json(key=KEY), key=KEY, policy=policy)
    for each in (s, again):
        each.tell(waiting, [0.5, 0.25])
    assert played(again, 200) == played(s, 200)
    assert (again.state, again.ledger, again.spent) == (s.state, s.ledger, s.spent)


def test_people_who_come_back_are_known() -> None:
    """The policy is given at a user's whole budget, and goes on at that of a round."""
    policy = policy_on(epsilon=9)
    people = {"privacy_unit": "user", "max_contributions": 3, "user_key": KEY}
    s = session(policy, window=timedelta(days=1), clock=lambda: 5.0, **people)
    played(s, 2, user="ann")
    again = loaded(s.to_json(), policy=policy, user_key=KEY, clock=lambda: 5.0)
    assert (again.guarantee, again.policy.epsilon) == (s.guarantee, 3)
    assert [again.ask(user="ann").learn for _ in range(2)] == [True, False]


@pytest.mark.parametrize("apart", [None, 1])
def test_a_policy_that_is_given_is_taken_at_a_users_share(apart: int | None) -> None:
    """Under zCDP the share is smaller where rewards of one user may be read together."""
    policy = dpb.AdaCUCB(arms=2, rho=1)
    people = {"max_contributions": 3, "max_contributions_per_release": apart, "user_key": KEY}
    s = session(policy, privacy_unit="user", **people)
    again: Any = loaded(s.to_json(), policy=policy, user_key=KEY)
    assert again.policy.rho * (9 if apart is None else 3) == 1
    with pytest.raises(ValueError, match="Expected a session of AdaCUCB"):
        dpb.Session.from_json(s.to_json(), policy=again.policy, user_key=KEY)


def test_segments_go_on_too() -> None:
    policy = policy_on()
    s = session(policy, segments=["x", "y"])
    s.tell(s.ask(segment="x"), [1, 0])
    again = loaded(s.to_json(), policy=policy)
    assert again.segments == ("x", "y")
    assert again.ask(segment="x") == s.ask(segment="x")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, r"Expected policy=, .* a UserDecisionSet of 4 arms .*from_json\(text, policy="),
        (dpb.DPJointCUCB, "Expected policy=, the policy that was saved"),
        (policy_on(size=3), r"super arms of 2 at most; got UserDecisionSet\(arms=4, size=3"),
        (policy_on(arms=5), r"UserDecisionSet of 4 arms .*got UserDecisionSet\(arms=5"),
        (dpb.DPJointCUCB(problem=dpb.TopK(arms=4, k=2), epsilon=4), r"got TopK\(arms=4, k=2\)"),
        (policy_on(epsilon=2), r"Expected a session of DPJointCUCB\(epsilon=Fraction\(2, 1\)"),
        (policy_on(dpb.DPKLCUCB), "Expected a session of DPKLCUCB, the policy that was given"),
        (dpb.DPKLUCB(arms=4, epsilon=4), "Expected a session of DPKLUCB"),
    ],
)
def test_another_policy_is_refused(given: Any, said: str) -> None:
    s = session(policy_on())
    played(s, 5)
    with pytest.raises(ValueError, match=said):
        dpb.Session.from_json(s.to_json(), policy=given)


@pytest.mark.parametrize("own", [False, None, 1, [], {}])
@pytest.mark.parametrize("arms", [4, "4", -1, None, [4]])
def test_a_changed_document_makes_no_other_problem(own: Any, arms: Any) -> None:
    document = json.loads(session(policy_on()).to_json())
    document["policy"]["problem"] |= {"own": own, "arms": arms}
    for given in (policy_on(), None):
        with pytest.raises(ValueError, match="Expected"):
            dpb.Session.from_json(resealed(document), policy=given)


def test_a_store_still_refuses_it(tmp_path: Any) -> None:
    """A server opens a campaign by itself, with no code of the caller's."""
    with (
        dpb.open_store(f"sqlite:///{tmp_path / 'a.db'}", witness=tmp_path / "w") as store,
        pytest.raises(TypeError, match=r"a store can name .*got a UserDecisionSet of your own"),
    ):
        store.create("films", policy=policy_on(), noise=dpb.SimulatedNoise(1))
