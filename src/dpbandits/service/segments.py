"""A campaign with segments: groups of people that are known beforehand, each of which learns for
itself. Each is a campaign of its own in the store; people are counted over all of them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from dpbandits.core.calls.forgetting import discreet
from dpbandits.core.inputs import shown
from dpbandits.service.campaign import Campaign
from dpbandits.service.looks.segments import ShownSegments
from dpbandits.service.rows.records import CampaignRow
from dpbandits.service.turns.asks import CampaignDecision
from dpbandits.service.turns.others import (
    ArmOp,
    ChangeOp,
    CloseOp,
    DropOp,
    EraseOp,
    FinishOp,
    KeyedOp,
    keyed,
)
from dpbandits.service.turns.tells import TellStatus, id_of, pairs_in, require_rewards, required_id
from dpbandits.service.turns.working import Working, known_in
from dpbandits.session.decisions import Eligible, User
from dpbandits.session.storing import ArmMove, require_joined, require_move

PartValue = TypeVar("PartValue")


def look_at_rewards(pairs: Sequence[tuple[object, object]], work: Working, _: object) -> None:
    """Refuse what is no reward."""
    require_rewards(work, pairs)


class SegmentedCampaign(ShownSegments[Campaign]):
    """A campaign for each segment, behind the verbs of one: `store.create(…, segments=[…])`.

    A person counts over all segments. What is done to the arms is done segment by segment; a call
    that was cut off is made again, and does the rest. `campaign["DE"]` is one segment, to look at.
    """

    def __init__(self, row: CampaignRow, parts: Mapping[str, Campaign]) -> None:
        super().__init__(row, parts)
        self._by_campaign = {part.name: part for part in self._parts.values()}

    @property
    def addresses(self) -> frozenset[str]:
        """The names of campaigns that its decisions carry."""
        return frozenset(self._by_campaign)

    def ask(
        self,
        count: int | None = None,
        eligible: Eligible = None,
        user: User = None,
        segment: str | None = None,
        key: str | None = None,
    ) -> Any:
        """The next decision of a segment, or a list of `count` of them (see `Campaign.ask`)."""
        many = 1 if count is None else count
        made = self.ask_for(many, segment=segment, eligible=eligible, user=user, key=key)
        return made[0] if count is None else made

    def ask_for(
        self, count: int, *, segment: str | None = None, **how: Any
    ) -> list[CampaignDecision]:
        """As `ask`, for a caller (see `Campaign.ask_for`). A key is of one segment's calls."""
        return self[segment].ask_for(count, **how)  # type: ignore[index]  # None is refused

    @discreet
    def tell(self, decision: CampaignDecision | str, reward: object) -> TellStatus:
        """The reward of a decision (see `Campaign.tell`)."""
        required_id(decision)
        return self.tell_many([(decision, reward)])[0]

    @discreet
    def tell_many(self, tells: Iterable[tuple[CampaignDecision | str, object]]) -> list[TellStatus]:
        """Several (decision, reward) pairs; of each, what became of it.

        Raises:
            RewardError: one of them is no reward. None was recorded, in any segment.
        """
        pairs = pairs_in(tells)
        places = self._places([decision for decision, _ in pairs])
        if len(set(places)) > 1:
            for part in dict.fromkeys(places):
                own = [
                    (id_of(d), r) for (d, r), at in zip(pairs, places, strict=True) if at is part
                ]
                part._turning.look(partial(look_at_rewards, own))
        return self._each(pairs, places, lambda part, own: part.tell_many(own))

    @discreet
    def expire(self, *decisions: CampaignDecision | str) -> list[TellStatus]:
        """Nobody answered: the declared default counts (see `Session.expire`)."""
        places = self._places(decisions)
        return self._each(decisions, places, lambda part, own: part.expire(*own))

    @discreet
    def void(self, *decisions: CampaignDecision | str) -> list[TellStatus]:
        """Decisions that were never carried out (see `Session.void`)."""
        places = self._places(decisions)
        return self._each(decisions, places, lambda part, own: part.void(*own))

    def _places(self, decisions: Sequence[object]) -> list[Campaign]:
        """Of each decision, its segment; of what is none, any."""
        parts = list(self._parts.values())
        found: list[Campaign | None] = [
            self._by_campaign.get(each.campaign) if isinstance(each, CampaignDecision) else None
            for each in decisions
        ]
        unknown = [at for at, place in enumerate(found) if place is None]
        names = [id_of(decisions[at]) for at in unknown]
        for part in parts if unknown else ():
            known = part._turning.look(partial(known_in, names))
            for at, place in zip(unknown, known, strict=True):
                found[at] = part if place is not None else found[at]
        return [parts[0] if place is None else place for place in found]

    def _each(
        self,
        given: Sequence[Any],
        places: Sequence[Campaign],
        call: Callable[[Campaign, list[Any]], list[TellStatus]],
    ) -> list[TellStatus]:
        """A call in every segment that it is about; the answers in the order of what was given."""
        found: dict[int, TellStatus] = {}
        for part in dict.fromkeys(places):
            own = [at for at, place in enumerate(places) if place is part]
            found.update(zip(own, call(part, [given[at] for at in own]), strict=True))
        return [found[at] for at in range(len(given))]

    def add_arm(
        self, label: str | None = None, *, by: str | None = None, key: str | None = None
    ) -> int:
        """A new arm, in every segment; where an earlier call was cut off, in the others."""
        begun_in = self._done_in(ArmOp("add", label, by), key)
        numbers = {name: len(arms) for name, arms in self.arms.items()}
        most = max(numbers.values())
        if any(begun_in.values()):  # a segment with as many arms as any has it, from whatever call
            again = [self[n] for n, done in begun_in.items() if done or numbers[n] < most]
            return max(part.add_arm(label, by=by, key=key) for part in again)
        late = [self[name] for name, number in numbers.items() if number < most]
        if not late:
            for part in self._parts.values():
                part._turning.look(lambda work, _: require_joined(work.session, label))
            return max([part.add_arm(label, by=by, key=key) for part in self._parts.values()])
        begun = next(arms[-1][0] for arms in self.arms.values() if len(arms) == most)
        if label is not None and label != begun:
            raise ValueError(
                f"The arm {shown(begun)} was added to some segments before that call was cut off. "
                "Add it again first. Nothing was changed."
            )
        return max(part.add_arm(label, by=by, key=key) for part in late)

    def retire_arm(self, arm: str | int, *, by: str | None = None, key: str | None = None) -> None:
        """Never play an arm again, in any segment."""
        self._require_moves(arm, "retire", by, key)
        self._all(lambda part: part.retire_arm(arm, by=by, key=key))

    def pause_arm(self, arm: str | int, *, by: str | None = None, key: str | None = None) -> None:
        """Play an arm no more until `resume_arm`, in any segment."""
        self._require_moves(arm, "pause", by, key)
        self._all(lambda part: part.pause_arm(arm, by=by, key=key))

    def resume_arm(self, arm: str | int, *, by: str | None = None, key: str | None = None) -> None:
        """Play a paused arm again, in every segment."""
        self._require_moves(arm, "resume", by, key)
        self._all(lambda part: part.resume_arm(arm, by=by, key=key))

    def _done_in(self, op: ChangeOp, key: str | None) -> dict[str, bool]:
        """In which segments a call was done before.

        Raises:
            ValueError: another call was made with this key, in one of them. Nothing was changed.
        """
        again = keyed(op, key)
        if not isinstance(again, KeyedOp):
            return dict.fromkeys(self._parts, False)
        return self._all(lambda part: part._turning.look(again.is_done))

    def _require_moves(
        self, arm: str | int, verb: ArmMove, by: str | None, key: str | None
    ) -> None:
        """Refuse for all segments what one of them would refuse."""
        if any(self._done_in(ArmOp(verb, arm, by), key).values()):
            return
        self._all(lambda p: p._turning.look(lambda work, _: require_move(work.session, arm, verb)))

    def drop_open(self, *, by: str | None = None, key: str | None = None) -> None:
        """Throw away, unread, what came since the last releases, in every segment."""
        self._done_in(DropOp(by), key)
        self._all(lambda part: part.drop_open(by=by, key=key))

    def finish(self, *, by: str | None = None, key: str | None = None) -> None:
        """Stopping rules that have not halted give their answers now."""
        self._done_in(FinishOp(by), key)
        self._all(lambda part: part.finish(by=by, key=key))

    def close(self, why: str, *, by: str | None = None, key: str | None = None) -> None:
        """The campaign is over, in every segment (see `Campaign.close`)."""
        self._done_in(CloseOp(why, by), key)
        self._all(lambda part: part.close(why, by=by, key=key))

    def settle(self) -> None:
        """Record the answers whose time has passed."""
        self._all(lambda part: part.settle())

    def fence(self) -> None:
        """Give up all that is open, in every segment (see `Campaign.fence`)."""
        next(iter(self._parts.values())).fence()

    def erase(self, user: str | int, *, by: str | None = None, key: str | None = None) -> int:
        """Forget a person, in every segment (see `Campaign.erase`)."""
        self._done_in(EraseOp(user, by), key)
        return sum(self._all(lambda part: part.erase(user, by=by, key=key)).values())

    def _all(self, call: Callable[[Campaign], PartValue]) -> dict[str, PartValue]:
        """A call in every segment, and what each of them answers."""
        return {name: call(part) for name, part in self._parts.items()}
