"""What sessions and their verbs are given: what is refused at once, with nothing changed; and
warnings.
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.mechanisms import EachAction, LazyForgetful
from dpbandits.mechanisms.base import Mechanism
from dpbandits.policies import NaiveFTNL
from dpbandits.session.people import rule_of
from dpbandits.session.times import MOST_COMPARED
from tests.session.small import content, loaded, session

POLICY = dpb.DPKLUCB(arms=2, epsilon=1)
COINS = dpb.DPKLUCB(arms=2, epsilon=1, grid=1)
NAMED = dpb.DPKLUCB(arms=["control", "blue", "green"], epsilon=1)
NOISE = dpb.SimulatedNoise(1)
TOP = dpb.TopK(arms=3, k=2)
JOINT = dpb.DPJointMAT(problem=dpb.UniformMatroid(arms=3, rank=2), epsilon=1)
SUPER_ARMS = dpb.CUCBDP(problem=TOP, epsilon=1, horizon=100)
FULL = dpb.RNMFTNL(actions=2, epsilon=1)
REPORTS = dpb.LDPKLUCB(arms=2, epsilon=1)
CONTEXTS = dpb.DPLinTS(arms=["a", "b"], features=2, epsilon=1)
OWN = dpb.UserDecisionSet(arms=4, size=2, oracle=lambda weights: weights.argsort()[-2:])
OWN_ORACLE = dpb.DPJointCUCB(problem=OWN, epsilon=4)
HIDDEN: Any = dpb.JointDPLinTS(
    arms=2, features=2, epsilon=1, public_contexts=[[0.5, 0.1], [0.1, 0.5]] * 2
)
CANNOT_CHOOSE = [dpb.DPSE(arms=2, epsilon=1, horizon=100), dpb.ThompsonBeta(arms=2)]
DAY = timedelta(days=1)
KEY = bytes(16)
USER: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 1}
SEEDS: list[Any] = [-1, "a", 1.5, True, np.True_, int, 16**200, 10**5000]


class Cheap(dpb.DPKLUCB):
    """Says that it keeps a tenth of what its mechanism promises."""

    @property
    def guarantee(self) -> Any:  # type: ignore[override]
        return replace(self.mechanism().guarantee, epsilon=Fraction(1, 10))  # type: ignore[type-var]


class Lavish(dpb.DPKLUCB):
    """Its mechanism spends a hundred times its budget."""

    def mechanism(self) -> LazyForgetful:  # type: ignore[override]
        return LazyForgetful(epsilon=100 * self.budget)


class Quiet(dpb.DPKLUCB):
    """Says that it is private, and keeps nothing."""

    about: ClassVar[Any] = replace(dpb.DPKLUCB.about, privacy="none")


class Fifty(NaiveFTNL):
    def mechanism(self) -> Mechanism:  # type: ignore[override]
        return EachAction(inner=LazyForgetful(epsilon=self.budget), actions=1)


Calls = list[Callable[[], Any]]


def of(policy: Any = POLICY, **given: Any) -> Callable[[], Any]:
    return lambda: dpb.Session(policy, **{"noise": NOISE, **given})


def options(name: str, *values: Any, policy: Any = POLICY, **given: Any) -> Calls:
    """A session with each of these values of an option."""
    return [of(policy, **given, **{name: value}) for value in values]


def periods(policy: Any = POLICY, **given: Any) -> Callable[[], Any]:
    return of(policy, **{"min_share": 0.01, "period": DAY, **given})


def sticky(policy: Any = POLICY, **given: Any) -> Callable[[], Any]:
    return of(policy, **{**USER, "user_key": KEY, "sticky": True, **given})


def recorded(policy: Any = POLICY, **given: Any) -> Calls:
    """Outcomes of people who were assigned elsewhere, and shares for them."""
    made = of(policy, **given)
    return [lambda: made().record(0, [1.0], key="k"), lambda: made().shares(10)]


REFUSED: dict[str, Calls] = {
    "default": [
        *options("default", 2.0, "0.5", math.nan, 10**400, True, np.True_),
        *options("default", True, False, 70, rewards=dpb.Range(0, 60)),
        *options("default", 6, rewards=dpb.Range(10, 60)),
    ],
    "an end of its range": [  # with grid=1 a default of .3 would enter as 0
        of(COINS, default=0.3),
        of(COINS, default=20, rewards=dpb.Range(0, 60)),
        of(COINS, guardrail=dpb.Guardrail("refunds", limit=0.2, default=0.1)),
    ],
    "seed": [
        *options("seed", *SEEDS),
        *(
            partial(dpb.SegmentedSession, POLICY, noise=NOISE, segments=["a"], seed=seed)
            for seed in SEEDS
        ),
    ],
    "max_pending": options("max_pending", 0, True, 10**8, 1.5),
    "campaign": options("campaign", "", "a" * 201, "line\nbreak", 5),
    "responsible=": options("responsible", "", " ", "a\nb", 7, "a" * 501),
    "segments=": [
        partial(dpb.SegmentedSession, POLICY, noise=NOISE, segments=wrong)
        for wrong in ([], ["DE", "DE"], "DE", [1], [""], 7, ["holdout", "policy"])
    ],
    "guarantee|mechanism|privacy": [
        *(of(made(arms=2, epsilon=1)) for made in (Cheap, Lavish, Quiet)),
        of(Fifty(actions=50, epsilon=1)),
    ],
    "width=None": [
        lambda kind=kind, share=share: kind(arms=2, features=2, width=None, **share)
        for kind, share in (
            (dpb.LinTS, {}),
            (dpb.LinUCB, {}),
            (dpb.DPLinTS, {"epsilon": 1}),
            (dpb.AdaCOFUL, {"rho": 1}),
        )
    ],
    # People who come back
    "max_contributions=": [of(privacy_unit="user"), of(privacy_unit="user", max_contributions=0)],
    "'person'": [of(privacy_unit="person")],
    "privacy_unit='user'": [of(max_contributions=3), of(window=DAY)],
    "window=7": [of(**USER, window=7)],
    "16 bytes": [of(**USER, user_key=b"short")],
    "not private": [of(dpb.UCB1(arms=2), **USER)],
    "'user'": [sticky(privacy_unit="round", max_contributions=None, user_key=None)],
    "user_key=": [sticky(user_key=None)],
    "one arm at a time": [sticky(JOINT)],
    "sticky= is not for it": [sticky(CONTEXTS)],
    "holdout": [
        partial(rule_of, share, 0) for share in (0, 1, 2, -0.1, "many", math.nan, True, [0.1], None)
    ],
    # Times
    "attribution_window=": options("attribution_window", 7, timedelta(0), "7 days", -DAY),
    "nothing to time": [of(clock=lambda: 0.0), of(clock=lambda: 0.0, **USER)],
    "period": [
        periods(dpb.AdaPUCB(arms=2, epsilon=1)),
        periods(dpb.LazyDPTS(arms=2, epsilon=1)),
        periods(dpb.AdaCUCB(arms=2, rho=1)),
        periods(dpb.DPKalmanTS(arms=2, epsilon=1, lasting=300)),
        periods(dpb.DPUCB(arms=2, epsilon=1, horizon=100)),
        periods(dpb.HybridUCB(arms=2, epsilon=1)),
        periods(REPORTS),
        periods(dpb.KLUCB(arms=2)),
        periods(dpb.DPKLUCB(arms=MOST_COMPARED + 1, epsilon=1)),
        *(periods(period=wrong) for wrong in (timedelta(0), 7, timedelta(microseconds=1))),
    ],
    "period|choose|contexts": [
        *(periods(policy) for policy in (JOINT, FULL, CONTEXTS, CANNOT_CHOOSE[0])),
        periods(dpb.recommend(arms=2, epsilon=1, goal="winner")),
    ],
    "min_share= with period": [periods(min_share=None), periods(min_share={0: 0.3})],
    # Arms drawn by chance
    "assignment='random'": [of(assignment="random")],
    "min_share=": options("min_share", 0.4, -0.1, "x", policy=NAMED),
    "cannot choose": [
        of(CANNOT_CHOOSE[0], min_share=0.1),
        of(CANNOT_CHOOSE[1], assignment="shuffled"),
    ],
    r"choose among .*Index policies can: DPRateIMED": [
        lambda policy=policy, verb=verb, given=given: getattr(of(policy)(), verb)(**given)
        for policy in CANNOT_CHOOSE
        for verb, given in (
            ("ask", {"eligible": [0]}),
            ("add_arm", {"label": "x"}),
            ("retire_arm", {"arm": 0}),
            ("pause_arm", {"arm": 0}),
        )
    ],
    "No policy on super arms can: where arms come or": [
        lambda: of(SUPER_ARMS)().add_arm("x"),
        lambda: dpb.SegmentedSession(SUPER_ARMS, noise=NOISE, segments=["a"]).add_arm("x"),
        lambda: dpb.open_store("memory:", noise=NOISE).create("t", SUPER_ARMS).add_arm("x"),
    ],
    "of at least one arm": options("min_share", {}, policy=NAMED),
    "one of the arms": options("min_share", {"red": 0.3}, policy=NAMED),
    "a share above 0": [
        of(NAMED, min_share={"control": share}) for share in (0.0, -0.1, "much", True)
    ],
    "at most 1 together": options("min_share", {"control": 0.6, "blue": 0.6}, policy=NAMED),
    "at most 3 arms": [lambda: of(NAMED, min_share=0.3)().add_arm("red")],
    "name each arm once": options("min_share", {"control": 0.3, 0: 0.3}, policy=NAMED),
    # Guardrails, ranges, contexts
    "guardrail=|in the same draw": [
        of(policy, guardrail=dpb.Guardrail("refunds", limit=0.1))
        for policy in (
            dpb.UCB1(arms=3),
            REPORTS,
            dpb.AdaCUCB(arms=3, rho=1),
            dpb.LazyDPTS(arms=3, epsilon=1),
            JOINT,
        )
    ],
    "at least 10 steps": [
        of(dpb.DPKLUCB(arms=2, epsilon=1, grid=9), guardrail=dpb.Guardrail("refunds", limit=0.1))
    ],
    "local model": [of(REPORTS, rewards=dpb.Range(0, 60)), *recorded(REPORTS)],
    "JointDPSession": [  # what shows decisions refuses the policy
        of(HIDDEN),
        lambda: dpb.open_store("memory:", noise=NOISE).create("t", HIDDEN),
    ],
    "segments= is not for it": [
        partial(dpb.SegmentedSession, CONTEXTS, noise=NOISE, segments=["x", "y"])
    ],
    # Sessions that decide for each person, and people who were assigned elsewhere
    "privacy_unit=": recorded(**USER),
    "with attribution_window=": recorded(attribution_window=DAY),
    "no single arms": [
        call
        for policy in (JOINT, SUPER_ARMS, FULL, dpb.PrefixExponential(actions=2, epsilon=1))
        for call in recorded(policy)
    ],
    "contexts": recorded(CONTEXTS),
    # Arms that come and go
    "no name for the new arm": [lambda: of()().add_arm("red")],
    "divides its budget": [
        lambda: of(dpb.DPUCB(arms=2, epsilon=1, horizon=99, preset="published"))().add_arm()
    ],
    "restart_arm": [lambda: of(JOINT)().restart_arm(0)],
}
WRONG_TYPES: dict[str, Calls] = {
    "noise": options("noise", dpb.SecureNoise, dpb.SimulatedNoise, None, 7, object()),
    "noise'": [lambda: dpb.Session(POLICY)],  # type: ignore[call-arg]  # there is no default
    "attribution_windows": [of(attribution_windows=3)],
    "policy": [of("UCB1")],
    r"a store can name .*got a UserDecisionSet of your own": [  # it opens campaigns by itself
        lambda: dpb.open_store("memory:", noise=NOISE).create("t", OWN_ORACLE)
    ],
    "depends on the context": [lambda: of(CONTEXTS)().beliefs()],
    "clock=5 to be a function": [of(clock=5, attribution_window=DAY)],
    "milliseconds": [lambda: of(clock=lambda: 1.8e12, attribution_window=DAY)().ask()],
    "True or False": [sticky(sticky=1)],
    r"dpbandits\.Range": [of(rewards=(0, 60))],
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_is_refused_in_few_words(what: str) -> None:
    for at, call in enumerate(REFUSED[what]):
        with pytest.raises(ValueError, match=what) as raised:
            call()
        assert 20 < len(str(raised.value)) < 450, at


@pytest.mark.parametrize("what", WRONG_TYPES)
def test_what_is_of_another_kind_is_refused(what: str) -> None:
    for call in WRONG_TYPES[what]:
        with pytest.raises(TypeError, match=what):
            call()


Verb = Callable[[dpb.Session], Any]


def asks(*eligible: Any) -> list[Verb]:
    return [lambda s, each=each: s.ask(eligible=each) for each in eligible]


def adds(*labels: Any) -> list[Verb]:
    return [lambda s, label=label: s.add_arm(label) for label in labels]


def records(*outcomes: Any, arm: Any = "blue") -> list[Verb]:
    return [lambda s, each=each: s.record(arm, each, key="k") for each in outcomes]


OF_A_SESSION: dict[str, list[Verb]] = {
    "'yellow'": asks(["yellow"]),
    "none was named": asks([]),
    "got 7|got True": asks([7], [True]),
    "list of arms|list of ": asks("blue", 7, np.array(0), np.int64(0), np.array("a")),
    "paused or retired": asks(["green"]),
    "count": [lambda s, count=count: s.ask(count) for count in (True, 2.0, "3", -1)],
    "Expected no user=": [lambda s: s.ask(user="ann")],
    "Expected no context=": [lambda s: s.ask(context=[0.1])],
    "is repeated": adds("green", "blue"),
    "Expected a name": adds(None),
    "text": adds("", 3),
    "does not come back": [lambda s: s.resume_arm("green")],
    "confidence=": [
        lambda s, at=at: s.beliefs(at) for at in (0, 1, 1.5, "95 %", True, None, math.nan)
    ],
    "confidence": [lambda s: s.lift("control", confidence=95)],
    "one of the arms": [
        lambda s: s.lift("red"),
        lambda s: s.record("red", [1.0], key="k"),
        lambda s: s.restart_arm("red"),
        lambda s: s.close(winner="red"),
    ],
    "not in beliefs": [lambda s: s.restart_arm("blue")],
    "not retired": records([1.0], arm="green"),
    "was not retired": [lambda s: s.close(winner="green")],
    "a text": [lambda s, why=why: s.close(why) for why in (3, "a\nb")],
    "read=1": [lambda s: s.close(read=1)],  # type: ignore[arg-type]
    "people": [lambda s, many=many: s.shares(many) for many in (0, -1, 10**6, 1.5, "many")],
    "plays on": [lambda s: s.finish()],
    "no guardrail|guardrail=": [lambda s: s.harm()],
    "decides by contexts": [lambda s: s.predictions()],
    "has no randomizer": [lambda s: s.description()],
    "Outcome 1": records([0.5, 7.25]),
    "0 <= successes <= people": records((3, 7), (0.25, 0.75), (1, 1, 1)),
    "1 to 100,000 people": records([], (0, 0), (10**6, 7)),
    "an object of type": records("7.25", 7.25, {7.25: 1}),
}


@pytest.mark.parametrize("what", OF_A_SESSION)
def test_a_verb_that_is_refused_changes_nothing_and_shows_no_outcome(what: str) -> None:
    for call in OF_A_SESSION[what]:
        s = of(NAMED, seed=1)()
        s.retire_arm("green")
        before = content(s)
        with pytest.raises((ValueError, TypeError), match=what) as refused:
            call(s)
        assert "7.25" not in str(refused.value)
        assert content(s) == before


def test_numbers_of_any_kind_are_taken() -> None:
    assert [d.id for d in session().ask(np.int64(3))] == [1, 2, 3]  # type: ignore[call-overload]
    for default in (0, 1, Fraction(1, 4), Decimal("0.25"), np.float32(0.25)):
        s = of(seed=np.int64(3), noise=dpb.SimulatedNoise(np.int64(1)), default=default)()  # type: ignore[arg-type]
        again = loaded(s.to_json())
        assert (type(s.seed), s.seed, again.seed) == (int, 3, 3)
        assert (type(s.default), s.default, again.default) == (float, default, default)
    assert dpb.Guardrail("harm", limit=Decimal("0.1")) == dpb.Guardrail("harm", limit=0.1)  # type: ignore[arg-type]
    shares = [of(min_share=share)().shares(9) for share in (Decimal("0.25"), 0.25)]
    assert shares[0] == shares[1]
    longest = of(seed=16**200 - 1)()
    assert loaded(longest.to_json()).seed == longest.seed


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (dpb.DPKLUCB(arms=2, epsilon=11), "ε = 11 promises little: someone who thought an outcome"),
        (dpb.DPKLUCB(arms=1, epsilon=1), "one arm"),
        (dpb.KLUCB(arms=2), "KLUCB is not private"),
        (dpb.DPKLUCB(arms=2, epsilon=1, grid=1), "nearer end of Range"),
    ],
)
def test_a_session_for_peoples_data_warns_of_itself_once(policy: Any, words: str) -> None:
    scale = dpb.Range(0, 60)
    with pytest.warns(dpb.PrivacyWarning, match=words):
        s = dpb.Session(policy, noise=dpb.SecureNoise(), rewards=scale)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = s.to_json(key=KEY)
        dpb.Session.from_json(text, key=KEY)  # it was said
        dpb.Session(policy, noise=dpb.SimulatedNoise(1), rewards=scale)  # no people's data
    with dpb.open_store("memory:") as store:
        with pytest.warns(dpb.PrivacyWarning, match=words):
            campaign = store.create("trial", policy, rewards=scale)
        campaign.ask()
