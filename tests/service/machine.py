"""A campaign and a session side by side: whatever is done to both, they do the same."""

from datetime import timedelta
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import dpbandits as dpb
from dpbandits.core.errors import DecisionError
from tests.service.timelines import inside

ARMS = ["a", "b", "c"]
WINDOWED = {"attribution_window": timedelta(seconds=60), "default": 0.5}
PEOPLE = {"privacy_unit": "user", "max_contributions": 2}
PERIODS = {"min_share": 0.1, "period": timedelta(seconds=100)}
RAIL = {"guardrail": dpb.Guardrail("refunds", limit=0.3)}
CONTEXTS = [[0.5, 0.25], [-0.5, 0.125], [0.0, -0.75]]
POLICY = dpb.DPKLUCB(arms=ARMS, epsilon=1, first=4)
LINEAR: dict[str, Any] = {"arms": ARMS, "features": 2}
BY_CONTEXT = dpb.DPLinTS(**LINEAR, epsilon=1, first=4, public_contexts=CONTEXTS * 4)
PILOT = dpb.DPLinTS(**LINEAR, epsilon=1, first=4)
SHAPED = dpb.DPLinTS(**LINEAR, rho=1, first=4, release="shaped")

SETTINGS: list[dict[str, Any]] = [
    {},
    {"assignment": "planned"},
    {"min_share": 0.05},
    {"rewards": dpb.Range(0, 10, clip=True)},
    WINDOWED,
    PEOPLE,
    {**PEOPLE, "window": timedelta(seconds=100), "sticky": True},
    {**PEOPLE, **WINDOWED},
    {"segments": ["DE"]},
    {"segments": ["DE", "FR"], **PEOPLE, "sticky": True},
    {"segments": ["DE", "FR"], **PEOPLE, **WINDOWED},
    {**PERIODS, **RAIL},
    {**PERIODS, **PEOPLE, **WINDOWED, **RAIL},
    {**PERIODS, "segments": ["DE", "FR"]},
    {"policy": PILOT, **PEOPLE},
    {"policy": SHAPED, **WINDOWED},
    {"policy": dpb.DPLinUCB(**LINEAR, epsilon=1)},
    {"policy": dpb.AdaCOFUL(**LINEAR, rho=1, first=30)},
    {"policy": dpb.LinTS(**LINEAR, alpha=1.3)},
    {"policy": BY_CONTEXT, **PEOPLE},
]

ENDINGS: list[dict[str, Any]] = [{}, {"winner": 0}, {"winner": 1}, {"winner": 9}, {"read": False}]
"""How a campaign is closed; there is no arm 9."""


class Time:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def outcome(call: Any) -> tuple[str, Any]:
    try:
        return "value", call()
    except (ValueError, TypeError, RuntimeError, LookupError) as error:
        return type(error).__name__, None


