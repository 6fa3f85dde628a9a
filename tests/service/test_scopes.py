"""A scope adds up guarantees of one kind, and refuses others and what is beyond its budget."""

from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.service.models import Scope
from tests.service.conftest import Open
from tests.service.http.web import POLICY, client_of, remote
from tests.service.timelines import KEY, Lite, lost_lines, turns

WEEK = timedelta(days=7)
USER = {"privacy_unit": "user", "max_contributions": 2}
KINDS: dict[str, dict[str, Any]] = {
    "round": {},
    "user": USER,
    "weekly": {**USER, "window": WEEK},
    "daily": {**USER, "window": timedelta(days=1)},
    "simulated": {"noise": dpb.SimulatedNoise(1)},
    "simulated user": {**USER, "noise": dpb.SimulatedNoise(1)},
    "local": {"policy": dpb.LDPUCB(arms=2, epsilon=1)},
}
"""Options of campaigns whose guarantees are about different things."""

SAME: dict[str, dict[str, Any]] = {
    "round": {"segments": ["DE", "FR"]},
    "user": {**USER, "max_contributions": 5, "holdout": ".5"},
    "weekly": {**USER, "window": timedelta(hours=168), "segments": ["DE", "FR"]},
}
"""Other options, and guarantees of the same kind."""


def create(store: Any, name: str, **options: Any) -> Any:
    policy = dpb.DPKLUCB(arms=2, epsilon=1)
    how = {"policy": policy, "noise": dpb.SecureNoise(), "scope": "all", **options}
    return store.create(name, **how)


def test_campaigns_of_another_kind_are_refused(make: Open) -> None:
    store = make()
    for first, options in KINDS.items():
        store.scope(first, epsilon=10)
        create(store, first, **options, scope=first)
        for other in KINDS.keys() - {first}:
            for more in {}, {"segments": ["DE", "FR"]}, {"holdout": ".5"}:
                if other == "local" and "holdout" in more:
                    continue  # is refused for itself
                with pytest.raises(ValueError, match=r"campaign fixed.*Nothing was created"):
                    create(store, "other", **KINDS[other], **more, scope=first)
        assert make().scope(first).spent == 1
        create(make(), f"same as {first}", **SAME.get(first, options), scope=first)
        assert store.scope(first).spent == 2
    assert list(store) == [name for first in KINDS for name in (first, f"same as {first}")]


def test_what_is_fixed_is_shown(make: Open) -> None:
    store = make()
    with pytest.raises(ValueError, match="scope"):
        remote(client_of(store)).scope("all")  # a new one needs a budget
    made = remote(client_of(store)).scope("all", epsilon=Fraction(20, 2))
    assert (made.unit, made.window, made.trust, made.noise) == (None,) * 4
    create(store, "first", **KINDS["weekly"])
    create(store, "second", **KINDS["weekly"])
    store.scope("less", epsilon="1/2")
    create(store, "apart", scope=None)
    fixed: Any = {"unit": "user", "window": WEEK, "trust": "central", "noise": "secure"}
    taken = {"first": Fraction(1), "second": Fraction(1)}
    shown = Scope(name="all", epsilon=Fraction(10), spent=Fraction(2), taken=taken, **fixed)
    client = client_of(store)
    for each in (store, make(), remote(client)):
        assert each.scope("all") == shown
        assert [scope.name for scope in each.scopes()] == ["all", "less"]
        assert each.scopes()[0] == shown
    said = client.post("/v1/scopes", json={"name": "all"}).json()
    sent = {"name": "all", "epsilon": "10", "spent": "2", "taken": {"first": "1", "second": "1"}}
    assert said == {**fixed, **sent, "window": 604_800.0}
    body = {"policy": POLICY, "name": "third"}
    for scope, code in {"all": "scope_kind", "less": "scope_spent"}.items():
        answer = client.post("/v1/campaigns", json={**body, "scope": scope})
        assert answer.json()["code"] == code
    assert "third" not in store
    with pytest.raises(ValueError, match="has a budget of 10; it stays as it is"):
        store.scope("all", epsilon=11)


