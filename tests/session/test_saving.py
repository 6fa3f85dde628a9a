"""Saved sessions: what they show, how they go on, keys, seals, and classes of the caller's own."""

import contextlib
import json
import math
import sys
from dataclasses import dataclass
from datetime import timedelta
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.checks import examples
from dpbandits.core.inputs import SAVES
from dpbandits.mechanisms import Answer
from dpbandits.mechanisms.base import SeparableDP
from dpbandits.noise import SimulatedNoise
from dpbandits.noise.protocol import Noise
from dpbandits.policies import POLICIES, contextual
from dpbandits.policies.contract import policy_dataclass
from dpbandits.session.decisions import action_from_data, action_to_data
from tests.session.replay import largest_loss
from tests.session.small import (
    begun,
    changed,
    content,
    document,
    first,
    loaded,
    paths,
    play,
    resealed,
    reward_of,
    session,
)

KEY, OTHER, USERS = b"a key of at least sixteen bytes", b"another key of 16 bytes", b"u" * 16
DAY = timedelta(days=1)
TOP = dpb.UniformMatroid(arms=4, rank=2)
SNAPSHOTS = dpb.SecureNoise(fresh=True)
LATE: dict[str, Any] = {"attribution_window": DAY, "clock": lambda: 0.0}
POLICY = dpb.DPKLUCB(arms=2, epsilon=1, first=40)


def secure(noise: Any = None, policy: Any = POLICY, **options: Any) -> Any:
    return begun(policy, noise=noise or dpb.SecureNoise(), seed=1, **options)


def kind_of(found: Any) -> str:
    """The source that a loaded session goes on with."""
    return repr(getattr(found, "_first", found)._vault.noise)


# What a document shows


HIDING = [
    policy
    for policy in (examples(name)[0] for name in POLICIES if name != "TreeFTRL")
    if policy.guarantee is not None and policy.randomizer() is None
]
"""Without TreeFTRL, which adds draws for nothing to its sums by itself."""


@pytest.mark.parametrize("policy", HIDING, ids=lambda policy: policy.name)
def test_nothing_private_is_shown(policy: Any) -> None:
    """By the public part of a save, a repr or a statement, whatever a record was."""

    def play(records: list[float], noise: Noise) -> Any:
        s, shown = dpb.Session(policy, noise=noise, seed=1), list[str]()
        for value in records:
            decision = s.ask()
            s.tell(decision, reward_of(s, decision, value))
            shown += [repr(s), repr(s._vault), repr(s._log), s.statement()]
        return shown, document(s)["public"]

    assert largest_loss(play, [0.0] * 40, [1.0], at=[3, 36], most=99) < math.inf


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
def test_a_key_hides_all_that_is_private(policy: Any, options: Any) -> None:
    """In its length, too. Only where answers count at once is it seen how many came."""
    rails = [None, dpb.Guardrail("harm", limit=0.5)] if policy is POLICY else [None]
    for guardrail in rails:
        lengths = set()
        for answered in ("0", "1", "none", "half") if options is LATE else ("0", "1"):
            s = secure(SimulatedNoise(2), policy, guardrail=guardrail, **options)
            for number, decision in enumerate(s.ask(8)):
                value = float(answered == "1" or (answered == "half" and number % 2))
                if answered != "none" and (answered != "half" or number < 4):
                    s.tell(decision, reward_of(s, decision, value))
            private = json.loads(s.to_json(key=KEY))["private"]
            assert isinstance(private, str)
            lengths.add(len(private))
        assert len(lengths) == 1
    assert len({json.loads(s.to_json(key=KEY))["private"][:20] for _ in range(9)}) == 9


def test_outcomes_of_single_people_are_not_saved_in_clear() -> None:
    """Nor is a session without the key that it had before, unless somebody says so."""
    for segments in (None, ["DE", "FR"]):
        s = secure(segments=segments, **LATE)
        for unsealed in (False, "no", 1):
            with pytest.raises(ValueError, match=r"in clear.*unsealed=True. Nothing was saved"):
                s.to_json(unsealed=unsealed)
        assert first(s).generation == 0
        again = loaded(s, clock=LATE["clock"])
        with pytest.raises(ValueError, match="in clear"):
            again.to_json()
        s = secure(segments=segments)
        s.to_json()
        for each in (s, type(s).from_json(s.to_json(key=KEY), key=KEY)):
            before = first(each).generation
            with pytest.raises(ValueError, match=r"had a key before.*Nothing was saved"):
                each.to_json()
            assert first(each).generation == before
            assert first(loaded(each)).generation > before
    for key in (b"short", "text that is long enough", 7):
        with pytest.raises(ValueError, match="at least 16 bytes") as error:
            session().to_json(key=key)  # type: ignore[arg-type]
        assert str(key) not in str(error.value)