class SideBySide(RuleBasedStateMachine):
    """Subclasses say how a store is opened, and which options a campaign has."""

    policy: Any
    options: dict[str, Any]

    def open_anew(self) -> Any:
        raise NotImplementedError

    def close(self, store: Any) -> None:
        store.close()

    @initialize(seed=st.integers(0, 9), ending=st.sampled_from(ENDINGS), data=st.data())
    def begin(self, seed: int, ending: dict[str, Any], data: Any) -> None:
        policy, options, self.ending = self.policy, self.options, ending
        self.clock, self.by_context = Time(), hasattr(policy, "features")
        self.stores = [self.open_anew()]
        self.stores[0].create("c", policy, noise=dpb.SimulatedNoise(seed), seed=seed, **options)
        self.stores.append(self.open_anew())
        people = {"user_key": bytes(16)} if "privacy_unit" in options else {}
        self.segments = options.get("segments")
        self.session: Any = self.plain(policy, seed, {**people, **options})
        self.people, self.has_harm = bool(people), "guardrail" in options
        self.holds, self.lost = "attribution_window" in options, list[str]()
        self.pairs: list[tuple[Any, Any]] = []
        self.arms = len(ARMS)
        for user in range(4):  # most examples leave out some of the rules
            self.ask(0, 3, user, False, data)
        self.answer(0, self.pairs[::2], seed % 8)

    def plain(self, policy: Any, seed: int, options: dict[str, Any]) -> Any:
        """A session; of segments, one whose noise and seeds are those of a campaign's."""
        rest = {name: value for name, value in options.items() if name != "segments"}
        if {"window", "attribution_window", "period"} & options.keys():
            rest["clock"] = self.clock
        if not self.by_context:
            rest = {"assignment": "shuffled", **rest}
        made = {
            segment: dpb.Session(
                policy,
                noise=dpb.SimulatedNoise(seed + place),
                seed=seed + place,
                campaign="c" if segment is None else f"c/{segment}",
                **rest,
            )
            for place, segment in enumerate(self.segments or [None])
        }
        if self.segments is None:
            return made[None]
        together = dpb.SegmentedSession.__new__(dpb.SegmentedSession)
        together._open(made)
        return together

    def campaign(self, which: int) -> Any:
        return self.stores[which]["c"]

    def both(self, which: int, call: Any) -> tuple[Any, Any]:
        """The same call on both: both do it, or both refuse it for the same reason."""
        kind, found = outcome(lambda: call(self.campaign(which)))
        wanted_kind, wanted = outcome(lambda: call(self.session))
        assert kind == wanted_kind
        return found, wanted

    @rule(
        which=st.integers(0, 1),
        count=st.sampled_from([1, 3, 12]),
        user=st.integers(0, 3),
        choose=st.sampled_from([False, False, True]),
        data=st.data(),
    )
    def ask(self, which: int, count: int, user: int, choose: bool, data: Any) -> None:
        some = st.lists(st.integers(0, self.arms - 1), min_size=1, max_size=3, unique=True)
        eligible = data.draw(some) if choose else None
        segment = self.segments and data.draw(st.sampled_from(self.segments))
        context = data.draw(st.sampled_from(CONTEXTS)) if self.by_context else None
        self.asked(which, count, user, segment, context, eligible=eligible)

    def asked(
        self, which: int, count: int, user: int | None, segment: Any, context: Any, **options: Any
    ) -> None:
        if self.people and user is not None:
            options["user"] = f"person {user}"
        if self.segments is not None:
            options["segment"] = segment
        if self.by_context:
            options["context"] = context and [context] * count
        found, wanted = self.both(which, lambda host: host.ask(count, **options))
        for one, other in zip(found or [], wanted or [], strict=True):
            said = "action", "round", "label", "learn", "observe", "campaign"
            assert [getattr(one, name) for name in said] == [getattr(other, name) for name in said]
            self.pairs.append((one, other))

    @precondition(lambda self: self.pairs)
    @rule(
        which=st.integers(0, 1),
        places=st.lists(st.integers(0, 10**6), min_size=1, max_size=12),
        reward=st.integers(0, 8),
    )
    def tell(self, which: int, places: list[int], reward: int) -> None:
        self.answer(which, [self.pairs[place % len(self.pairs)] for place in places], reward)

    @precondition(lambda self: self.pairs)
    @rule(
        which=st.integers(0, 1),
        count=st.sampled_from([12, 40]),
        reward=st.integers(0, 8),
        seconds=st.sampled_from([0, 0, 61]),
    )
    def tell_newest(self, which: int, count: int, reward: int, seconds: int) -> None:
        """Now; or once their time has passed, before anybody settles."""
        self.clock.now += seconds
        newest = self.pairs[-count:]
        self.answer(which, [*newest, newest[0]], reward)
        self.wait(which, 0)

    def answer(self, which: int, some: list[tuple[Any, Any]], reward: int) -> None:
        """With other rewards for one that comes twice in a call: the first one counts."""
        values = [(reward + at) % 9 / 8 for at in range(len(some))]
        told: list[Any] = list(zip(values, values, strict=True)) if self.has_harm else values
        lost = len(self.lost)
        replies = self.campaign(which).tell_many(
            [(one, value) for (one, _), value in zip(some, told, strict=True)]
        )
        for reply, (_, other), value in zip(replies, some, told, strict=True):
            kind, _ = outcome(partial(self.session.tell, other, value))
            assert kind in ("value", DecisionError.__name__)
            self.said(reply, kind == "value" and not self.drops(other), lost, self.holds)
            assert reply in ("recorded", "already", "gone")

    def said(self, reply: str, is_new: bool, lost: int, holds: bool = False) -> None:
        """Of what is new "recorded"; where that reply was lost, the call was made again.

        Args:
            lost: replies that were lost before the call.
            holds: whether an answer is held, which nobody learns of.
        """
        first = "recorded" if holds or len(self.lost) == lost else "already"
        assert reply == first if is_new else reply != "recorded"

    def drops(self, decision: Any) -> bool:
        """Whether a session that is closed accepts an answer, and drops it."""
        segment = decision.campaign.partition("/")[2]
        closed = (self.session[segment] if segment else self.session).closed
        return closed is not None and bool(closed.drops(decision.id))

    @precondition(lambda self: self.pairs)
    @rule(
        which=st.integers(0, 1),
        place=st.integers(0, 10**6),
        verb=st.sampled_from(["expire", "void"]),
    )
    def resolve(self, which: int, place: int, verb: str) -> None:
        (one, other), lost = self.pairs[place % len(self.pairs)], len(self.lost)
        kind, replies = outcome(lambda: getattr(self.campaign(which), verb)(one))
        wanted, _ = outcome(lambda: getattr(self.session, verb)(other))
        if kind == "value":
            self.said(replies[0], wanted == "value", lost, self.holds and verb == "expire")
        else:
            assert kind == wanted

    @rule(which=st.integers(0, 1))
    def add_arm(self, which: int) -> None:
        if self.arms < 6:
            found, wanted = self.both(which, lambda host: host.add_arm(f"new {self.arms}"))
            assert found == wanted
            self.arms += found is not None

    @rule(
        which=st.integers(0, 1),
        arm=st.integers(0, 6),
        verb=st.sampled_from(["pause_arm", "resume_arm", "resume_arm", "retire_arm"]),
    )
    def move_arm(self, which: int, arm: int, verb: str) -> None:
        self.both(which, lambda host: getattr(host, verb)(arm))

    @rule(
        which=st.integers(0, 1),
        arm=st.integers(0, 6),
        people=st.integers(0, 20),
        successes=st.integers(0, 21),
        again=st.booleans(),
        data=st.data(),
    )
    def record(
        self, which: int, arm: int, people: int, successes: int, again: bool, data: Any
    ) -> None:
        self.batches = getattr(self, "batches", 0) + (not again)
        how: dict[str, Any] = {"key": f"batch {self.batches}"}
        if self.segments is not None:
            how["segment"] = data.draw(st.sampled_from(self.segments))
        self.both(which, lambda host: host.record(arm, (people, successes), **how))

    @rule(which=st.integers(0, 1))
    def drop(self, which: int) -> None:
        self.both(which, lambda host: host.drop_open())

    @rule(which=st.integers(0, 1), seconds=st.sampled_from([1, 30, 61, 101]))
    def wait(self, which: int, seconds: int) -> None:
        self.clock.now += seconds
        self.both(which, lambda host: host.settle())
        self.campaign(which).summary()  # a server settles as somebody looks

    @rule(which=st.integers(0, 1))
    def reopen(self, which: int) -> None:
        self.close(self.stores[which])
        self.stores[which] = self.open_anew()

    @invariant()
    def they_agree(self) -> None:
        if not hasattr(self, "session"):
            return
        self.session.settle()  # makes first codebooks, as any call of a campaign does
        for which in (0, 1):
            for host, plain in self.parts(which):
                found = inside(host, lambda part, _: part.session)
                assert found.ledger == plain.ledger
                assert found.state == plain.state
                assert found.arms == plain.arms
                assert found.releases == plain.releases
                assert set(found.pending) == set(plain.pending)
                assert (found.closed, found.closes_at) == (plain.closed, plain.closes_at)
            assert self.stores[which]["c"].spent == self.session.spent

    def parts(self, which: int) -> list[tuple[Any, Any]]:
        """Of each segment, or of the whole, the campaign and the session."""
        host, plain = self.stores[which]["c"], self.session
        names = self.segments
        return [(host, plain)] if names is None else [(host[name], plain[name]) for name in names]

    def teardown(self) -> None:
        """It is closed, and shows its winner: what is held and open is read once more, and once."""
        if hasattr(self, "session"):
            for which, ending in ((0, self.ending), (1, {}), (0, self.ending)):
                self.both(which, lambda host: host.close("over", **ending))  # noqa: B023
            self.reopen(1)
            for seconds in (0, 101):
                self.wait(0, seconds)
                for which in (0, 1):
                    user, context = (9, CONTEXTS[0]) if seconds else (None, None)
                    self.asked(which, 2, user, self.segments and "DE", context)
                    self.answer(which, self.pairs[-24:], seconds)
                self.both(1, lambda host: host.close("again", **self.ending))
                self.they_agree()
            for host, plain in self.parts(0):
                found = inside(host, lambda part, _: outcome(part.session.beliefs))
                assert found == outcome(plain.beliefs)
                assert [event.what for event in host.events()].count("closed") == 1
                read, wanted = (
                    sum(line.stop - line.start for line in each.ledger) for each in (host, plain)
                )
                assert read == wanted
        for store in getattr(self, "stores", []):
            store.close()
