"""A campaign with sides: the policy's people, holdout people, and those whom the ramp has not come
to. Each side is a campaign of its own in the store; people are counted over all of them.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, final

from dpbandits.core.inputs import shown
from dpbandits.service.campaign import Campaign, ask_op
from dpbandits.service.looks.segments import ShownHoldout
from dpbandits.service.rows.backend import CampaignRows
from dpbandits.service.rows.records import CampaignRow
from dpbandits.service.segments import SegmentedCampaign
from dpbandits.service.turns.asks import AnsweredBeside, AskOp, CampaignDecision, asked_before
from dpbandits.service.turns.working import Working
from dpbandits.session.decisions import User
from dpbandits.session.holdout import HoldoutRule, Side, hashed_place
from dpbandits.session.people import Clock, seconds_of


@final
class HoldoutCampaign(ShownHoldout[Campaign], SegmentedCampaign):
    """A campaign whose policy decides for some people only: `store.create(…, holdout=".05",
    ramp=[("2026-12-01", ".1"), ("2026-12-08", 1)])`.

    A keyed hash of the user says which side they are on, so `ask` needs `user=`; a decision says it
    by its `campaign`. `eligible=` has to hold the control arm, which everybody may get.
    `campaign["policy"]`, `["holdout"]` and `["control"]` are the sides, to look at.
    """

    def __init__(
        self,
        row: CampaignRow,
        parts: Mapping[str, Campaign],
        rule: HoldoutRule,
        key: bytes,
        clock: Clock,
    ) -> None:
        super().__init__(row, parts, rule)
        self._key, self._clock = key, clock
        self._known = self.options.get("privacy_unit") == "user"

    def side(self, user: str | int) -> Side:
        """The side that a person is on at present. It is public.

        Raises:
            TypeError: no text and no whole number.
        """
        return self.rule.side(
            hashed_place(user, self._key, self.rule.typed), seconds_of(self._clock())
        )

    def ask_for(
        self, count: int, *, segment: str | None = None, user: User = None, **how: Any
    ) -> list[CampaignDecision]:
        """As `ask`, for a caller (see `Campaign.ask_for`).

        user: always needed. eligible: has to hold the control arm; of the other sides it is all.
        """
        if segment is not None:
            raise ValueError(
                "Expected no segment=: which side a person is on is not chosen. None was made."
            )
        if user is None:
            raise ValueError(
                "Expected user=: this campaign has holdout= or ramp=, so it has to know whose "
                "decision it is. None was made."
            )
        place = hashed_place(user, self._key, self.rule.typed)
        op = ask_op(count, user=user if self._known else None, **how)
        op = replace(op, whose=str(place))
        self._require_control(op)
        side = self.rule.side(place, seconds_of(self._clock()))
        while True:
            made: Any = self[side]._turning.do(self._op(op, side))
            if isinstance(made, AnsweredBeside):
                # the ramp has come to this person since the call was made first
                made = self._made_before(op, made.uid)
            if made is not None:
                decisions: list[CampaignDecision] = made
                return decisions

    def _op(self, op: AskOp, side: Side) -> AskOp:
        """What is asked of a side: those beside the policy's have the control arm alone."""
        if side == "policy":
            return replace(op, sides=True)
        return replace(op, eligible=None, learn=side == "holdout", sides=True)

    def _made_before(self, op: AskOp, uid: str) -> list[CampaignDecision] | None:
        """The decisions that a side made for this call before; None: the database was put back
        meanwhile, and nobody made them.
        """
        side: Any = next(name for name, part in self._parts.items() if part.uid == uid)
        asked = self._op(op, side)

        def look(work: Working, rows: CampaignRows) -> list[CampaignDecision] | None:
            said = rows.response(work.seal.call_place(op.principal, str(op.key)))
            return None if said is None else asked_before(said, asked, work, rows)

        return self[side]._turning.look(look)

    def _require_control(self, op: AskOp) -> None:
        """Refuse, on all sides, an ask whose person must not get the control arm."""
        if op.eligible is None:
            return
        names = dict(enumerate(label for label, _ in self["policy"].arms))
        control = self.rule.control
        if control not in op.eligible and names[control] not in op.eligible:
            raise ValueError(
                f"Expected eligible= to hold the control arm {shown(names[control])}, which "
                "everybody may get here. None was made."
            )

    def add_arm(
        self, label: str | None = None, *, by: str | None = None, key: str | None = None
    ) -> int:
        """A new arm of the policy's."""
        return self["policy"].add_arm(label, by=by, key=key)

    def retire_arm(self, arm: str | int, *, by: str | None = None, key: str | None = None) -> None:
        """The policy never plays an arm again. The control arm stays."""
        self._require_no_control(arm)
        self["policy"].retire_arm(arm, by=by, key=key)

    def pause_arm(self, arm: str | int, *, by: str | None = None, key: str | None = None) -> None:
        """The policy plays an arm no more until `resume_arm`. The control arm stays."""
        self._require_no_control(arm)
        self["policy"].pause_arm(arm, by=by, key=key)

    def resume_arm(self, arm: str | int, *, by: str | None = None, key: str | None = None) -> None:
        """The policy plays a paused arm again."""
        self["policy"].resume_arm(arm, by=by, key=key)

    def _require_no_control(self, arm: object) -> None:
        control = self.rule.control
        if arm in (control, self["policy"].arms[control][0]):
            raise ValueError(
                f"{shown(arm)} is the control arm, which all get whom the policy does not decide "
                "for: it cannot go while the campaign runs. Close the campaign instead. Nothing "
                "was changed."
            )

    def finish(self, *, by: str | None = None, key: str | None = None) -> None:
        """The policy, a stopping rule that has not halted, gives its answer now."""
        self["policy"].finish(by=by, key=key)