# Going on


NAMES = ["blue", "green", "red"]
ARMS: dict[str, Any] = {"arms": NAMES, "epsilon": 1}
JOINT: dict[str, Any] = {"problem": TOP, "epsilon": 4, "first": 2.0}
LINEAR: dict[str, Any] = {"arms": NAMES, "features": 2}
PLACES = np.random.default_rng(7).uniform(-0.6, 0.6, (300, 2))
PERIODS: dict[str, Any] = {"min_share": 0.1, "period": timedelta(seconds=100)}
PEOPLE: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 2, "user_key": USERS}
GOING_ON: dict[str, tuple[Any, dict[str, Any]]] = {
    "IMED": (dpb.DPRateIMED(**ARMS, first=6), {"assignment": "shuffled"}),
    "posterior draws": (dpb.LazyDPTS(**ARMS), {}),
    "reports": (dpb.LDPKLUCB(**ARMS), {}),
    "top two": (dpb.AdaPTT(arms=3, epsilon=4, delta=0.1, first=6), {}),
    "joint": (dpb.DPJointMAT(**JOINT), {}),
    "periods": (dpb.DPRateIMED(**ARMS), PERIODS),
    "periods, late": (dpb.DPRateIMED(**ARMS), {**PERIODS, "attribution_window": DAY / 2_000}),
    "people": (dpb.DPKLUCB(**ARMS, first=6), {**PEOPLE, "sticky": True, **PERIODS}),
    "first contexts": (dpb.DPLinTS(**LINEAR, epsilon=4, first=6), {}),
    "shaped, late": (dpb.DPLinTS(**LINEAR, rho=4, first=700, release="shaped"), {}),
    "LinUCB": (dpb.LinUCB(arms=NAMES, features=["p", "q"], alpha=1.2), {}),
    "DPLinUCB": (dpb.DPLinUCB(**LINEAR, rho=1), {}),
}


class Player:
    """Does things to a session, by chance; a third of people are silent."""

    def __init__(self, name: str) -> None:
        policy, options = GOING_ON[name]
        self.rng, self.now, self.waiting = np.random.default_rng(7), 0.0, list[Any]()
        is_timed = {"period", "attribution_window"} & options.keys()
        self.given: dict[str, Any] = {"clock": lambda: self.now} if is_timed else {}
        self.people = "user_key" in options
        noise = SimulatedNoise(3)
        self.s: Any = dpb.Session(policy, noise=noise, seed=3, **options, **self.given)
        self.given |= {"user_key": USERS} if self.people else {}

    def act(self) -> Any:
        kind, u = self.rng.random(), self.rng.random(6)
        self.now += 100.0 if u[5] < 0.02 else 1.0
        if kind < 0.45:
            return self.ask(u)
        if kind < 0.97 and self.waiting:
            decision = self.waiting.pop(0 if u[0] < 0.7 else int(u[1] * len(self.waiting)))
            with contextlib.suppress(dpb.DecisionError):  # its time has passed
                if u[2] < 0.1:
                    self.s.void(decision) if u[2] < 0.05 else self.s.expire(decision)
                else:
                    self.s.tell(decision, reward_of(self.s, decision, float(u[3] < 0.5)))
            return decision
        return self.move(u) if self.s.policy.chooses else None

    def ask(self, u: Any) -> Any:
        how: dict[str, Any] = {"user": int(40 * u[4])} if self.people else {}
        if self.s.policy.chooses and u[0] < 0.1:
            how["eligible"] = self.arms("active")[:2]
        count = 3 if u[1] < 0.1 else 1
        if hasattr(self.s.policy, "features"):
            how["context"] = PLACES[self.s.resolved % 250 :][:count]
        made = self.s.ask(count, **how)
        self.waiting += [decision for decision in made if self.rng.random() >= 1 / 3]
        return made

    def arms(self, status: str) -> list[Any]:
        return [name for name, now in self.s.arms if now == status]

    def move(self, u: Any) -> None:
        active, paused = self.arms("active"), self.arms("paused")
        if u[0] < 0.2 and len(self.s.arms) < 6:
            self.s.add_arm(f"new {len(self.s.arms)}")
        elif u[0] < 0.5 and len(active) > 1:
            self.s.pause_arm(active[int(u[1] * len(active))])
        elif u[0] < 0.8 and paused:
            self.s.resume_arm(paused[0])
        elif len(active) > 2:
            self.s.retire_arm(active[0])


