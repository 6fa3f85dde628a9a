"""A store of campaigns."""

import secrets
import time
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any, final

from dpbandits.core.calls.forgetting import discreet
from dpbandits.core.errors import NameTakenError
from dpbandits.core.inputs import checked_name, is_line, shown
from dpbandits.core.privacy import Guarantee, as_fraction
from dpbandits.noise.protocol import Noise
from dpbandits.noise.sources import SecureNoise
from dpbandits.policies.contract import Policy
from dpbandits.service.campaign import Campaign
from dpbandits.service.holdout import HoldoutCampaign
from dpbandits.service.looks.store import Campaigns
from dpbandits.service.rows.backend import Backend, Part
from dpbandits.service.rows.memory import no_scope
from dpbandits.service.rows.records import CampaignRow, ScopeRow
from dpbandits.service.scope import Scope, joined, scope_of
from dpbandits.service.sealing import StoreSeal
from dpbandits.service.segments import SegmentedCampaign
from dpbandits.service.turns.beginning import (
    LONGEST_NAME,
    OPTIONS,
    beginning,
    creation_mark,
    first_sessions,
    holdout_in,
    kept_under,
    require_creatable,
    require_few_arms,
)
from dpbandits.service.turns.fence import mark_of
from dpbandits.service.turns.others import call_key
from dpbandits.service.turns.sides import asked_rule, side_sessions
from dpbandits.service.turns.turning import Turning
from dpbandits.service.turns.working import CampaignSetting
from dpbandits.service.witness import ScopeMark, WitnessFile
from dpbandits.session.holdout import HoldoutRule
from dpbandits.session.options import require_policy
from dpbandits.session.people import Clock, seconds_of
from dpbandits.session.saving import require_readable
from dpbandits.session.session import Session

CLEAR = (
    "Expected a store with a key: with attribution_window= single people's outcomes are held in "
    "the database until their time has passed, and without a key they lie there in clear. Open a "
    "new store with open_store(url, key=secrets.token_bytes(32)), or set DPBANDITS_KEY, and keep "
    "that key apart from the database; or say unsealed=True. Nothing was created."
)

KEYLESS = (
    "Expected a store with a key: people are known by pseudonyms that are made with it. Open it "
    "with open_store(url, key=secrets.token_bytes(32)), or set DPBANDITS_KEY, and keep that key "
    "apart from the database."
)


