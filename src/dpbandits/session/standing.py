"""What a session is made of, and what it says of itself. All that it says is public. What a policy
says of itself has to be what its mechanism keeps: that is checked before anything is recorded.
"""

import secrets
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from hashlib import sha256
from typing import Any, NamedTuple

from dpbandits.campaign.assignment import assignment_of
from dpbandits.campaign.attribution import attribution_of, require_clock
from dpbandits.campaign.guardrail import Guardrail
from dpbandits.campaign.people.price import per_user, policy_for_users
from dpbandits.campaign.people.register import Clock, Place, Register, register_of
from dpbandits.campaign.people.spacing import Spacing, spacing_of
from dpbandits.campaign.roster import ArmStanding
from dpbandits.campaign.ruler import Range
from dpbandits.campaign.traffic import Traffic
from dpbandits.campaign.watching.answers import Unanswered
from dpbandits.core.calls.gate import Gate
from dpbandits.core.inputs import whole_number
from dpbandits.core.plan import Plan
from dpbandits.core.privacy import Entry, Guarantee
from dpbandits.core.privacy import spent as spent_of
from dpbandits.core.values import checked_name, checked_noise, checked_seed
from dpbandits.noise.protocol import Noise
from dpbandits.policies.contract import Policy
from dpbandits.policies.labels import ArmLabel
from dpbandits.session.decisions import MOST_PENDING, PENDING, Decision
from dpbandits.session.options import (
    checked_rewards_range,
    default_of,
    require_agreement,
    require_choice,
    require_policy,
    watched_mechanism,
)
from dpbandits.session.wheel.events import in_order
from dpbandits.session.wheel.guarded import alarms_of, wheel_for
from dpbandits.session.wheel.overdue import overdue_words
from dpbandits.vault import open_vault


class SessionEvent(NamedTuple):
    """Something that was done to a session, and after how many decisions. Public.

    what: "add", "retire", "pause" or "resume" (an arm), or "drop" (all open blocks); with a
        guardrail also "suspend", or "alarm" where the arm is the last one in play; "overdue" where
        an arm's first block waits for requests that are too old. arm: its name or number; None
        where it is about all. said: of an alarm, what is to be done, in words.
    """

    what: str
    arm: str | int | None
    asked: int
    said: str = ""


