"""Why a call is refused: one code for each reason, the same error in Python from near and from
afar, and nothing of what was sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.service.refusals import REASONS
from dpbandits.service.server.access import Access
from tests.places import REPOSITORY
from tests.service.http.web import POLICY, client_of, remote

KEY = bytes(32)
CAMPAIGNS: dict[str, dict[str, Any]] = {
    "trial": {},
    "people": {"privacy_unit": "user", "max_contributions": 1},
    "sides": {"holdout": ".5"},
    "lands": {"segments": ["DE", "FR"]},
    "closed": {},
    "full": {"max_pending": 1},
    "held": {"attribution_window": 60.0, "default": 0},
}

DEEP = b"[" * 100_000
UNKNOWN = "A field is not known here"

CALLS: dict[str, tuple[str, Callable[[Any], object]]] = {
    "no_such_arm": ("trial", lambda c: c.retire_arm("red")),
    "eligible": ("trial", lambda c: c.ask(eligible="blue")),
    "none_in_play": ("trial", lambda c: c.ask(eligible=[])),
    "arm_name": ("trial", lambda c: c.add_arm("blue")),
    "last_arm": ("trial", lambda c: [c.retire_arm(0), c.retire_arm(1)]),
    "arm_retired": ("trial", lambda c: [c.retire_arm(0), c.resume_arm(0)]),
    "mean_stays": ("trial", lambda c: c.restart_arm("green")),
    "count": ("trial", lambda c: c.ask(-1)),
    "context": ("trial", lambda c: c.ask(context=[0.5])),
    "key": ("trial", lambda c: c.ask(key=" ")),
    "key_used": ("trial", lambda c: [c.ask(key="one"), c.ask(2, key="one")]),
    "user_unexpected": ("trial", lambda c: c.ask(user="anna")),
    "user_missing": ("people", lambda c: c.ask()),
    "user": ("people", lambda c: c.ask(user=1.5)),
    "user_empty": ("people", lambda c: c.ask(user=" ")),
    "control_needed": ("sides", lambda c: c.ask(user="anna", eligible=["green"])),
    "control_stays": ("sides", lambda c: c.pause_arm("blue")),
    "side_chosen": ("sides", lambda c: c.ask(user="anna", segment="policy")),
    "no_batches": ("sides", lambda c: c.record("blue", [1.0], key="k")),
    "no_such_segment": ("lands", lambda c: c.ask(segment="ES")),
    "no_segments": ("trial", lambda c: c.ask(segment="DE")),
    "no_people": ("trial", lambda c: c.erase("anna")),
    "no_stopping_rule": ("trial", lambda c: c.finish()),
    "not_recordable": ("people", lambda c: c.record("blue", [1.0], key="k")),
    "outcomes_count": ("trial", lambda c: c.record("blue", [], key="k")),
    "resolved_by_time": ("held", lambda c: c.pending()),
    "no_holdout": ("trial", lambda c: c.uplift()),
    "no_guardrail": ("trial", lambda c: c.harm()),
    "full": ("full", lambda c: c.ask(2)),
    "closed": ("closed", lambda c: [c.close(), c.ask()]),
    "closed_otherwise": ("closed", lambda c: [c.close(), c.close(winner="blue")]),
    "winner_only": ("closed", lambda c: [c.close(winner="blue"), c.ask(eligible=["green"])]),
    "reward_out_of_range": ("trial", lambda c: c.tell(c.ask(), 1.5)),
}


@pytest.mark.parametrize("code", CALLS)
def test_a_refusal_is_the_same_from_near_and_from_afar(code: str) -> None:
    """Of one kind, with one code. Afar its text is fixed, so that it repeats nothing."""
    name, call = CALLS[code]
    found = list[Exception]()
    for is_far in (False, True):
        noise = dpb.SimulatedNoise(1)
        with dpb.open_store("memory:", key=KEY, noise=noise) as store, client_of(store) as client:
            made = {"name": name, "policy": POLICY, **CAMPAIGNS[name]}
            assert client.post("/v1/campaigns", json=made).status_code == 201
            campaign = (remote(client) if is_far else store)[name]
            with pytest.raises((ValueError, TypeError, RuntimeError)) as refused:
                call(campaign)
            found.append(refused.value)
    near, far = found
    assert type(near) is type(far) is REASONS[code].kind
    assert near.code == far.code == code  # type: ignore[attr-defined]
    if near.args != far.args:
        assert str(far) == REASONS[code].text


def test_rewards_are_refused_in_one_way_whatever_they_are() -> None:
    """Which of several checks a reward fails is not said, nor which of several rewards does."""
    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1)) as store:
        client, said = client_of(store), set[str]()
        trial = store.create("trial", dpb.DPKLUCB(arms=2, epsilon=1))
        ids = [each.id for each in trial.ask(2)]
        for wrong in (1.5, -0.25, [0.5, 0.5], [], 10**400, True, "0.731"):
            for rewards in ([wrong, 0.5], [0.5, wrong], [wrong, wrong]):
                body = [{"id": id, "reward": it} for id, it in zip(ids, rewards, strict=True)]
                answer = client.post("/v1/campaigns/trial/tell", json=body)
                assert answer.status_code == 422
                said.add(answer.text)
        for outcomes in ([0.5, 1.5], ["0.731"], [True]):
            record = {"arm": 0, "outcomes": outcomes, "key": "k"}
            said.add(client.post("/v1/campaigns/trial/record", json=record).text)
        assert len(said) == 1
        problem = json.loads(said.pop())
        assert problem["errors"] == []
        assert problem["title"] == "A reward is no number, or out of range"
        assert trial.summary().told == 0


def test_a_new_campaign_is_refused_by_what_is_wrong_with_it() -> None:
    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1)) as store:
        client = client_of(store)

        def refused(**more: Any) -> tuple[str, list[str]]:
            body = {"name": "trial", "policy": POLICY, **more}
            said = client.post("/v1/campaigns", json=body).json()
            return said["code"], [each["where"] for each in said["errors"]]

        assert refused(policy={"name": "Nobody"}) == ("no_such_policy", [])
        assert refused(policy={**POLICY, "epsilon": "0"}) == ("policy", ["epsilon"])
        assert refused(policy={**POLICY, "arms": ["a", "a"]})[0] == "arm_name"
        assert refused(min_share=0.9) == ("option", ["min_share"])
        assert refused(privacy_unit="user", max_contributions=1)[0] == "keyless"
        assert refused(scope="nobody")[0] == "no_such_scope"
        assert list(store) == []


def test_whoever_may_not_call_is_told_nothing_else() -> None:
    """Not what is wrong with their body, either."""
    with dpb.open_store("memory:") as store:
        store.create("trial", dpb.DPKLUCB(arms=2, epsilon=1))
        reader = Access(store.database, open=False).create("reader", ["read"])
        headers = {"content-type": "application/json"}
        for token, status in ((None, 401), (reader, 403)):
            client = client_of(store, open=False, token=token)
            for body in (b"{", b"[1]", b'{"eligible": "blue"}', b'{"kount": 1}', DEEP, b"\xff"):
                answer = client.post("/v1/campaigns/trial/ask", content=body, headers=headers)
                assert answer.status_code == status, body
        mine = Access(store.database, open=False).create("mine", ["ask"])
        client = client_of(store, open=False, token=mine)
        for body in (b"{", DEEP, b"\xff"):
            answer = client.post("/v1/campaigns/trial/ask", content=body, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (422, "not_json")


def test_a_field_that_is_not_known_is_named_if_it_is_like_a_name() -> None:
    """What was sent in its place, or as its name, is not repeated."""
    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1)) as store:
        trial, client = store.create("trial", dpb.DPKLUCB(arms=2, epsilon=1)), client_of(store)
        for name, where in {
            "reason": "reason",
            "privacyUnit": "body",
            "0.7312": "body",
            "a" * 31: "body",
            "reward\n": "body",
        }.items():
            answer = client.post("/v1/campaigns/trial/close", json={name: "done at 0.7312"})
            assert answer.json()["code"] == "shape"
            assert answer.json()["errors"] == [{"where": where, "what": UNKNOWN}]
            assert "7312" not in answer.text
        body = [{"id": trial.ask().id, "reward": 1, "comment": "fine"}]
        answer = client.post("/v1/campaigns/trial/tell", json=body)
        assert answer.json()["errors"] == [{"where": "0.comment", "what": UNKNOWN}]
        assert trial.summary().told == 0


def test_the_guide_lists_every_code_with_its_status() -> None:
    guide = (REPOSITORY / "docs/guides/service.md").read_text(encoding="utf-8")
    listed = dict[str, int]()
    for row in re.findall(r"^\| (\d{3}) \| (.+) \|$", guide, re.MULTILINE):
        listed |= dict.fromkeys(re.findall(r"`(\w+)`", row[1]), int(row[0]))
    assert listed == {code: reason.status for code, reason in REASONS.items()}


def test_every_code_that_is_given_is_known() -> None:
    """In this package a code stands where an error is made."""
    given = set[str]()
    for path in (REPOSITORY / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        given |= set(re.findall(r'\b(?:coded|refusal|code_for)\(\s*"(\w+)"', text))
    assert len(given) > 40
    assert given <= REASONS.keys()
