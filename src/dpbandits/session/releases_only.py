"""A session that shows releases only, for policies whose contexts and decisions are private.

What leaves it is the decision, which is for the person concerned, and what follows from released
counts and from the number of asks. `JointDPSession.public` lists all of it; nothing else of a
session depends on anybody's record. That is why it is a class of its own: `Session` shows
decisions, their times and their counts in many places, and takes options that rest on them.

A record is held as a place in a histogram: which arm, which cell, and the answer rounded to 0 or
1. A decision that waits for its answer is an arm and a cell under a random word that only its
person has. Which block an answer enters depends on when it comes; when a block ends depends on the
number of asks alone. So neither does it show who answered, nor when.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Never, NoReturn

import msgspec
import numpy as np
from msgspec import Meta, Struct

from dpbandits.core.errors import (
    ClosedError,
    DecisionError,
    NotRecordedError,
    RewardError,
    SharedError,
)
from dpbandits.core.inputs import (
    MOST,
    Count,
    Integers,
    Opaque,
    as_int,
    checked_name,
    checked_noise,
    checked_seed,
    converted,
    damaged,
    opaque,
    rebuilt,
    shown,
    whole_number,
)
from dpbandits.core.locks import CallLock, this_process
from dpbandits.core.plan import EVERY
from dpbandits.core.privacy import Entry, Guarantee, printed
from dpbandits.mechanisms.base import Block
from dpbandits.mechanisms.cells import DUTY, Counts
from dpbandits.mechanisms.rewards import checked_reward, on_grid
from dpbandits.noise.protocol import Noise
from dpbandits.policies.joint_contexts import JointDPLinTS, JointState, Snapshot
from dpbandits.session.options import checked_rewards_range, warn_about
from dpbandits.session.ranges import Range, RangeData, range_from_data
from dpbandits.session.saving import (
    NoiseData,
    noise_data,
    noise_to_continue,
    parsed,
    policy_from_data,
    policy_to_data,
    sealed,
    unsealed,
)
from dpbandits.vault import frameless
from dpbandits.version import __version__

FORMAT = "dpbandits session of releases"
VERSION = 1

WAITS = 100_000
"""Asks for which an answer is waited for, by default."""

MOST_WAITS = 10**7

WORD = 16
"""Bytes of the word under which a decision waits."""

SLOT = WORD + 16
"""Bytes of a decision that waits, in a saved session: its word, its ask and its place."""

BY_DEVICE = -1
"""The place of a decision that the person's device makes itself."""

REASONS = {
    "eligible": "who may get which arm would show decisions",
    "min_share": "a share that is kept of a count of decisions would show that count",
    "assignment": "first batches by arm need counts of decisions",
    "guardrail": "it suspends an arm by a count of decisions, and takes a second number a record",
    "harm": "there is no guardrail",
    "sticky": "a decision that is remembered of a person is one that is shown again",
    "key user user_key unsealed": (
        "a reply that is kept, for the same request again or by its person, would be a "
        "decision that is shown"
    ),
    "segments": "it learns for all visitors together; make the segment a feature",
    "holdout": "who was held out would be a decision that is shown",
    "periods period": "a period's figures by arm are counts of decisions",
    "default": "who did not answer is private; an answer that never comes enters nothing",
    "attribution_window closes_at expire": (
        "an answer may come at any time, or never; `waits=` says for how many asks"
    ),
    "clock": "when somebody answered is private, so no time enters",
    "privacy_unit max_contributions window": (
        "each ask is one record: who asks m times is protected by m times epsilon"
    ),
    "max_pending": "a refusal because many wait would show who did not answer; see `waits=`",
    "record shares": (
        "outcomes of people who were assigned elsewhere have no decision by a snapshot"
    ),
    "add_arm pause_arm resume_arm retire_arm restart_arm arms": (
        "the histogram is fixed; begin another session for another set of arms"
    ),
    "pending resolved unread": "which decisions wait for an answer is private",
    "history decisions": "decisions are private",
    "events alarms": (
        "what happens to single arms or answers is private; blocks end by asks, as `asked` shows"
    ),
    "beliefs lift predictions": "it counts people by arm; the snapshot has what was learned",
    "sample_ratio": "it counts people by arm",
    "count tell_many": "a decision goes to one person, and an answer comes under its own word",
    "settle drop_open finish plan": (
        "a block ends at an ask, and only then; the snapshot has what decides"
    ),
    "description tell_message": (
        "devices are not of the local model: they take a `visit()` and `report`"
    ),
    "participant_text responsible": "`statement()` says what is promised",
    "spent": "dpbandits.spent(session.ledger) adds it up",
    "closed": "`public()` says it",
}
"""Options and methods of `Session`, and why this session does not have them. The guide's table is
this one.
"""

