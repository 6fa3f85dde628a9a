"""What a store asks of whoever opens it, or makes a campaign: one key, from the first campaign on,
without which no single person's outcome lies in its database unless its owner said so; secure
noise, or noise that is known to be simulated; and names that can be printed.
"""

import warnings
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.service.server import serving
from dpbandits.service.server.app import Access
from tests.service.conftest import KEY, Open
from tests.service.http.web import POLICY, client_of
from tests.service.timelines import Lite, create, turns
from tests.terminal import in_one, shell

ARMS = dpb.DPKLUCB(arms=["blue", "green"], epsilon=1)
LATE: dict[str, Any] = {"attribution_window": timedelta(days=7), "default": 0}
PARTS = pytest.mark.parametrize("parts", [{}, {"segments": ["DE", "FR"]}], ids=str)


def test_another_class_of_policy_is_refused(make: Open) -> None:
    """Before it takes the place of the right one, of whatever name it is."""
    mine, namesake = (type(name, (dpb.DPKLUCB,), {}) for name in ("Mine", "DPKLUCB"))
    store = make(noise=dpb.SimulatedNoise(1))
    for policy, wrong in ((mine(arms=2, epsilon=1), dpb.DPKLUCB), (ARMS, mine), (ARMS, namesake)):
        campaign = store.create(f"{policy} {wrong}", policy)
        with pytest.raises(ValueError, match="Expected policy= to be"):
            store.open(campaign.name, policy=wrong)
        assert store[campaign.name] is campaign


# One key: two are never at work in one store

OTHER = bytes(32)
REFUSED = "with the key it was made with|without a key, and it cannot be given one"


@pytest.mark.parametrize(("first", "second"), [(KEY, OTHER), (KEY, None), (None, KEY)])
def test_another_key_is_refused(make: Open, tmp_path: Path, first: Any, second: Any) -> None:
    """As a store is opened; one that was opened while it was empty creates nothing."""
    right, wrong = make(key=first), make(key=second)
    turns(create(right), 3)
    witnessed = (tmp_path / "witness").read_bytes()
    with pytest.raises(dpb.StoreError, match=REFUSED):
        create(wrong, name="second")
    with pytest.raises(dpb.StoreError, match=REFUSED):
        wrong["c"].ask()
    assert (tmp_path / "witness").read_bytes() == witnessed
    for name, parts in (("second", {}), ("third", {"segments": ["DE"]})):
        with pytest.raises(dpb.StoreError, match=REFUSED):
            make(key=second)
        assert name not in right
        create(right, name=name, **parts)
    turns(right["second"], 3)
    turns(right["c"], 3)
    assert list(make(key=first)) == ["c", "second", "third"]


