"""A store of campaigns."""

from __future__ import annotations

import hmac
import secrets
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import timedelta
from fractions import Fraction
from hashlib import sha256
from typing import Any, final

from dpbandits.core.errors import (
    NameTakenError,
    PrivacyWarning,
    UnknownCampaignError,
    WitnessError,
)
from dpbandits.core.inputs import checked_name, is_line, seconds_of, shown
from dpbandits.core.privacy import Guarantee, as_fraction, printed
from dpbandits.noise.protocol import Noise
from dpbandits.noise.sources import SecureNoise
from dpbandits.policies.contextual import ContextualPolicy
from dpbandits.policies.contract import Policy
from dpbandits.service.campaign import Campaign, LocalCalls
from dpbandits.service.creation import (
    LONGEST_NAME,
    OPTIONS,
    beginning,
    creation_mark,
    first_sessions,
    holdout_rule,
    layout_of,
    options_in,
    require_creatable,
    require_few_arms,
)
from dpbandits.service.database import Database, no_scope
from dpbandits.service.models import Scope, Summaries
from dpbandits.service.operations import checked_caller
from dpbandits.service.parts import Setting
from dpbandits.service.refusals import code_for, refusal
from dpbandits.service.sealing import StoreSeal
from dpbandits.service.tables import CampaignRow, ScopeKind, ScopeRow
from dpbandits.service.transaction import Host
from dpbandits.service.witness import Mark, Moves, ScopeMark, Witness
from dpbandits.session.options import LONGEST_KEY, require_policy
from dpbandits.session.people import HoldoutRule
from dpbandits.session.saving import require_readable
from dpbandits.session.session import Session
from dpbandits.session.times import Clock, length_words

NO_KEY = (
    "This store has no key: sums that are not released yet lie in its database in clear, and "
    "whoever reads its files sees single rewards. A store gets its key before its first campaign: "
    "open_store(url, key=…), or DPBANDITS_KEY, 64 digits that secrets.token_hex(32) makes."
)