@pytest.mark.parametrize("name", GOING_ON)
def test_a_session_that_is_saved_at_any_time_goes_on_as_it_would_have(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With void and expired decisions, eligible arms, and arms that come and go."""
    monkeypatch.setattr(contextual, "PILOT", 12)
    whole, broken = Player(name), Player(name)
    for step in range(300):
        assert whole.act() == broken.act(), step
        if step % 11 == 0:
            assert broken.s.alarms == whole.s.alarms
            broken.s = dpb.Session.from_json(broken.s.to_json(key=KEY), key=KEY, **broken.given)
    assert broken.s.events == whole.s.events
    assert content(broken.s) == content(whole.s)
    assert whole.s.releases > 0 or name == "shaped, late"
    overdue = content(whole.s)["public"]["overdue"]
    assert GOING_ON[name][1] or "features" in vars(whole.s.policy) or overdue[1] > 0


def test_continuations_of_one_copy_never_share_a_draw() -> None:
    """Told different rewards, the difference of one draw would be the sums' own, exactly."""
    s = secure(policy=dpb.AnytimeLazyUCB(arms=1, epsilon=1, grid=1))
    s.tell(s.ask(), 1.0)
    data = document(s)
    assert data["private"]["noise"] == {"kind": "secure"}
    differences = set()
    for _ in range(12):
        totals = []
        for reward in (0.0, 1.0):
            again = loaded(data)
            play(again, 2, reward)
            totals.append(again.state.totals[0])
        differences.add(totals[1] - totals[0])
    # with shared draws always 2; all equal by chance with probability below 1e-6
    assert len(differences) > 1


def test_each_save_has_the_next_number() -> None:
    s = session()
    numbers = [document(s)["public"]["generation"] for _ in range(2)]
    again = loaded(s)
    assert [*numbers, again.generation, document(again)["public"]["generation"]] == [1, 2, 3, 4]
    last = loaded(loaded(changed(document(s), "public.generation", SAVES - 1)))
    assert last.generation == SAVES
    with pytest.raises(ValueError, match="saves of one session"):
        last.to_json()
    assert last.generation == SAVES


# Keys, and the noise that a document without one does not choose


def edited_everywhere(data: dict[str, Any], *values: Any) -> Any:
    for path in paths(data):
        for value in values if path and path != ("seal",) else ():
            found = changed(data, path, value)
            if found != data:
                yield found


def test_actions_come_back_as_they_were() -> None:
    """And as documents of earlier versions have them, with the arms of a sparse super arm in eight
    bytes each.
    """
    for action in (0, 300, (0, 2, 5), (2, 0), (1, 1), (7,), (3, 900), (0.25, 0.75), (1.0, 0.0)):
        assert action_from_data(action_to_data(action)) == action
    assert action_from_data("0125") == (0, 2, 5)
    assert action_to_data(np.array([2, 0, 5])[1]) == 0
    assert action_to_data((np.int64(0), 2, 5)) == "0125"
    assert action_from_data("02" + np.array([3, 900], "<i8").tobytes().hex()) == (3, 900)


def test_what_was_saved_under_a_key_is_loaded_with_it_only() -> None:
    """Each field is edited in turn, and the document sealed by whoever has not the key."""
    s = secure()
    for decision in s.ask(9)[:6]:
        s.tell(decision, 1.0)
    data, plain = json.loads(s.to_json(key=KEY)), document(s)
    private = plain["private"] | {"noise": SimulatedNoise(1).state()}
    forged = data | {"private": private}  # by somebody who makes up what they cannot read
    forged["public"] = data["public"] | {"noise": {"kind": "simulated"}}
    givens: list[Any] = [{"key": KEY}, {"noise": dpb.SecureNoise()}, {}]
    tried = 0
    for of in (data, forged):
        for found in edited_everywhere(of, 0):
            texts = [json.dumps(found), resealed(found)]
            if not isinstance(found["private"], dict):
                texts.append(resealed(found, OTHER))
            for text in texts:
                tried += 1
                for given in givens:
                    with pytest.raises(ValueError) as error:  # noqa: PT011
                        dpb.Session.from_json(text, **given)
                    assert KEY.decode() not in str(error.value)
    assert tried > 500
    for text in (json.dumps(data), resealed(data), resealed(forged), resealed(data, OTHER)):
        for given in ({"noise": dpb.SecureNoise()}, {"noise": SNAPSHOTS}, {}, {"key": OTHER}):
            with pytest.raises(ValueError, match=r"key|noise|damaged"):
                dpb.Session.from_json(text, **given)
    for key, words in ((KEY, "saved without a key"), (None, "saved with a key")):
        text = resealed(plain) if key else json.dumps(data)
        with pytest.raises(ValueError, match=words):
            dpb.Session.from_json(text, noise=dpb.SecureNoise(), key=key)


def test_an_edit_breaks_the_checksum() -> None:
    """Whatever is edited, and a name that is there twice: of it readers take this one or that."""
    s = secure()
    for decision in s.ask(9)[:6]:
        s.tell(decision, 1.0)
    data, number = document(s), 0
    assert loaded(json.dumps(data)).spent == 0
    head = {"format": data["format"], "version": data["version"]}
    for found in edited_everywhere(data, None, 0, "x", [], {}):
        if found | head != data:
            with pytest.raises(dpb.DamagedSessionError, match=r"changed after it was saved"):
                dpb.Session.from_json(json.dumps(found | head))
            number += 1
    assert number > 200
    for key in (None, KEY):
        text = s.to_json(key=key, unsealed=True)
        for twice in (
            '{"policy": {"class": "forged"}, ' + text[1:],
            text.replace('"unread": 0', '"unread": 1, "unread": 0'),
        ):
            assert twice != text
            with pytest.raises(ValueError, match="has a name twice"):
                dpb.Session.from_json(twice, key=key, noise=dpb.SecureNoise())


@pytest.mark.parametrize("noise", [dpb.SecureNoise(), SNAPSHOTS, SimulatedNoise(3)], ids=repr)
def test_without_a_key_the_noise_has_to_be_said(noise: Any) -> None:
    """Else who can write the document chooses it, and nobody is told."""
    words = r"Expected noise=dpbandits.SecureNoise\(\)"
    for segments in (None, ["DE", "FR"]):
        s = secure(noise, segments=segments)
        with pytest.raises(ValueError, match=words):
            type(s).from_json(s.to_json())
        assert kind_of(type(s).from_json(s.to_json(), noise=noise)) == repr(noise)
        with_key = type(s).from_json(s.to_json(key=KEY), key=KEY)
        assert (kind_of(with_key), repr(with_key)) == (repr(noise), repr(s))
    estimator = dpb.Estimator(dpb.NAS(alpha=0.5, beta=0.1, cap=9), noise=noise)
    with pytest.raises(ValueError, match=words):
        dpb.Estimator.from_json(estimator.to_json())


@pytest.mark.parametrize(
    ("noise", "given"),
    [
        (dpb.SecureNoise(), SimulatedNoise(1)),
        (SimulatedNoise(1), dpb.SecureNoise()),
        (SNAPSHOTS, dpb.SecureNoise()),
    ],
)
def test_no_weaker_noise_is_taken(noise: Any, given: Any) -> None:
    """Though the document was edited to name it everywhere."""
    for key in (None, KEY):
        with pytest.raises(ValueError, match=r"would void|keeps no generator"):
            dpb.Session.from_json(secure(noise).to_json(key=key), key=key, noise=given)
    data = document(secure(SNAPSHOTS))
    simulated = changed(data, "private.noise", SimulatedNoise(1).state())
    simulated["public"]["noise"] = {"kind": "simulated"}
    with pytest.raises(ValueError, match="would void"):
        dpb.Session.from_json(resealed(simulated), noise=SNAPSHOTS)
    kept = changed(data, "private.noise", {"kind": "secure"})
    kept["public"]["noise"] = {"kind": "secure", "fresh": False}
    assert kind_of(dpb.Session.from_json(resealed(kept), noise=SNAPSHOTS)) == repr(SNAPSHOTS)


# Policies and problems of the caller's own: a document names no code


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


def test_a_policy_that_is_given_is_taken_at_a_users_share() -> None:
    """It is given at a user's whole budget, and goes on at that of a round."""
    people = {"privacy_unit": "user", "max_contributions": 3, "user_key": KEY}
    policy = policy_on(epsilon=9)
    s = secure(SimulatedNoise(1), policy, window=DAY, clock=lambda: 5.0, **people)
    played(s, 2, user="ann")
    again = loaded(s, policy=policy, user_key=KEY, clock=lambda: 5.0)
    assert (again.guarantee, again.policy.epsilon) == (s.guarantee, 3)
    assert [again.ask(user="ann").learn for _ in range(2)] == [True, False]
    policy = dpb.AdaCUCB(arms=2, rho=1)
    s = secure(SimulatedNoise(1), policy, **people)
    again = loaded(s, policy=policy, user_key=KEY)
    assert again.policy.rho * 9 == 1
    with pytest.raises(ValueError, match="Expected a session of AdaCUCB"):
        loaded(s, policy=again.policy, user_key=KEY)


class MyPolicy(dpb.DPKLUCB):
    pass


class TopKOfMine(dpb.UniformMatroid):
    pass


TopKOfMine.__name__ = "TopK"  # the name of another one in the table

PUBLISHED, OWN = (each(arms=2, epsilon=1) for each in (dpb.DPKLUCB, MyPolicy))
OF_MINE = dpb.LazyCUCB(problem=TopKOfMine(arms=3, rank=2), epsilon=1)
GIVEN: list[tuple[Any, Any, str | None]] = [
    (OWN, None, r"Expected one of the policies .*got 'MyPolicy'.*policy=YourPolicy"),
    (OWN, MyPolicy, None),
    (OWN, OWN, None),
    (OWN, dpb.UCB1, "Expected policy= to be 'MyPolicy' of tests.*; got 'UCB1' of dpbandits"),
    (PUBLISHED, type("DPKLUCB", (dpb.DPKLUCB,), {}), "'DPKLUCB' of dpbandits, .*; got 'DPKLUCB'"),
    (OWN, MyPolicy(arms=3, epsilon=1), r"Expected a session of MyPolicy\(arms=3"),
    (policy_on(), None, r"Expected policy=, .* a UserDecisionSet of 4 arms .*policy="),
    (policy_on(), policy_on(), None),
    (policy_on(), dpb.DPJointCUCB, "Expected policy=, the policy that was saved"),
    (policy_on(), policy_on(size=3), r"of 2 at most; got UserDecisionSet\(arms=4, size=3"),
    (policy_on(), policy_on(arms=5), r"UserDecisionSet of 4 arms .*got UserDecisionSet\(arms=5"),
    (policy_on(), dpb.DPJointCUCB(problem=dpb.TopK(arms=4, k=2), epsilon=4), r"got TopK\(arms=4"),
    (policy_on(), policy_on(epsilon=2), r"Expected a session of DPJointCUCB\(epsilon=Fraction\(2"),
    (policy_on(), policy_on(dpb.DPKLCUCB), "Expected policy= to be .* got 'DPKLCUCB'"),
    (policy_on(), dpb.DPKLUCB(arms=4, epsilon=4), "Expected policy= .*'DPKLUCB'"),
    (OF_MINE, None, r"Expected policy=, .* arms of your own, and a document"),
    (OF_MINE, OF_MINE, None),
]


class InSteps(dpb.DPKLUCB):
    """Keeps something else in its state once it has learned."""

    def update(self, state: Any, plan: Any, release: Any) -> Any:  # type: ignore[misc]
        return super().update(state, plan, release)._replace(t=10**9)


class Dividing(dpb.DPKLUCB):
    def update(self, state: Any, plan: Any, release: Any) -> Any:  # type: ignore[misc]
        return super().update(state, plan, release)._replace(totals=(math.nan,) * 2)


class DividingInContexts(dpb.LinTS):
    def learned_from(self, fit: Any, arm: int, answer: Any) -> Any:
        return super().learned_from(fit, arm, answer)._replace(weighted=(math.nan,))


def test_a_state_of_ones_own_has_any_finite_numbers() -> None:
    """Larger whole numbers than decisions were damage, and NumPy's NaN could not be written."""
    s = secure(SimulatedNoise(1), InSteps(arms=2, epsilon=1, first=2))
    play(s, 3)
    assert loaded(s, policy=InSteps).state == s.state
    s = secure(SimulatedNoise(1), Dividing(arms=2, epsilon=1, first=2))
    play(s, 3)
    with pytest.raises(ValueError, match="Expected a state of Dividing that can be saved: finite"):
        s.to_json()
    s = secure(SimulatedNoise(1), DividingInContexts(arms=2, features=1))
    s.tell(s.ask(context=[0.5]), 1)
    with pytest.raises(ValueError, match="Expected a state of DividingInContexts that can be sav"):
        s.to_json()


@dataclass(frozen=True, kw_only=True)
class Remembering(SeparableDP):
    """Its memory is this once it has answered."""

    kept: Any

    def start(self) -> Any:
        return [0, 0.0, {}]

    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Answer]:
        noisy = noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon)
        return self.kept, Answer(noisy / self.grid.steps, count, 1)