REFUSED = {name: why for names, why in REASONS.items() for name in names.split()}


@opaque
class JointDecision(NamedTuple):
    """A decision, for the person concerned and for nobody else.

    Args:
        word: tells the answer to it; whoever has it can answer in the person's place.
        action: the arm.
        label: the arm's name, if it has one.
    """

    word: str
    action: int
    label: str | None


@opaque
class Visit(NamedTuple):
    """What a person's own device decides by.

    Args:
        word: goes with the report.
        snapshot: the public snapshot, JSON.
    """

    word: str
    snapshot: str


class Shown(NamedTuple):
    """All that was released. Public.

    Args:
        state: the policy's.
        released: histograms with noise, in order.
        closed: whether the session is over.
    """

    state: JointState
    released: tuple[Counts, ...] = ()
    closed: bool = False


@opaque
class Open(NamedTuple):
    """The newest releases, and the open block beside them.

    Args:
        shown: public.
        snapshot: that decides in this block. Public.
        counts: exact counts of the open block, by place. Private.
        drawn: the noised counts of the block before, if its release failed after the draw: no block
            is drawn twice, for how often it was could tell of its counts. Private.
    """

    shown: Shown
    snapshot: Snapshot
    counts: Integers
    drawn: Any = None


@opaque
class Tell(NamedTuple):
    """A record on its way into its count. Private."""

    word: str
    place: int
    total: int


class ReleaseData(Struct, forbid_unknown_fields=True):
    """`Counts` in a saved session."""

    visits: Count
    counts: list[Annotated[int, Meta(ge=-MOST, le=MOST)]]


class PublicData(Struct, forbid_unknown_fields=True):
    """The public part of a saved session: all that anybody may see."""

    policy: dict[str, Any]
    campaign: str
    rewards: RangeData | None
    waits: int
    noise: NoiseData
    asked: Count
    releases: list[ReleaseData]
    closed: bool


class PrivateData(Struct, forbid_unknown_fields=True):
    """The private part. Its length follows from the public part."""

    counts: str
    waiting: str
    noise: dict[str, Any]
    seed: int | None
    held: list[Any] = []

    __repr__, __rich_repr__ = Opaque.__repr__, Opaque.__rich_repr__


def busy() -> Exception:
    return SharedError(
        "Another call of this session is under way around this one (a signal handler, the noise "
        "source). Nothing was done."
    )