class Standing:
    """Where a session stands: its promise, its ledger, and what it waits for."""

    def __init__(
        self,
        policy: Policy,
        *,
        noise: Noise,
        seed: int | None = None,
        default: float | None = None,
        campaign: str | None = None,
        max_pending: int = PENDING,
        rewards: Range | None = None,
        privacy_unit: str = "round",
        max_contributions: int | None = None,
        max_contributions_per_release: int | None = None,
        window: timedelta | None = None,
        clock: Clock | None = None,
        user_key: bytes | None = None,
        attribution_window: timedelta | None = None,
        assignment: str = "planned",
        min_share: float | None = None,
        segments: Iterable[str] | None = None,
        guardrail: Guardrail | None = None,
    ) -> None:
        require_policy(policy)
        require_clock(clock, window, attribution_window)
        spacing = spacing_of(max_contributions_per_release, privacy_unit, policy)
        people = register_of(privacy_unit, max_contributions, window, clock, user_key)
        policy = self._promise_to(people, spacing, policy)
        self._gate = Gate()
        self._inside, self._home = self._gate.inside, self._gate.home.mark
        self._noise = checked_noise(noise)
        self.seed = secrets.randbits(63) if seed is None else checked_seed(seed)
        self.campaign = f"{self.seed:x}" if campaign is None else checked_name(campaign)
        self._randomizer = policy.randomizer()
        self.rewards = checked_rewards_range(rewards, self._randomizer is not None)
        self.default = default_of(default, self.rewards)
        self.max_pending = whole_number(max_pending, "max_pending", 1, MOST_PENDING)
        self._begin(policy, noise, guardrail, spacing)
        self._assign(assignment, min_share, named=campaign is not None)
        self._attribution = attribution_of(attribution_window, clock)
        if self._attribution is not None:  # every decision is resolved when its time has passed
            self._wheel.late = None
        self._special = special(self)

    def _promise_to(
        self, people: Register | None, spacing: Spacing | None, policy: Policy
    ) -> Policy:
        """Who counts; and the policy at the budget that leaves for a round."""
        self._people, self._owners = people, dict[int, Place]()
        if people is None:
            return policy
        return policy_for_users(policy, people.cap, apart=spacing is not None)

    def _begin(
        self, policy: Policy, noise: Noise, guardrail: Guardrail | None, spacing: Spacing | None
    ) -> None:
        """An empty vault, and the wheel before its first turn."""
        self.guardrail, mechanism = guardrail, watched_mechanism(policy, guardrail)
        self._vault = open_vault(
            policy.about.feedback, mechanism, policy.arms, noise, self._randomizer
        )
        self._vault.unit = None if self.rewards is None else self.rewards.to_unit
        require_agreement(policy, self._vault.guarantee)
        self._wheel = wheel_for(policy, self._vault, self.seed, guardrail, mechanism)
        self._wheel.spacing = spacing
        self._events: tuple[SessionEvent, ...] = ()
        self._unanswered: Unanswered | None = Unanswered()
        self.generation = 0

    def _assign(self, assignment: str, min_share: float | None, *, named: bool) -> None:
        """How arms are assigned beside the plan. named: the session was given a name."""
        self._assignment = assignment_of(assignment, min_share, self.policy.arms)
        self._traffic = Traffic.of(self.policy.arms)
        if self._assignment is not None:
            require_choice(self.policy, "assignment= or min_share=")
            if not named:  # the seed foretells who gets what, so decisions do not name it
                self.campaign = sha256(str(self.seed).encode()).hexdigest()[:16]

    def __getstate__(self) -> dict[str, Any]:
        """What copies take along: all but the entry, of which each has its own."""
        return {
            name: value for name, value in self.__dict__.items() if name not in ("_inside", "_home")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._inside, self._home = self._gate.inside, self._gate.home.mark

    def __repr__(self) -> str:
        return (
            f"Session({self.policy!r}, asked={self._wheel.asked}, told={self._vault.records}, "
            f"releases={self._vault.releases})"
        )

    @property
    def policy(self) -> Policy:
        """The policy at work."""
        return self._wheel.policy

    @property
    def guarantee(self) -> Guarantee | None:
        """What every decision of this session promises together, as it was opened; None for a
        policy without privacy.
        """
        guarantee = self._vault.guarantee
        if guarantee is None:
            return None
        guarantee = replace(guarantee, noise=self._noise.kind)
        if self._attribution is not None:
            guarantee = replace(guarantee, public=("decisions", "number and time of asks"))
        people = self._people
        return guarantee if people is None else per_user(guarantee, people, self._wheel.spacing)

    @property
    def ledger(self) -> tuple[Entry, ...]:
        """What was read, at what price; `dpbandits.spent(session.ledger)` is its exact total."""
        return self._vault.ledger

    @property
    def spent(self) -> Fraction | None:
        """The ledger's exact total for the worst-off record; None if anything was read without
        noise.
        """
        return spent_of(self._vault.ledger)

    @property
    def pending(self) -> tuple[Decision, ...]:
        """Decisions asked and neither told nor expired, oldest first."""
        waiting, asked = self._wheel.pending.copy(), self._wheel.asked
        return tuple(
            play.decision(id, self.campaign) for id, play in waiting.items() if id <= asked
        )

    @property
    def resolved(self) -> int:
        """Decisions that were told or expired, those among them whose reward was lost."""
        return self._wheel.asked - len(self.pending)

    @property
    def unread(self) -> int:
        """Decisions that are resolved without a reward that counts: void ones, those of arms that
        are retired, and those that nobody learns from (`Decision.learn`).
        """
        return self._wheel.unread

    @property
    def arms(self) -> tuple[tuple[ArmLabel | int, ArmStanding], ...]:
        """Every arm there ever was, and where it stands: active, paused or retired."""
        roster = self._wheel.roster
        names = roster.labels or range(len(roster.standing))
        return tuple(zip(names, roster.standing, strict=True))

    @property
    def attribution_window(self) -> float | None:
        """For how many seconds an answer is waited for; None: it counts as it comes."""
        return None if self._attribution is None else self._attribution.seconds

    @property
    def events(self) -> tuple[SessionEvent, ...]:
        """What was done to the session besides asking and telling, in order. Public."""
        noticed = [SessionEvent("overdue", self._name(arm), at) for arm, at in self._noticed]
        alarms = sorted([*self._suspended(), *noticed], key=lambda event: event.asked)
        return in_order(self._events, alarms)

    @property
    def alarms(self) -> tuple[SessionEvent, ...]:
        """What somebody should look at: arms that passed the guardrail ("suspend", or "alarm"
        where the arm was the last one in play), in order; and arms whose first block waits for
        requests that are overdue ("overdue"), until it waits no more. Public.

        A request is overdue that waits for several times as long as answers usually take. Others
        are asked for in its place, and its answer still counts if it comes.
        """
        return self._alarms(lambda id: f"decision {id:,}")

    def _alarms(self, when: Callable[[int], str]) -> tuple[SessionEvent, ...]:
        """when: when a decision was made, in words."""
        noticed, waits = dict(self._noticed), list[SessionEvent]()
        for arm, missing, since in self._wheel.delayed():
            name = self._name(arm)
            said = overdue_words(name, missing, when(since))
            at = noticed.get(arm, self._wheel.asked)
            waits.append(SessionEvent("overdue", name, at, said))
        return (*self._suspended(), *waits)

    def _suspended(self) -> list[SessionEvent]:
        """Arms that passed the guardrail."""
        return [
            SessionEvent("suspend" if suspended else "alarm", self._name(arm), at)
            for arm, at, suspended in alarms_of(self._wheel)
        ]

    @property
    def _noticed(self) -> tuple[tuple[int, int], ...]:
        """Arms whose first block was found to wait for overdue requests, and when."""
        return self._wheel.overdue.noticed

    def _name(self, arm: int) -> str | int:
        names = self._wheel.roster.labels
        return names[arm] if names else arm

    @property
    def lost(self) -> int:
        """Decisions whose tell was interrupted after it was claimed: their rewards never
        entered.
        """
        return self._wheel.lost

    @property
    def state(self) -> Any:
        """What the policy knows (public)."""
        return self._wheel.turn.state

    @property
    def plan(self) -> Plan:
        """What is being played now (public)."""
        return self._wheel.turn.plan

    @property
    def releases(self) -> int:
        """Coordinates released so far."""
        return self._vault.releases


def special(own: Standing) -> bool:
    """Whether its decisions do not come from the plan alone."""
    return any(part is not None for part in (own._people, own._assignment, own._attribution))