@policy_dataclass
class Remembers(dpb.DPKLUCB):
    kept: ClassVar[Any] = None
    wrong: ClassVar[bool] = False

    def mechanism(self) -> Any:
        return Remembering(epsilon=self.budget, grid=dpb.Grid(steps=self.grid), kept=self.kept)

    def init(self) -> Any:
        if Remembers.wrong:
            raise AssertionError("this is not shown")
        return super().init()


LOST = [[1], [1, 0.5], [1.5, 0.5, {}], [None, 0.5, {}], [1, math.nan, {}], [1, 2.0, {3: 4}], {1: 2}]


@pytest.mark.parametrize("kept", [*LOST, [1, 1j, {}], [np.int64(1), 2, {"3": (4,)}]], ids=repr)
def test_a_memory_that_would_not_be_loaded_is_not_saved(
    kept: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was saved, and refused as damaged, or another one, once it was loaded."""
    monkeypatch.setattr(Remembers, "kept", kept)
    s = secure(SimulatedNoise(1), Remembers(arms=2, epsilon=1, first=2))
    play(s, 5)
    if type(kept) is list and type(kept[0]) is np.int64:
        assert loaded(s, policy=Remembers)._state.books.memory[0] == [1, 2, {"3": [4]}]
        return
    with pytest.raises(ValueError, match="Expected a memory of Remembers's mechanism that can be"):
        s.to_json()


def test_the_line_of_ones_own_that_fails_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    text = secure(SimulatedNoise(1), Remembers(arms=2, epsilon=1)).to_json()
    monkeypatch.setattr(Remembers, "wrong", True)
    with pytest.raises(dpb.DamagedSessionError, match=r"Assert.* in test_saving.py, line \d+\)"):
        loaded(text, policy=Remembers)


@policy_dataclass
class Extra(dpb.DPKLUCB):
    extra: Any = None


@pytest.mark.parametrize("extra", [{1}, {1: 2}, np.arange(2), math.nan, DAY, max])
def test_hyper_parameters_of_ones_own_are_what_json_has(extra: Any) -> None:
    """A store wrote some of them as something else, and NaN as nothing."""
    policy, words = Extra(arms=2, epsilon=1, extra=extra), "Expected extra=.* to be finite numbers"
    with pytest.raises(TypeError, match=words):
        secure(SimulatedNoise(1), policy).to_json()
    with pytest.raises(TypeError, match=words):
        dpb.open_store("memory:", noise=SimulatedNoise(1)).create("c", policy)
    kept = Extra(arms=2, epsilon=1, extra=[np.int64(1), {"a": np.float64(0.5)}])
    s = secure(SimulatedNoise(1), kept)
    assert loaded(s, policy=Extra).policy == kept


def test_a_policy_of_ones_own_is_loaded_with_itself_and_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for policy, given, words in GIVEN:
        s = secure(SimulatedNoise(1), policy)
        play(s, 3)
        if words is None:
            assert content(loaded(s, policy=given)) == content(s)
            continue
        with pytest.raises(ValueError, match=words):
            loaded(s, policy=given)
    module: Any = ModuleType("lookalike")  # its class used to take the policy's place
    module.DPKLUCB = type("DPKLUCB", (dpb.DPKLUCB,), {})
    monkeypatch.setitem(sys.modules, "lookalike", module)
    words = r"If it is a policy of your own, give its class: Session.from_json\(text, .*store\.open"
    with pytest.raises(ValueError, match=words):
        loaded(changed(document(secure()), "policy.module", "lookalike"))
    data = document(secure(SimulatedNoise(1), policy_on()))
    for wrong in (False, None, 1, [], {}):
        for path in ("policy.problem.own", "policy.problem.arms"):
            for given in (policy_on(), None):
                with pytest.raises(ValueError, match="Expected"):
                    loaded(changed(data, path, wrong), policy=given)
