"""A scope adds up guarantees of one kind: its first campaign fixes the unit, the window of
contributions, trust and noise, and others are refused.
"""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.service.models import Scope
from tests.service.conftest import KEY, Open
from tests.service.http.web import POLICY, client_of, remote
from tests.service.timelines import Lite

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


@pytest.mark.parametrize("more", [{"segments": ["DE", "FR"]}, {"holdout": ".5"}])
def test_a_campaign_with_parts_fixes_the_kind_of_its_parts(make: Open, more: Any) -> None:
    store = make()
    store.scope("all", epsilon=10)
    create(store, "first", **KINDS["weekly"], **more)
    with pytest.raises(ValueError, match="per user and window of 7 days, central trust, secure"):
        create(store, "second", **KINDS["user"], **more)
    create(store, "third", **KINDS["weekly"])
    assert store.scope("all").spent == 2


def test_what_is_fixed_is_shown(make: Open) -> None:
    store = make()
    made = store.scope("all", epsilon=10)
    assert (made.unit, made.window, made.trust, made.noise) == (None,) * 4
    create(store, "first", **KINDS["weekly"])
    shown = Scope(
        name="all",
        epsilon=Fraction(10),
        spent=Fraction(1),
        unit="user",
        window=WEEK,
        trust="central",
        noise="secure",
        taken={"first": Fraction(1)},
    )
    assert make().scope("all") == shown
    client = client_of(store)
    assert remote(client).scope("all") == shown
    said = client.post("/v1/scopes", json={"name": "all"}).json()
    assert said == {
        "name": "all",
        "epsilon": "10",
        "spent": "1",
        "unit": "user",
        "window": 604_800.0,
        "trust": "central",
        "noise": "secure",
        "taken": {"first": "1"},
    }


def test_over_http_another_kind_is_refused() -> None:
    with dpb.open_store("memory:", key=KEY) as store, client_of(store) as client:
        assert client.post("/v1/scopes", json={"name": "all", "epsilon": "9"}).status_code == 201
        body = {"policy": POLICY, "scope": "all"}
        answer = client.post("/v1/campaigns", json={**body, "name": "first"})
        assert answer.status_code == 201, answer.text
        for more in {"simulated_noise": 1}, USER:
            answer = client.post("/v1/campaigns", json={**body, "name": "second", **more})
            assert answer.status_code == 422
            assert "which its first campaign fixed" in answer.json()["detail"]
        assert list(store) == ["first"]


def test_first_campaigns_that_join_at_once(make: Open) -> None:
    """One of them fixes the kind; those of other processes are refused."""
    store = make()
    kinds, scopes = ("round", "user", "weekly"), [f"scope {number}" for number in range(4)]
    for scope in scopes:
        store.scope(scope, epsilon=10)
    begin, started = os.pipe()
    children = list[int]()
    for kind in kinds:
        children.append(os.fork())
        if not children[-1]:
            try:
                own = make()
                os.read(begin, 1)  # they begin together, when the parent says so
                for scope in scopes:
                    with suppress(ValueError):
                        create(own, f"{kind} in {scope}", **KINDS[kind], scope=scope)
            finally:
                os._exit(0)
    os.write(started, b"." * len(kinds))
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * len(kinds)
    os.close(begin)
    os.close(started)
    for scope in scopes:
        assert store.scope(scope).spent == 1
        assert len([name for name in store if name.endswith(scope)]) == 1


def test_a_copy_that_is_put_back_forgets_no_kind(tmp_path: Path) -> None:
    """The witness knows it."""
    lite = Lite(tmp_path)
    with lite.open() as store:
        store.scope("all", epsilon=10)
        copy = lite.copy(tmp_path / "copy.db")
        create(store, "first", **KINDS["user"])
    lite.put_back(copy)
    with lite.open() as store:
        with pytest.raises(ValueError, match="adds up guarantees per user, central"):
            create(store, "second")
        create(store, "third", **KINDS["user"])
        assert store.scope("all").spent == 2
        assert store.scope("all").unit == "user"
