"""The wheel of a session with a guardrail: what a release says of harm is looked at as the turn is
made that it begins, and arms that do too much of it are paused.
"""

from __future__ import annotations

from typing import Any, final

from dpbandits.campaign.believing.believed import Believed
from dpbandits.campaign.guardrail import Alarm, Guardrail, Harm
from dpbandits.core.values import damaged
from dpbandits.mechanisms.joint import GuardedBatches, of_harm
from dpbandits.policies import turn as wheel
from dpbandits.policies.contract import Policy
from dpbandits.session.wheel.offers import AskedTurn
from dpbandits.session.wheel.together import JointWheel
from dpbandits.session.wheel.turn import Wheel
from dpbandits.vault import Vault


@final
class GuardedWheel(Wheel):
    """A wheel that suspends arms."""

    def __init__(
        self, policy: Policy, vault: Vault, seed: int, rail: Guardrail, mechanism: GuardedBatches
    ) -> None:
        names = policy.labels or tuple(map(str, range(policy.arms)))
        self.harm = Harm.of(rail, of_harm(mechanism), names)
        super().__init__(policy, vault, seed)

    def asked_about(self, opened: wheel.Turn, believed: Believed) -> AskedTurn:
        """First of all arms are suspended, so that the turn's asks know it."""
        if self.busy and self.vault.turns > self.turn.step:
            self.watch()
        return super().asked_about(opened, believed)

    def watch(self) -> None:
        """Look at the newest release. Made again after an interruption, it comes to the same."""
        newest, roster = self.vault.newest, self.roster
        assert newest is not None
        if self.harm.turns < self.vault.turns:
            names = roster.labels or tuple(map(str, range(self.policy.arms)))
            known = self.harm.with_arms(tuple(map(str, names)))
            self.harm = known.after(newest, self.vault.turns, roster.in_play, self.asked)
        for arm, at, suspended in self.harm.alarms:
            if suspended and at == self.asked and arm in newest.coordinates:
                roster = roster.moved(arm, "paused")
        self.roster = roster


def wheel_for(
    policy: Policy, vault: Vault, seed: int, rail: Guardrail | None, mechanism: object
) -> Wheel:
    """The wheel for a policy's kind of records."""
    if rail is not None and isinstance(mechanism, GuardedBatches):
        return GuardedWheel(policy, vault, seed, rail, mechanism)
    return (JointWheel if vault.together else Wheel)(policy, vault, seed)


def alarms_of(wheel: Wheel) -> tuple[Alarm, ...]:
    """Arms whose harm passed the limit, in order."""
    return wheel.harm.alarms if isinstance(wheel, GuardedWheel) else ()


def harm_to_data(wheel: Wheel) -> dict[str, Any] | None:
    """What is known of harm, for JSON; None without a guardrail."""
    return wheel.harm.to_data() if isinstance(wheel, GuardedWheel) else None


def restore_harm(wheel: Wheel, data: object) -> None:
    """Go on from what `harm_to_data` wrote.

    Raises:
        DamagedSessionError: it is not that, of this session.
    """
    if isinstance(wheel, GuardedWheel):
        wheel.harm = wheel.harm.restored(data, wheel.policy.arms, wheel.asked)
    elif data is not None:
        raise damaged("public.harm is of a session with a guardrail")
    if isinstance(wheel, GuardedWheel) and wheel.harm.turns != wheel.vault.turns:
        raise damaged("public.harm has not as many releases as were answered")