@final
class CampaignStore(AbstractContextManager["CampaignStore"]):
    """Campaigns in one place. `dpbandits.open_store(url)` opens one.

    Threads and processes may share a store, forked ones, too. On SQLite a process is refused that
    was forked while another thread was within a call.

    Args:
        looking: for a process that only looks: private rows stay unread, and nothing is written.

    Raises:
        StoreError: its campaigns were made with another key, or without one.
    """

    def __init__(
        self,
        database: Database,
        witness: Witness,
        *,
        key: bytes | None = None,
        noise: Noise | None = None,
        clock: Clock = time.time,
        looking: bool = False,
    ) -> None:
        self.database, self.witness, self.is_looking = database, witness, looking
        self._clock, self._noise = clock, noise
        self._seal = StoreSeal(key, witness.secret)
        self._open = dict[str, tuple[CampaignRow, Campaign]]()
        if not looking:
            self._require_key()

    def __repr__(self) -> str:
        return f"CampaignStore({self.database!r})"

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database and its witness."""
        self.database.close()
        self.witness.close()

    def __len__(self) -> int:
        return len(self.database.campaigns())

    def __iter__(self) -> Iterator[str]:
        return iter([row.name for row in self.database.campaigns()])

    def __contains__(self, name: object) -> bool:
        return self._found(name) is not None

    def __getitem__(self, name: str) -> Campaign:
        """A campaign of this store.

        Raises:
            UnknownCampaignError: there is none of this name.
        """
        known = self._open.get(name)
        if known is None:
            row = self._row(name)
            known = self._open[name] = row, self._campaign(row, None)
        return known[1]

    def open(self, name: str, *, policy: Policy | type[Policy]) -> Campaign:
        """Open a campaign whose policy is user-defined: a database names no code.

        Args:
            name: of the campaign.
            policy: the class of the policy that it was made with.

        Raises:
            ValueError: it was made with another one. Nothing was changed.
        """
        row = self._row(name)
        opened = self._campaign(row, policy)
        _ = opened.policy  # refused before it takes another one's place
        self._open[name] = row, opened
        return opened

    def forget_missing(self) -> None:
        """Open a campaign anew at its next call if a copy was restored that lacks it: another one
        may have its name now.
        """
        opened = list(self._open.items())  # before the rows: none is missed that is made meanwhile
        rows = set(self.database.campaigns())
        for name, known in opened:
            if known[0] not in rows and self._open.get(name) is known:
                self._open.pop(name, None)

    def summaries(self) -> Summaries:
        """Where every campaign stands; and the names of those that cannot be opened here, because
        their policy is user-defined (see `open`).
        """
        summaries, others = [], []
        for name in self:
            try:
                summaries.append(self[name].summary())
            except ValueError:
                others.append(name)
        return Summaries(campaigns=summaries, not_shown=others)

    def _found(self, name: object) -> CampaignRow | None:
        """The row of this name. A database is not asked for what it could not keep."""
        return self.database.campaign(name) if is_line(name, LONGEST_NAME) else None

    def _row(self, name: str) -> CampaignRow:
        row = self._found(name)
        if row is None:
            raise UnknownCampaignError(
                f"There is no campaign {shown(name)} in this store. list(store), or `dpbandits "
                "campaign list`, names all there are."
            )
        return row

    def _campaign(self, row: CampaignRow, policy: Policy | type[Policy] | None) -> Campaign:
        setting = Setting(self._seal, self._clock, self._noise, policy, self.is_looking)
        layout = layout_of(row, self.database.parts(row.uid), self._seal)
        if layout.rule is not None and layout.side_key is None and not self.is_looking:
            raise refusal("keyless")
        host = Host(layout, self.database, self.witness, setting)
        return Campaign(row.name, LocalCalls(host))

    def _require_key(self) -> None:
        """Refuse to work with another key than the one that some campaign was made with."""
        row = self.database.some_private()
        if row is not None:
            self._seal.require_same_key(row)

    def require_own_witness(self) -> None:
        """Refuse to begin anything beside a new witness, as one that is not named: of the campaigns
        here some would be known to one witness, and some to another.

        Raises:
            WitnessError: there are campaigns, of which it never saw any.
        """
        # asked again: a campaign that was made between two looks has its mark before it is there
        witness = self.witness
        if witness.is_empty() and self.database.campaigns() and witness.is_empty():
            raise WitnessError(
                f"The witness {self.witness.place} knows no campaign of this store. Name the one "
                "of whoever serves it, with witness= or --witness; if that is lost, `dpbandits "
                "campaign fence` begins a new one. Nothing was done."
            )

    @code_for("option")
    def create(
        self,
        name: str,
        policy: Policy,
        *,
        noise: Noise | None = None,
        scope: str | Scope | None = None,
        by: str | None = None,
        key: str | None = None,
        unsealed: bool = False,
        **options: Any,
    ) -> Campaign:
        """Make a campaign.

        Args:
            name: its name, which decisions carry; at most 100 characters.
            policy: any policy.
            noise: by default `SecureNoise()`; `SimulatedNoise(seed)` for experiments.
            scope: a budget over campaigns that it joins (see `scope`).
            by: who makes it.
            key: a word of theirs; the call made again with it gives the campaign that it made.
            unsealed: whether it may have an `attribution_window` in a database without a key, where
                single people's outcomes then lie in clear until their time has passed.
            options: those of `Session`; help(dpbandits.Session) describes each. Above all
                `min_share` (so that a winner can be named; a control arm's share), `rewards` (their
                range), `attribution_window` (silence counts as 0), `privacy_unit`,
                `max_contributions` and `sticky` (people who come back), `period` (rates that rise
                and fall), `guardrail`, and `responsible` (for statements). None can be changed
                later. Arms are assigned "shuffled" by default, where the policy can choose among
                them and does not decide by contexts. Also `segments`, their names; or `holdout`, a
                share of people, and `control`, their arm.

        Raises:
            ValueError: the name is taken, options contradict each other, there are more than 10,000
                arms (over all segments), the scope has not so much left, or its first campaign has
                another kind of guarantee. Nothing was created.
            StoreError: another key has been at work since this store was opened, or the database
                cannot be written.
            WitnessError: it is another store's, or cannot be written.

        Example:
            >>> from dpbandits import DPKLUCB, SimulatedNoise, open_store
            >>> now = [0.0]
            >>> store = open_store("memory:", clock=lambda: now[0])
            >>> week = timedelta(days=7)
            >>> options = {"attribution_window": week, "unsealed": True, "by": "ada"}
            >>> policy = DPKLUCB(arms=["a", "b"], epsilon=1)
            >>> trial = store.create("c", policy, noise=SimulatedNoise(1), **options)
            >>> decisions = trial.ask(2)
            >>> now[0] += 8 * 86_400
            >>> trial.settle()                      # nobody answered: 0 counts for both
            >>> trial.summary().asked
            2
        """
        self.database.require_writer()
        require_creatable(name, noise, options)
        require_policy(policy)
        require_few_arms(policy.arms)
        require_readable(policy)
        caller = checked_caller(by)
        budget = scope.name if isinstance(scope, Scope) else scope
        if budget is not None and not is_line(budget, LONGEST_NAME):
            raise no_scope(budget)
        if key is not None and not is_line(key, LONGEST_KEY):
            raise ValueError(
                f"Expected key={shown(key)} to be a text of at most {LONGEST_KEY} characters that "
                "can be printed. Nothing was created."
            )
        known = {**options, "unsealed": True} if self._is_in_clear(options, unsealed) else options
        rule, source = holdout_rule(policy, options), noise or self._noise or SecureNoise()
        self._require_key()
        self.require_own_witness()
        mark = creation_mark(name, policy, known, budget)
        uid = secrets.token_hex(16) if budget is None else self._uid(mark, source)
        sessions = self._sessions(name, uid, policy, source, options, rule)
        guarantee = next(iter(sessions.values())).guarantee
        now = seconds_of(self._clock())
        epsilon = None if guarantee is None else guarantee.epsilon
        took = None if budget is None else (budget, str(epsilon))
        layout, changes = beginning(name, uid, sessions, rule, self._seal, known, now, took)
        responses = {}
        if key is not None:
            responses[self._seal.call_place(uid, caller, key)] = mark
        if (
            guarantee is not None
            and guarantee.noise == "secure"
            and not (unsealed is True or self.hides)
        ):
            warnings.warn(NO_KEY, PrivacyWarning, stacklevel=3)
        rows = [layout.row, *(row for row in layout.parts.values() if row != layout.row)]
        moves = {each: (Mark.of(c.head), None, c.head.latest) for each, c in changes.items()}
        joining = None
        try:
            # witnessed first: a campaign that its witness does not know has another one
            if budget is None:
                self.witness.add(moves)
            else:
                joining = budget, self._joining(name, guarantee, options.get("window"), moves)
            self.database.create(rows, changes, responses, joining)
        except NameTakenError:
            if key is None or self._said_of(name, caller, key) != mark:
                raise
        return self.open(name, policy=type(policy))

    @property
    def hides(self) -> bool:
        """Whether private rows are sealed, or never on a disk."""
        return self._seal.has_key or not self.database.is_durable

    def _is_in_clear(self, options: dict[str, Any], unsealed: object) -> bool:
        """Whether single people's outcomes will lie in the database as they are.

        Raises:
            ValueError: they would, and it is not said that they may. Nothing was created.
        """
        if options.get("attribution_window") is None or self.hides:
            return False
        if unsealed is not True:
            raise refusal("in_clear")
        return True

    def _sessions(
        self,
        name: str,
        uid: str,
        policy: Policy,
        noise: Noise,
        options: dict[str, Any],
        rule: HoldoutRule | None,
    ) -> dict[str, Session]:
        people = options.get("privacy_unit", "round") == "user"
        if (people or rule is not None) and not self._seal.has_key:
            raise refusal("keyless")
        timers = "window", "attribution_window", "period"
        timed = any(options.get(each) is not None for each in timers)
        chooses = policy.chooses and policy.about.feedback == "bandit"
        chooses = chooses and not isinstance(policy, ContextualPolicy)
        known: dict[str, Any] = {
            "noise": noise,
            "clock": self._clock if timed else None,
            "user_key": self._seal.user_key(uid) if people else None,
            "assignment": "shuffled" if chooses else "planned",
            **{name: value for name, value in options.items() if name not in OPTIONS},
        }
        return first_sessions(name, policy, rule, **known)

    def _said_of(self, name: str, by: str, key: str) -> str | None:
        """What is kept of a call that made this campaign. by: whose call it was."""
        row = self._row(name)
        with self.database.reading(row.uid) as rows:
            return rows.response(self._seal.call_place(row.uid, by, key))

    # Budgets over campaigns

    def _uid(self, mark: str, noise: Noise) -> str:
        """Return the uid of a campaign that joins a scope. One that is made again, because the call
        was cut off or a restored database lacks it, has the same, and takes its share once.
        """
        made = f"{mark} {noise.kind}".encode()
        return hmac.new(self.witness.secret(), made, sha256).hexdigest()[:32]

    def _joining(
        self, name: str, guarantee: Guarantee | None, window: timedelta | None, moves: Moves
    ) -> Callable[[ScopeRow], ScopeRow]:
        def join(scope_row: ScopeRow) -> ScopeRow:
            seen = self.witness.scope(scope_row.name)
            before = as_seen(scope_row, seen)
            if self.witness.marks(list(moves)):  # it has its share
                return before
            taken = joined(before, name, guarantee, window)
            self.witness.add(moves, (taken.name, ScopeMark(taken.spent, taken.kind), seen))
            return taken

        return join

    def _seen(self, row: ScopeRow) -> ScopeRow:
        return as_seen(row, self.witness.scope(row.name))

    def scope(self, name: str, epsilon: Any = None) -> Scope:
        """A budget over campaigns: those that join it spend at most so much together.

        The first campaign that joins fixes what the epsilons are about: the unit (round or user),
        the window of contributions, trust (central or local) and noise (secure or simulated).
        Others are refused.

        Args:
            name: of the scope; at most 100 characters.
            epsilon: the budget, for a new scope; of a known one it has to be the same, or left out.

        Raises:
            ValueError: no budget for a new scope, or another one for a known one.
        """
        known = self.database.scope(checked_name(name, "scope"))
        if known is None:
            if epsilon is None:
                raise refusal(
                    "no_such_scope", f"Expected epsilon= for the new scope {shown(name)}."
                )
            self.database.add_scope(ScopeRow(name, str(as_fraction(epsilon, "epsilon")), "0"))
            known = self.database.scope(name)
        assert known is not None
        known = self._seen(known)
        if epsilon is not None and as_fraction(epsilon, "epsilon") != Fraction(known.epsilon):
            raise ValueError(
                f"The scope {shown(name)} has a budget of {known.epsilon}; it stays as it is."
            )
        return Scope.of(known, self._taken(known.name))

    def scopes(self) -> list[Scope]:
        """Every budget over campaigns, with what each campaign took of it."""
        return [Scope.of(self._seen(row), self._taken(row.name)) for row in self.database.scopes()]

    def _taken(self, scope: str) -> dict[str, str]:
        """By campaign, what it took of a scope, an exact fraction as text."""
        taken = dict[str, str]()
        for row in self.database.campaigns():
            name, epsilon = options_in(row).get("scope") or (None, "")
            if name == scope:
                taken[row.name] = str(epsilon)
        return taken


def as_seen(row: ScopeRow, seen: ScopeMark | None) -> ScopeRow:
    """A scope as it stands. What a witness saw spent is spent, and what it saw fixed is fixed,
    whatever a copy says.
    """
    if seen is None:
        return row
    kind = row.kind if seen.kind.unit is None else seen.kind
    spent = max(Fraction(seen.spent), Fraction(row.spent))
    return row._replace(spent=str(spent), **kind._asdict())


def joined(
    scope: ScopeRow, campaign: str, guarantee: Guarantee | None, window: timedelta | None
) -> ScopeRow:
    """Return the scope once a campaign has joined it.

    Each campaign is an interactive mechanism, and they compose: the sum of their guarantees is at
    most the budget (Haney et al. 2023). Only guarantees of one kind are added.

    Raises:
        ValueError: the campaign has no epsilon, or more than is left, or its guarantee is of
            another kind than those of the scope.
    """
    if guarantee is None or guarantee.epsilon is None:
        raise ValueError(
            "Expected a policy with an epsilon: a scope adds up epsilons, and this one has none. "
            "Nothing was created."
        )
    cost, spent, most = guarantee.epsilon, Fraction(scope.spent), Fraction(scope.epsilon)
    seconds = None if window is None else window.total_seconds()
    kind = ScopeKind(guarantee.unit, seconds, guarantee.trust, guarantee.noise)
    if scope.unit is not None and scope.kind != kind:
        raise refusal(
            "scope_kind",
            f"The scope {scope.name!r} adds up guarantees {words_of(scope.kind)}, which its first "
            f"campaign fixed; {campaign!r} has one {words_of(kind)}. Make another scope for it. "
            "Nothing was created.",
        )
    if spent + cost > most:
        raise refusal(
            "scope_spent",
            f"The scope {scope.name!r} has a budget of {printed(most)}, of which its campaigns "
            f"took {printed(spent)}; {campaign!r} would take {printed(cost)} more. Nothing was "
            "created.",
        )
    return scope._replace(spent=str(spent + cost), **kind._asdict())


def words_of(kind: ScopeKind) -> str:
    """A kind of guarantee in words.

    >>> words_of(ScopeKind("user", 604800.0, "central", "secure"))
    'per user and window of 7 days, central trust, secure noise'
    """
    span = ""
    if kind.window is not None:
        span = f" and window of {length_words(kind.window)}"
    return f"per {kind.unit}{span}, {kind.trust} trust, {kind.noise} noise"
