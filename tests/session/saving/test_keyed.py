"""Sessions that are saved under a key: nobody without it reads their private part, loads them, or
has them go on with weaker noise; and what a document without a key is not believed.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.noise import SimulatedNoise
from tests.session.small import resealed

KEY = b"a key of at least sixteen bytes"
SNAPSHOTS = dpb.SecureNoise(pool=False)
LATE: dict[str, Any] = {"attribution_window": timedelta(days=1), "clock": lambda: 0.0}
POLICY = dpb.DPKLUCB(arms=2, epsilon=1, first=40)
TOP = dpb.UniformMatroid(arms=4, rank=2)


def session(noise: Any = None, policy: Any = POLICY, **options: Any) -> Any:
    return dpb.Session(policy, noise=noise or dpb.SecureNoise(), seed=1, **options)


def kind_of(found: Any) -> str:
    """The source that a loaded session goes on with."""
    return repr(getattr(found, "_first", found)._noise)


@pytest.mark.parametrize("options", [{}, {"segments": ["DE", "FR"]}, LATE], ids=str)
@pytest.mark.parametrize("noise", [dpb.SecureNoise(), SNAPSHOTS, SimulatedNoise(3)], ids=repr)
def test_with_its_key_a_session_goes_on_as_it_was(noise: Any, options: Any) -> None:
    s = session(noise, **options)
    where = {"segment": "FR"} if "segments" in options else {}
    waiting = [s.ask(**where) for _ in range(30)]
    for decision in waiting[:20]:
        s.tell(decision, 1.0)
    clock = {"clock": LATE["clock"]} if options is LATE else {}
    text = s.to_json(key=KEY)
    again = type(s).from_json(text, key=KEY, **clock)
    assert kind_of(again) == repr(noise)
    assert again.pending == s.pending
    assert repr(again) == repr(s)
    for each in (s, again):
        each.tell(waiting[25], 0.5)
        assert json.loads(each.to_json(key=KEY))["format"] == json.loads(text)["format"]
    assert [again.ask(**where) for _ in range(60)] == [s.ask(**where) for _ in range(60)]


def numbers_in(text: str) -> list[Any]:
    """All private numbers of a document that has some."""
    data = json.loads(text)
    return [data["private"]] if isinstance(data["private"], dict) else []


@pytest.mark.parametrize(
    "policy",
    [
        POLICY,
        dpb.RNMFTNL(actions=3, epsilon=1),
        dpb.DPJointMAT(problem=TOP, epsilon=1),
        dpb.DPUCB(arms=2, epsilon=1, horizon=1_000),
    ],
    ids=lambda policy: policy.name,
)
@pytest.mark.parametrize("options", [{}, LATE], ids=["at once", "late"])
@pytest.mark.parametrize("guardrail", [None, dpb.Guardrail("harm", limit=0.5)])
def test_a_key_hides_all_that_is_private(policy: Any, options: Any, guardrail: Any) -> None:
    """In its length, too: who answered, and what. Only where each answer counts at once is it seen
    how many came.
    """
    if guardrail is not None and policy is not POLICY:
        pytest.skip("has none")
    lengths = set()
    rewards = ("0", "1", "none") if options is LATE else ("0", "1")
    for answered in (*rewards, "half") if options is LATE else rewards:
        s = session(SimulatedNoise(2), policy, guardrail=guardrail, **options)
        for number, decision in enumerate(s.ask(8)):
            many = len(decision.observe or range(policy.arms))
            value = float(answered == "1" or (answered == "half" and number % 2))
            told: Any = value if policy.about.feedback == "bandit" else [value] * many
            if answered != "none" and (answered != "half" or number < 4):
                s.tell(decision, told if guardrail is None else (value, value))
        text = s.to_json(key=KEY)
        assert not numbers_in(text)
        assert numbers_in(s.to_json(unsealed=True))
        lengths.add(len(json.loads(text)["private"]))
    assert len(lengths) == 1


def test_no_two_documents_are_encrypted_alike() -> None:
    s = session()
    parts = [json.loads(s.to_json(key=KEY))["private"] for _ in range(9)]
    assert len({part[:20] for part in parts}) == 9


def paths(value: Any) -> list[tuple[Any, ...]]:
    """Where everything stands in a document."""
    found: list[tuple[Any, ...]] = [()]
    if isinstance(value, (dict, list)):
        keys = list(value) if isinstance(value, dict) else range(len(value))
        found += [(key, *rest) for key in keys for rest in paths(value[key])]
    return found


def edited(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    copy = json.loads(json.dumps(data))
    at = copy
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return copy


def test_what_was_saved_under_a_key_is_loaded_with_it_only() -> None:
    """Each field is edited in turn, and the document sealed by whoever has not the key."""
    s = session()
    for decision in s.ask(9)[:6]:
        s.tell(decision, 1.0)
    data, plain = json.loads(s.to_json(key=KEY)), json.loads(s.to_json(unsealed=True))
    private = plain["private"] | {"noise": SimulatedNoise(1).state()}
    forged = data | {"private": private}  # by somebody who makes up what they cannot read
    forged["public"] = data["public"] | {"noise": {"kind": "simulated"}}
    tried = 0
    for of in (data, forged):
        for path in paths(of):
            if not path or path == ("seal",):
                continue
            for value in (None, 0, "x", [], {}):
                changed = edited(of, path, value)
                if changed == of:
                    continue
                texts = [json.dumps(changed), resealed(changed)]
                if not isinstance(changed["private"], dict):
                    texts.append(resealed(changed, b"another key of sixteen bytes"))
                for text in texts:
                    tried += 1
                    for given in ({"key": KEY}, {"noise": dpb.SecureNoise()}, {}):
                        with pytest.raises(ValueError) as error:  # noqa: PT011
                            dpb.Session.from_json(text, **given)  # type: ignore[arg-type]
                        assert KEY.decode() not in str(error.value)
    assert tried > 1_000
    for text in (resealed(data), resealed(forged)):
        for given in ({"noise": dpb.SecureNoise()}, {"noise": SNAPSHOTS}, {}):
            with pytest.raises(ValueError):  # noqa: PT011
                dpb.Session.from_json(text, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("noise", [dpb.SecureNoise(), SNAPSHOTS, SimulatedNoise(3)], ids=repr)
@pytest.mark.parametrize("segments", [None, ["DE", "FR"]], ids=str)
def test_without_a_key_the_noise_has_to_be_said(noise: Any, segments: Any) -> None:
    """Else who can write the document chooses it, and nobody is told."""
    s = session(noise, segments=segments)
    text = s.to_json()
    with pytest.raises(ValueError, match=r"Expected noise=dpbandits.SecureNoise\(\)"):
        type(s).from_json(text)
    assert kind_of(type(s).from_json(text, noise=noise)) == repr(noise)
    estimator = dpb.Estimator(dpb.NAS(alpha=0.5, beta=0.1, cap=9), noise=noise)
    with pytest.raises(ValueError, match=r"Expected noise=dpbandits.SecureNoise\(\)"):
        dpb.Estimator.from_json(estimator.to_json())


@pytest.mark.parametrize(
    ("noise", "given"), [(dpb.SecureNoise(), SimulatedNoise(1)), (SNAPSHOTS, dpb.SecureNoise())]
)
@pytest.mark.parametrize("key", [None, KEY])
def test_no_weaker_noise_is_taken(noise: Any, given: Any, key: Any) -> None:
    text = session(noise).to_json(key=key)
    with pytest.raises(ValueError, match=r"would void|never drawn ahead"):
        dpb.Session.from_json(text, key=key, noise=given)


def test_whoever_says_the_noise_gets_no_other() -> None:
    """Though the document was edited to name another one everywhere."""
    data = json.loads(session(SNAPSHOTS).to_json())
    for state in (SimulatedNoise(1).state(), {"kind": "secure"}):
        data["private"]["noise"] = state
        data["public"]["noise"] = {"kind": "simulated"}
        if state["kind"] == "secure":
            data["public"]["noise"] = {"kind": "secure", "pool": True}
            assert kind_of(dpb.Session.from_json(resealed(data), noise=SNAPSHOTS)) == repr(
                SNAPSHOTS
            )
            continue
        with pytest.raises(ValueError, match="would void"):
            dpb.Session.from_json(resealed(data), noise=SNAPSHOTS)


def test_people_who_come_back_are_known_with_both_keys() -> None:
    users = b"the secret under which they are known"
    s = session(privacy_unit="user", max_contributions=1, user_key=users)
    s.ask(user="anna")
    text = s.to_json(key=KEY)
    with pytest.raises(ValueError, match="user_key="):
        dpb.Session.from_json(text, key=KEY)
    again = dpb.Session.from_json(text, key=KEY, user_key=users)
    assert not again.ask(user="anna").learn
    data = json.loads(s.to_json(unsealed=True))
    data["public"]["people"] = None  # then nobody would count
    with pytest.raises(ValueError, match=r"no user_key=|damaged"):
        dpb.Session.from_json(resealed(data), noise=dpb.SecureNoise(), user_key=users)


@pytest.mark.parametrize("segments", [None, ["DE", "FR"]], ids=str)
def test_a_session_that_had_a_key_is_not_saved_without_it(segments: Any) -> None:
    s = session(segments=segments)
    s.to_json()
    text = s.to_json(key=KEY)
    for each in (s, type(s).from_json(text, key=KEY)):
        before = each.generation
        with pytest.raises(ValueError, match=r"had a key before.*Nothing was saved"):
            each.to_json()
        assert each.generation == before
        assert type(s).from_json(each.to_json(unsealed=True), noise=dpb.SecureNoise())
    with pytest.raises(ValueError, match="at least 16 bytes"):
        s.to_json(key=b"short")


@pytest.mark.parametrize("segments", [None, ["DE", "FR"]], ids=str)
def test_outcomes_of_single_people_are_not_saved_in_clear(segments: Any) -> None:
    s = session(segments=segments, **LATE)
    for unsealed in (False, "no", 1):
        with pytest.raises(ValueError, match=r"in clear.*unsealed=True. Nothing was saved"):
            s.to_json(unsealed=unsealed)
    assert s.generation == 0
    text = s.to_json(unsealed=True)
    again = type(s).from_json(text, noise=dpb.SecureNoise(), clock=LATE["clock"])
    with pytest.raises(ValueError, match="in clear"):
        again.to_json()