def test_a_server_with_another_key_does_not_start(
    lite: Lite, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(lite.open(key=KEY))
    how: dict[str, Any] = {"port": 1, "witness": lite.witness}
    how["ready"] = partial(pytest.fail, "Nothing stood in the way.")
    monkeypatch.setenv("DPBANDITS_KEY", OTHER.hex())
    with pytest.raises(dpb.StoreError, match=REFUSED) as refused:
        serving.serve(f"sqlite:///{lite.file}", **how)
    assert OTHER.hex() not in str(refused.value)
    monkeypatch.setenv("DPBANDITS_KEY", "")
    with pytest.raises(ValueError, match="or not to be set; it is empty"):
        serving.serve(f"sqlite:///{lite.file}", **how)


# Without a key

IN_CLEAR = r"key: with attribution_window=.*in clear.*DPBANDITS_KEY.*unsealed=True. Nothing was cr"


@PARTS
def test_without_a_key_a_window_is_refused_unless_it_is_said(make: Open, parts: Any) -> None:
    """Then the statement says so."""
    with dpb.open_store("memory:") as forgetful:
        forgetful.create("c", ARMS, **LATE, **parts)  # nothing is written anywhere
    store = make(key=None)
    for said in ({}, {"unsealed": False}, {"unsealed": "no"}, {"unsealed": 1}):
        with pytest.raises(ValueError, match=IN_CLEAR):
            store.create("c", ARMS, **LATE, **parts, **said)
    assert list(store) == []
    store.create("sums only", ARMS, **parts)
    how = {**LATE, **parts, "unsealed": True, "key": "a call"}
    campaign = store.create("c", ARMS, **how)
    decision = campaign.ask(segment="DE") if parts else campaign.ask()
    for each in (campaign, make(key=None).create("c", ARMS, **how)):  # made again, it is the same
        assert each.options["unsealed"] == "True"
        warned = "WARNING: the database of this campaign has no key"
        assert warned in in_one(each.statement())
        assert each.tell(decision, 1) == "recorded"


@PARTS
def test_a_campaign_without_a_key_is_warned_of(tmp_path: Path, parts: Any) -> None:
    def store(name: str, **how: Any) -> Any:
        (folder := tmp_path / name).mkdir()
        return Lite(folder).open(**{"key": None, **how})

    with warnings.catch_warnings():
        warnings.simplefilter("error", dpb.PrivacyWarning)
        sealed, simulated = store("a", key=KEY), store("b", noise=dpb.SimulatedNoise(1))
        for quiet in (dpb.open_store("memory:"), sealed, simulated):
            quiet.create("c", ARMS, **parts)
        clear = store("clear")
        with pytest.raises(dpb.PrivacyWarning, match=r"no key.*DPBANDITS_KEY"):
            clear.create("c", ARMS, **parts)
        assert list(clear) == []
        clear.create("c", ARMS, **parts, unsealed=True)
    late = sealed.create("late", ARMS, **LATE, **parts, unsealed=True)
    assert "unsealed" not in late.options
    assert "no key" not in late.statement()


def test_over_http_and_on_the_command_line(lite: Lite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DPBANDITS_KEY", raising=False)
    body = {"name": "c", "policy": POLICY, "attribution_window": 60.0}
    with lite.open(key=None) as store:
        client = client_of(store)
        refused = client.post("/v1/campaigns", json=body)
        assert (refused.status_code, refused.json()["code"]) == (422, "in_clear")
        assert client.post("/v1/campaigns", json={**body, "unsealed": True}).status_code == 201
        assert "no key" in in_one(client.get("/v1/campaigns/c/statement").text)
    place = ["--store", f"sqlite:///{lite.file}", "--witness", str(lite.witness)]
    made = ["campaign", "create", "d", "--arms", "2", "--epsilon", "1", *place, "--options"]
    shell(*made, '{"attribution_window": 60}', code=2)
    shell(*made, '{"attribution_window": 60, "unsealed": true}')
    with lite.open(key=None) as store:
        assert "no key" in store["d"].statement()


# Noise, and names


def test_noise_is_a_known_source_s(store: Any) -> None:
    own = type("Mine", (dpb.SecureNoise,), {})(), type("Sim", (dpb.SimulatedNoise,), {})(1)
    for noise in own:
        with pytest.raises(TypeError, match="noise="):
            store.create("c", ARMS, noise=noise)
    campaign = store.create("c", ARMS, noise=dpb.SecureNoise())
    assert campaign.tell(campaign.ask(), 1) == "recorded"
    assert "secure noise" in str(campaign.guarantee)


def test_a_seed_is_a_whole_number(store: Any) -> None:
    for seed in ("a", True, 1.5):
        with pytest.raises(ValueError, match=f"Expected seed={seed!r}"):
            store.create("c", ARMS, seed=seed)  # type: ignore[arg-type]
    assert list(store) == []


@pytest.mark.parametrize("text", ["a\0b", "a\ud800", "\x1b[2J", "a\nb"])
def test_text_that_cannot_be_printed_is_no_name_and_no_word(make: Open, text: str) -> None:
    """Not every database keeps it, or it would steer a terminal."""
    store, access = make(), Access(make(), open=False)
    assert text not in store
    with pytest.raises(KeyError, match="There is no campaign"):
        store[text]
    for scope in (text, [0.5, 1]):  # rewards in its place
        with pytest.raises(ValueError, match=r"There is no scope ['<][^5]*Make"):
            store.create("c", ARMS, scope=scope)  # type: ignore[arg-type]
    assert list(store) == []
    campaign = create(store)
    before = campaign.summary()
    for call in (lambda: campaign.ask(key=text), lambda: campaign.close(text)):
        with pytest.raises(ValueError, match="can be printed"):
            call()
    assert campaign.summary() == before
    for given in ((text, ["read"]), ("me", ["read"], text)):
        with pytest.raises(ValueError, match=r"No key was made"):
            access.create(*given)
    assert access.keys() == []


def test_an_option_that_is_none_is_not_given(make: Open) -> None:
    """The page would look for holdout people, and show means as those of a declared range."""
    campaign = make().create("c", ARMS, rewards=None, holdout=None, min_share=0.125, seed=1)
    assert campaign.options.keys() == {"policy", "min_share"}