@pytest.mark.parametrize(
    ("epsilon", "options", "refused"), [(1, {}, "would take 1 more"), (10, USER, "campaign fixed")]
)
def test_campaigns_that_join_at_once(
    make: Open, epsilon: int, options: dict[str, Any], refused: str
) -> None:
    """Both have looked at the scope before one of them is written."""
    store, other = make(), make()
    store.scope("all", epsilon=epsilon)
    inner: Any = store.database.create

    def late(*given: Any) -> Any:
        del store.database.create
        create(other, "first")
        return inner(*given)

    store.database.create = late
    with pytest.raises(ValueError, match=refused):
        create(store, "second", **options)
    assert list(other) == ["first"]
    assert other.scope("all").spent == 1


def test_a_copy_that_is_put_back_forgets_nothing(lite: Lite) -> None:
    """The witness knows the kind, and what a campaign took that is lost."""
    with lite.open() as store:
        store.scope("all", epsilon=10)
        copy = lite.copy()
        create(store, "first", **KINDS["user"])
    lite.put_back(copy)
    with lite.open() as store:
        (found,) = store.scopes()
        assert (found.spent, found.taken, found.left, found.unit) == (1, {}, 9, "user")
        with pytest.raises(ValueError, match="adds up guarantees per user, central"):
            create(store, "second")
        create(store, "third", **KINDS["user"])
        assert store.scope("all").spent == 2


def test_copies_that_join_at_once_do_not_spend_twice(lite: Lite) -> None:
    """Both have looked at the witness before one of them writes there."""
    with lite.open() as store:
        store.scope("all", epsilon=1)
        copy = f"sqlite:///{lite.copy()}"
        with dpb.open_store(copy, key=KEY, witness=lite.witness) as other:
            witnessed: Any = store.witness.add

            def late(*given: Any) -> None:
                create(other, "second")
                witnessed(*given)

            store.witness.add = late
            with pytest.raises(dpb.WitnessError, match="two copies of one database"):
                create(store, "first")
            assert (list(store), list(other), store.scope("all").spent) == ([], ["second"], 1)


@pytest.mark.parametrize("options", [{}, *SAME.values()], ids=str)
def test_a_creation_that_is_cut_off_takes_its_share_once(
    make: Open, options: dict[str, Any]
) -> None:
    """Made again alike it is the same campaign; another one pays for itself."""
    store = make()
    store.scope("all", epsilon=1)
    witnessed: Any = store.witness.add

    def cut(*given: Any) -> None:
        witnessed(*given)
        raise KeyboardInterrupt

    store.witness.add = cut
    with pytest.raises(KeyboardInterrupt):
        create(store, "first", **options)
    assert (list(store), make().scope("all").spent) == ([], 1)
    for other in {"name": "second"}, {"min_share": 0.1}, {"noise": dpb.SimulatedNoise(1)}:
        with pytest.raises(ValueError, match=r"would take 1 more|campaign fixed"):
            create(make(), **{"name": "first", **options, **other})
    create(make(), "first", **options)
    assert (list(store), store.scope("all").spent) == (["first"], 1)


def test_a_campaign_that_a_copy_lacks_takes_its_share_once(lite: Lite) -> None:
    """What it may have read is given up."""
    with lite.open() as store:
        store.scope("all", epsilon=1)
        copy = lite.copy()
        lost = turns(create(store, "first"), 100)
    lite.put_back(copy)
    with lite.open() as store:
        campaign = create(store, "first")
        assert {*campaign.tell_many([(each, 1) for each in lost])} == {"unknown"}
        turns(campaign, 100)
        assert (store.scope("all").spent, campaign.spent, len(lost_lines(campaign))) == (1, 1, 1)