@final
class CampaignStore(Campaigns[Campaign]):
    """Campaigns in one place. `dpbandits.open_store(url)` opens one.

    A campaign has the same verbs as a `Session`; its calls return once what they did is on disk.
    Threads and processes may share a store.

    Raises:
        StoreError: its campaigns were made with another key, or without one.
    """

    def __init__(
        self,
        backend: Backend,
        witness: WitnessFile,
        *,
        key: bytes | None = None,
        noise: Noise | None = None,
        clock: Clock = time.time,
    ) -> None:
        super().__init__(backend, witness, clock)
        self._seal, self._noise = StoreSeal(key, witness.path), noise
        self._require_key()

    def _require_key(self) -> None:
        """Refuse to work with another key than the one that some campaign was made with.

        Raises:
            StoreError: so it is.
        """
        found = self._backend.some_private()
        if found is not None:
            self._seal.require_same_key(found)

    def _campaign(self, row: CampaignRow, policy: Policy | type[Policy] | None) -> Campaign:
        setting = CampaignSetting(self._seal, self._clock, self._noise, policy)
        own_rows, rule = self._part_rows(row), holdout_in(row)
        if not own_rows:
            return Campaign(Turning(row, self._backend, self._witness, setting))
        plain = replace(setting, policy=None)
        parts = {
            name: (own, setting if place == 0 or not rule else plain)
            for place, (name, own) in enumerate(own_rows.items())
        }
        opened = {
            name: Campaign(Turning(own, self._backend, self._witness, how, others))
            for name, (own, how) in parts.items()
            for others in [tuple(each for each in parts.values() if each[0] != own)]
        }
        made: Any = SegmentedCampaign(row, opened) if rule is None else None
        if rule is not None:
            made = HoldoutCampaign(row, opened, rule, self._side_key(row.uid), self._clock)
        return made  # type: ignore[no-any-return]  # the same verbs

    def _side_key(self, uid: str) -> bytes:
        """
        Raises:
            ValueError: this store has no key.
        """
        key = self._seal.side_key(uid)
        if key is None:
            raise ValueError(KEYLESS)
        return key

    @discreet
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
        """A new campaign.

        Args:
            name: its name, which decisions carry; at most 100 characters.
            policy: any policy.
            noise: by default `SecureNoise()`; `SimulatedNoise(seed)` for experiments.
            scope: a budget over campaigns that it joins (see `scope`).
            by: who makes it.
            key: a word of theirs; the call made again with it gives the campaign that it made.
            unsealed: whether it may have an `attribution_window` in a database without a key, where
                single people's outcomes then lie in clear until their time has passed.
            options: those of `Session`. Arms are assigned "shuffled" by default, where the policy
                can choose among them. With `segments` it is a `SegmentedCampaign`, with `holdout`
                or `ramp` (and `control`, an arm) a `HoldoutCampaign`.

        Raises:
            ValueError: the name is taken, options contradict each other, there are more than 10,000
                arms (over all segments), the scope has not so much left, or its first campaign has
                another kind of guarantee. Nothing was created.
            StoreError: another key has been at work since this store was opened, or the database
                cannot be written.
        """
        require_creatable(name, noise, options)
        require_policy(policy)
        require_few_arms(policy.arms)
        require_readable(policy)
        budget = None if scope is None else str(getattr(scope, "name", scope))
        if budget is not None and not is_line(budget, LONGEST_NAME):
            raise no_scope(budget)
        known = {**options, "unsealed": True} if self._lies_in_clear(options, unsealed) else options
        key = None if key is None else call_key(key)
        uid, rule = secrets.token_hex(16), asked_rule(policy, options)
        sessions = self._sessions(name, uid, policy, noise, options, rule)
        guarantee = next(iter(sessions.values())).guarantee
        now = seconds_of(self._clock())
        self._require_key()
        row, parts = beginning(uid, name, sessions, self._seal, known, now, rule)
        said = creation_mark(policy, row, budget)
        if key is not None:
            parts = kept_under(parts, self._seal.call_place(uid, by or "", key), said)
        try:
            self._begin(row, parts, budget, guarantee, options.get("window"))
        except NameTakenError:
            if key is None or self._said_of(name, by or "", key) != said:
                raise
        return self.open(name, policy=type(policy))

    def _lies_in_clear(self, options: dict[str, Any], unsealed: object) -> bool:
        """Whether single people's outcomes will lie in the database as they are.

        Raises:
            ValueError: they would, and it is not said that they may. Nothing was created.
        """
        held = options.get("attribution_window") is not None
        if not held or not self._backend.durable or self._seal.user_key("") is not None:
            return False
        if unsealed is not True:
            raise ValueError(CLEAR)
        return True

    def _begin(
        self,
        row: CampaignRow,
        parts: list[Part],
        budget: str | None,
        guarantee: Guarantee | None,
        window: timedelta | None,
    ) -> None:
        """Write a new campaign, which joins the scope `budget` with this guarantee, for this window
        of contributions.
        """

        def join(found: ScopeRow) -> ScopeRow:
            taken = joined(self._seen(found), row.name, guarantee, window)
            self._witness.add_scope(taken.name, ScopeMark(taken.spent, taken.kind))
            return taken

        for part, change in parts:
            # witnessed first: a campaign that its witness does not know has another one
            self._witness.add(part.uid, mark_of(change.head), None)
        self._backend.create(row, parts, None if budget is None else (budget, join))

    def _said_of(self, name: str, by: str, key: str) -> str | None:
        """What is kept of a call that made this campaign. by, key: whose call it was, and its
        key.
        """
        row = self._row(name)
        first = next(iter(self._part_rows(row).values()), row)
        with self._backend.reading(first.uid) as rows:
            return rows.response(self._seal.call_place(row.uid, by, key))

    def _sessions(
        self,
        name: str,
        uid: str,
        policy: Policy,
        noise: Noise | None,
        options: dict[str, Any],
        rule: HoldoutRule | None,
    ) -> dict[str | None, Session]:
        """The session that a campaign begins with, or that of each segment, or of each side."""
        people = options.get("privacy_unit", "round") == "user"
        if (people or rule is not None) and self._seal.user_key(uid) is None:
            raise ValueError(f"{KEYLESS} Nothing was created.")
        timed = any(options.get(each) is not None for each in ("window", "attribution_window"))
        chooses = policy.chooses and policy.about.feedback == "bandit"
        known: dict[str, Any] = {
            "noise": noise or self._noise or SecureNoise(),
            "clock": self._clock if timed else None,
            "user_key": self._seal.user_key(uid) if people else None,
            "assignment": "shuffled" if chooses else "planned",
            **{name: value for name, value in options.items() if name not in OPTIONS},
        }
        if rule is not None:
            return side_sessions(name, policy, rule, **known)
        return first_sessions(name, policy, **known)

    def scope(self, name: str, epsilon: Any = None) -> Scope:
        """A budget over campaigns: those that join it spend at most so much together.

        The first campaign that joins fixes what the epsilons are about: the unit (round or user),
        the window of contributions, trust (central or local) and noise (secure or simulated).
        Others are refused.

        epsilon: the budget, for a new scope; of a known one it has to be the same, or left out.

        Raises:
            ValueError: no budget for a new scope, or another one for a known one.
        """
        known = self._backend.scope(checked_name(name))
        if known is None:
            if epsilon is None:
                raise ValueError(f"Expected epsilon= for the new scope {shown(name)}.")
            self._backend.add_scope(ScopeRow(name, str(as_fraction(epsilon, "epsilon")), "0"))
            known = self._backend.scope(name)
        assert known is not None
        known = self._seen(known)
        if epsilon is not None and as_fraction(epsilon, "epsilon") != Fraction(known.epsilon):
            raise ValueError(
                f"The scope {shown(name)} has a budget of {known.epsilon}; it stays as it is."
            )
        return scope_of(known)