class JointDPSession:
    """Runs a policy on people's data whose contexts and decisions are private, too.

    Everything that it shows but for decisions, each to its own person, is epsilon-DP in one ask's
    record: its context, its decision, its answer, and whether and when the answer came. Blocks end
    by the number of asks. Threads wait for each other; a forked process is refused.

    Args:
        policy: a `JointDPLinTS`.
        noise: `SecureNoise()` for people's data; decisions are then drawn from the operating
            system's randomness. `SimulatedNoise(seed)` for experiments.
        seed: of the decisions, with simulated noise only.
        rewards: the declared range of rewards, or of costs (`dpbandits.Range`). By default [0, 1].
        campaign: a public name that stands in what is shown.
        waits: asks for which an answer is waited for; one that comes later is refused. Memory and
            the saved private part grow with it.
        options: those of `Session` are refused, each with the reason.

    Raises:
        ValueError: options that do not go together, or that this session does not have.
        TypeError: another policy.
    """

    def __init__(
        self,
        policy: JointDPLinTS,
        *,
        noise: Noise,
        seed: int | None = None,
        rewards: Range | None = None,
        campaign: str = "joint",
        waits: int = WAITS,
        **options: Never,
    ) -> None:
        refuse_options(options)
        if not isinstance(policy, JointDPLinTS):
            raise TypeError(
                f"Expected a JointDPLinTS, got {type(policy).__name__}. Every other policy shows "
                "its decisions: play it in a dpbandits.Session."
            )
        self.policy, self._noise = policy, checked_noise(noise)
        if seed is not None and noise.kind == "secure":
            raise ValueError(
                "Expected no seed= with secure noise: who knows it could replay the decisions of "
                "people. They are drawn from the operating system's randomness."
            )
        simulated = noise.kind == "simulated"
        self._seed = checked_seed(0 if seed is None else seed) if simulated else None
        self.rewards = checked_rewards_range(rewards, False)
        self.campaign = checked_name(campaign)
        self.waits = whole_number(waits, "waits", 1, MOST_WAITS, of="asks")
        self._mechanism = policy.mechanism()
        self._lock, self._process = CallLock(busy), this_process()
        self._asked = 0  # public
        self._waiting = dict[str, tuple[int, int]]()  # by word: ask and place. Private
        self._telling: Tell | None = None
        self._put(Shown(policy.init()), np.zeros(int(np.prod(policy.shape)), np.int64))
        if noise.kind == "secure":
            warn_about(policy, self.guarantee)

    def _put(self, shown: Shown, counts: Integers) -> None:
        """Begin a block: what was released, and what came since it was drawn. One assignment."""
        self._open = Open(shown, self.policy.snapshot(shown.state), counts)

    def __repr__(self) -> str:
        return f"JointDPSession({self.policy!r}, asked={self._asked}, releases={self.releases})"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A copy of this session would release the same records again. Save it with "
            "to_json(key=…), and go on with the loaded one only."
        )

    if not TYPE_CHECKING:  # a type checker knows what there is

        def __getattr__(self, name: str) -> NoReturn:
            why = REFUSED.get(name, "nor has any session")
            raise AttributeError(f"A JointDPSession has no {name}: {why}.")

    # For the person concerned

    def ask(self, context: Any = None, **options: Never) -> JointDecision:
        """Return the decision for one person, to be shown to them alone.

        Args:
            context: what is known of them, numbers of a norm of at most 1. It is not kept.

        Raises:
            ValueError: the context is not as it has to be. It is not shown; no decision was made,
                and the ask is counted, for a block's end must not tell. Or an option is given that
                this session does not take; then nothing was done.
            ClosedError: the session is closed.
            NotRecordedError: a release was due and failed. No decision was made.
        """
        try:
            refuse_options(options)
            with self._lock.held():
                self._begin()
                self._release_if_due()
                return frameless(self._decided, context)
        finally:
            del context  # no frame of an error holds it

    def _decided(self, context: Any) -> JointDecision:
        # fresh bits of the operating system for each decision, or of a seed for experiments
        bits = secrets.randbits(256) if self._seed is None else [self._seed, self._asked]
        rng = np.random.default_rng(bits)
        try:
            row = self.policy.context(context)[None]
        except Exception:
            self._wait(BY_DEVICE)  # an ask like any other: it counts, and gives up old ones
            raise
        arm = int(self._open.snapshot.choices(row, rng)[0])
        cell = int(self._open.snapshot.cell_of(row)[0])
        word = self._wait(self.policy.index(arm, cell, 0))
        return JointDecision(word, arm, self.policy.labels[arm] if self.policy.labels else None)

    def tell(self, decision: JointDecision | str, reward: Any) -> None:
        """Tell the answer to a decision, or to its word, once. It may come late, in any order, or
        never.

        Raises:
            RewardError: no number in the range. It is not shown, and nothing was recorded.
            DecisionError: no such decision waits: there is none, it was answered or withdrawn, or
                it is too old. Which of these is not said.
            ClosedError: the session is closed.
        """
        try:
            with self._lock.held():
                self._begin()
                frameless(self._take_reward, decision, reward)
        finally:
            del decision, reward  # no frame of an error holds them

    def _take_reward(self, decision: JointDecision | str, reward: Any) -> None:
        word, place = self._waits(decision)
        if place == BY_DEVICE:
            raise DecisionError(
                "Expected report(visit, index) for a decision of a person's own device. "
                "Nothing was recorded."
            )
        value = reward if self.rewards is None else self.rewards.to_unit(reward)
        one = on_grid(checked_reward(value), self._mechanism.grid, self._noise)
        self._tell(word, place + one)

    def void(self, decision: JointDecision | Visit | str) -> None:
        """Withdraw a decision: its answer will not be taken.

        Raises:
            DecisionError: no such decision waits. ClosedError: the session is closed.
        """
        with self._lock.held():
            self._begin()
            word, _ = self._waits(decision)
            self._waiting.pop(word, None)

    # For a person's own device

    def visit(self) -> Visit:
        """Count an ask of a device that decides by itself, and return what it decides by.

        The context and the decision stay on the device, which sends back the place of its record
        (`clients/js`: `decide`).

        Raises:
            ClosedError: the session is closed.
        """
        with self._lock.held():
            self._begin()
            self._release_if_due()
            return Visit(self._wait(BY_DEVICE), self.snapshot)

    def report(self, visit: Visit | str, index: Any) -> None:
        """Add the record of a device, once.

        Args:
            visit: what it was given, or its word.
            index: (arm · cells + cell) · 2 + answer, the answer rounded to 0 or 1 by a coin.

        Raises:
            RewardError: no such place. It is not shown, and nothing was recorded.
            DecisionError: as `tell`.
            ClosedError: the session is closed.
        """
        try:
            with self._lock.held():
                self._begin()
                frameless(self._take_index, visit, index)
        finally:
            del visit, index

    def _take_index(self, visit: Visit | str, index: Any) -> None:
        word, waits = self._waits(visit)
        if waits != BY_DEVICE:
            raise DecisionError(
                "Expected tell(decision, reward) for a decision that this session made. "
                "Nothing was recorded."
            )
        place = as_int(index)
        if place is None or not 0 <= place < len(self._open.counts):
            raise RewardError(
                f"Expected a whole number from 0 to {len(self._open.counts) - 1:,}, the place "
                "of a record (not shown: it is private). Nothing was recorded."
            )
        self._tell(word, place)

    # For everybody

    @property
    def asked(self) -> int:
        """Number of asks so far."""
        return self._asked

    @property
    def released(self) -> tuple[Counts, ...]:
        """Released histograms, in order."""
        return tuple(Counts(each.counts.copy(), each.visits) for each in self._open.shown.released)

    @property
    def releases(self) -> int:
        """How many blocks were released."""
        return len(self._open.shown.released)

    @property
    def state(self) -> JointState:
        """What was learned from releases."""
        return self._open.shown.state

    @property
    def snapshot(self) -> str:
        """All that decides until the next release, and what a device needs beside it, as JSON."""
        said = self.rewards
        rewards = said and {
            "low": float(said.low),
            "high": float(said.high),
            "clip": said.clip,
            "minimise": said.minimise,
        }
        return self._open.snapshot.to_json(self.policy, rewards)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of all that is shown."""
        return replace(self._mechanism.guarantee, noise=self._noise.kind)

    @property
    def ledger(self) -> tuple[Entry, ...]:
        """A line for each release, over asks."""
        found, start = list[Entry](), 0
        for each in self._open.shown.released:
            stop = start + each.visits
            found.append(Entry(EVERY, start, stop, self.policy.budget))
            start = stop
        return tuple(found)

    def statement(self) -> str:
        """What is promised, in words, and what was released so far."""
        epsilon = printed(self.policy.budget)
        secure = "" if self._noise.kind == "secure" else " The noise is simulated: NOT private."
        return (
            f"PRIVACY STATEMENT of the session {self.campaign}\n\n"
            f"Date: {datetime.now(UTC):%Y-%m-%d}. Policy: {self.policy.name}.\n\n"
            f"Joint differential privacy, pure ε = {epsilon}, δ = 0. One ask's context, decision "
            "and answer, and whether and when it was answered, change the probability of anything "
            f"that anybody else ever sees by a factor of at most e^{epsilon}. Who asks m times is "
            f"protected by m·{epsilon}. Not protected: the number of asks and their times, and the "
            "public contexts that cells were made of. A decision is seen by its own person, and "
            "by whoever looks over their shoulder.\n\n"
            f"Asks: {self._asked:,}. Blocks released: {self.releases:,}, each answered record "
            f"in at most one of them, or in the open block. Your part: {DUTY}.{secure}\n\n"
            f"Software: dpbandits {__version__}.\n"
        )

    def public(self) -> dict[str, Any]:
        """All that this session shows to anybody, as JSON has it: the public part of a saved
        session.
        """
        return msgspec.to_builtins(self._public())

    def close(self) -> None:
        """Release the open block, if anybody ever asked, and take neither asks nor answers any
        more.

        Raises:
            ClosedError: it is closed.
        """
        with self._lock.held():
            self._begin()
            shown = self._open.shown
            if self._asked:  # a block without asks may have answers, which is private
                shown = self._with_block(shown)
            self._put(shown._replace(closed=True), np.zeros_like(self._open.counts))
            self._waiting = {}

    # Saving

    def to_json(self, *, key: bytes | None = None) -> str:
        """The session as a document, whose private part is encrypted under the key.

        Its length does not tell who answered. Go on from the newest document only: from an older
        one records would be released twice.

        Args:
            key: at least 16 bytes; needed with secure noise.

        Raises:
            ValueError: no key.
            NotRecordedError: a release that an earlier call drew failed again. Nothing was saved.
        """
        if key is None and self._noise.kind == "secure":
            raise ValueError(
                "Expected key=, at least 16 secret bytes: the private part holds single people's "
                "decisions, and without a key they would lie in clear. public() has what anybody "
                "may see."
            )
        with self._lock.held():
            self._begin(closed=True)
            if self._open.drawn is not None:  # documents have no place for it
                self._release_if_due()
            return frameless(self._written, key)

    def _written(self, key: bytes | None) -> str:
        document = {
            "format": FORMAT,
            "version": VERSION,
            "public": msgspec.to_builtins(self._public()),
            "private": msgspec.to_builtins(self._private()),
        }
        return sealed(document, key)

    @classmethod
    def from_json(
        cls,
        text: str,
        *,
        policy: JointDPLinTS | type[JointDPLinTS] | None = None,
        noise: Noise | None = None,
        key: bytes | None = None,
    ) -> JointDPSession:
        """The session of a document.

        Args:
            text: what `to_json` returned.
            policy: the policy, or its class, if it is user-defined: a document names no code.
            noise: by default as it was.
            key: that it was saved with.

        Raises:
            DamagedSessionError: the document is none, or was changed.
            ValueError: another key, or another kind of noise.
        """
        document = unsealed(parsed(text, FORMAT, VERSION), key)
        # first, so that no error below keeps it in clear
        private = converted(document.pop("private", None), PrivateData, "private")
        public = converted(document.get("public"), PublicData, "public")
        saved = policy_from_data(public.policy, policy)
        if not isinstance(saved, JointDPLinTS):
            raise damaged("public.policy is no JointDPLinTS")
        source = noise_to_continue(public.noise, private.noise, noise)
        if key is None and noise is None:
            raise ValueError(
                "Expected noise=: a document that is saved without a key may have been changed to "
                "name a weaker one."
            )

        def make() -> JointDPSession:
            rewards = None if public.rewards is None else range_from_data(public.rewards)
            options: dict[str, Any] = {"campaign": public.campaign, "waits": public.waits}
            made = cls(saved, noise=source, seed=private.seed, rewards=rewards, **options)
            made._load(public, private)
            return made

        return rebuilt(make)

    def _load(self, public: PublicData, private: PrivateData) -> None:
        policy, shown = self.policy, Shown(self.policy.init())
        for each in public.releases:
            counts = Counts(np.array(each.counts, np.int64).reshape(policy.shape), each.visits)
            state = policy.learned(shown.state, counts)
            shown = Shown(state, (*shown.released, counts))
        open_counts = np.frombuffer(bytes.fromhex(private.counts), "<i8").astype(np.int64)
        self._put(shown._replace(closed=public.closed), open_counts)
        self._asked = public.asked
        slots = bytes.fromhex(private.waiting)
        if (len(open_counts), len(slots)) != (int(np.prod(policy.shape)), SLOT * self._slots()):
            raise damaged("its private part is of another length")
        for at in range(0, len(slots), SLOT):
            word, rest = slots[at : at + WORD], slots[at + WORD : at + SLOT]
            ask, place = np.frombuffer(rest, "<i8").tolist()
            self._waiting[word.hex()] = ask, place

    def _slots(self) -> int:
        """Decisions in the private part: one for each ask that is young enough, answered or not."""
        return 0 if self._open.shown.closed else min(self._asked, self.waits)

    def _public(self) -> PublicData:
        shown = self._open.shown
        return PublicData(
            policy_to_data(self.policy),
            self.campaign,
            None if self.rewards is None else self.rewards.to_data(),
            self.waits,
            noise_data(self._noise),
            self._asked,
            [ReleaseData(each.visits, each.counts.ravel().tolist()) for each in shown.released],
            shown.closed,
        )

    def _private(self) -> PrivateData:
        """In the place of a decision that was answered stands one that nobody was given."""
        waiting = {ask: (word, place) for word, (ask, place) in self._waiting.items()}
        slots = bytearray()
        for ask in range(self._asked - self._slots(), self._asked):
            word, place = waiting.get(ask) or (secrets.token_hex(WORD), BY_DEVICE)
            slots += bytes.fromhex(word) + np.array([ask, place], "<i8").tobytes()
        counts = self._open.counts.astype("<i8").tobytes().hex()
        return PrivateData(counts, slots.hex(), self._noise.state(), self._seed)

    # One call at a time

    def _begin(self, *, closed: bool = False) -> None:
        if self._process != this_process():
            raise SharedError(
                "This session was made before a fork; two processes would release its blocks "
                "twice. Nothing was done. Save it with to_json(key=…) in the parent, and load it "
                "in the process that goes on."
            )
        self._finish_telling()
        if self._open.shown.closed and not closed:
            raise ClosedError("This session is closed. Nothing was done.")

    def _waits(self, decision: object) -> tuple[str, int]:
        """The word and the place of a decision that waits."""
        word = decision.word if isinstance(decision, (JointDecision, Visit)) else decision
        found = self._waiting.get(word) if isinstance(word, str) else None
        if found is None or found[0] < self._asked - self.waits:  # too old, by asks alone
            raise DecisionError(
                "Expected a decision that waits for its answer: there is none of this word, or it "
                "was answered, withdrawn, or made too many asks ago. Nothing was recorded."
            )
        return str(word), found[1]

    def _wait(self, place: int) -> str:
        """Count an ask, and keep its place under a new word. Answers to old asks are given up by
        their age in asks alone.
        """
        word, ask = secrets.token_hex(WORD), self._asked
        self._asked = ask + 1
        self._waiting[word] = ask, place
        while self._waiting:
            oldest = next(iter(self._waiting))
            if self._waiting[oldest][0] >= self._asked - self.waits:
                break
            del self._waiting[oldest]
        return word

    def _tell(self, word: str, place: int) -> None:
        self._telling = Tell(word, place, int(self._open.counts[place]) + 1)  # it is recorded
        self._finish_telling()

    def _finish_telling(self) -> None:
        """Put a record into its count, and forget its decision. An interrupted call is finished by
        the next one: doing it again changes nothing.
        """
        telling = self._telling
        if telling is not None:
            self._open.counts[telling.place] = telling.total
            self._waiting.pop(telling.word, None)
            self._telling = None

    def _release_if_due(self) -> None:
        """Release the block that as many asks as were fixed have come to, or that was drawn."""
        shown = self._open.shown
        is_full = self._asked - shown.state.visits >= self.policy.length(shown.state)
        if is_full or self._open.drawn is not None:
            shown = self._with_block(shown)
            self._put(shown, self._open.counts)

    def _with_block(self, shown: Shown) -> Shown:
        """What is shown once the open block is released.

        Raises:
            NotRecordedError: the noise source failed. Nothing was released; the next ask tries
                again.
        """
        try:
            return frameless(self._with_drawn, shown)
        except Exception as error:
            raise NotRecordedError(
                "The release that is due failed (see the cause above). Nothing was released, and "
                "no decision was made. Ask again once the noise source works."
            ) from error

    def _with_drawn(self, shown: Shown) -> Shown:
        if self._open.drawn is None:
            visits = self._asked - shown.state.visits
            block = Block((EVERY,), self._open.counts, (visits,))
            _, (answer,) = self._mechanism.answer(None, block, self._noise)
            none = np.zeros_like(self._open.counts)
            self._open = self._open._replace(counts=none, drawn=answer)
        drawn = self._open.drawn
        return Shown(self.policy.learned(shown.state, drawn), (*shown.released, drawn))


def refuse_options(options: Iterable[str]) -> None:
    """Refuse options that this session does not have.

    Raises:
        ValueError: one that `Session` has. TypeError: one that no session has.
    """
    for name in options:
        if name not in REFUSED:
            raise TypeError(f"Got an unexpected argument {shown(name)}.")
        raise ValueError(
            f"Contexts and decisions are private in this session, and {name}= is not for it: "
            f"{REFUSED[name]}. Nothing was done."
        )
