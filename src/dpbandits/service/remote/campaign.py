"""A campaign behind HTTP: what is done."""

from collections.abc import Iterable
from typing import Any, final

from dpbandits.core.calls.forgetting import discreet
from dpbandits.service.campaign import checked_eligible
from dpbandits.service.remote.looks import RemoteLooks
from dpbandits.service.remote.said import decision_of, fresh_key, sent_number, sent_reward
from dpbandits.service.turns.asks import CampaignDecision
from dpbandits.service.turns.tells import id_of, pairs_in, required_id


@final
class RemoteCampaign(RemoteLooks):
    """A campaign of a server, with the verbs of `Campaign`. Calls that are cut off are made again,
    under a key of their own (or `key=`), so that nothing is asked or done twice.
    """

    def __getitem__(self, segment: str) -> "RemoteCampaign":
        """One segment, to ask and to look at (see `SegmentedCampaign`)."""
        return RemoteCampaign(self._calls, self.name, segment)

    def ask(
        self,
        count: int | None = None,
        eligible: Iterable[str | int] | None = None,
        user: str | int | None = None,
        segment: str | None = None,
        key: str | None = None,
    ) -> Any:
        """The next decision, or a list of `count` of them (see `Campaign.ask`)."""
        body = {"count": 1 if count is None else sent_number(count), "key": key or fresh_key()}
        chosen = None if eligible is None else checked_eligible(eligible)
        more = {
            "eligible": chosen,
            "user": sent_number(user),
            "segment": segment or self.segment,
        }
        body |= {name: value for name, value in more.items() if value is not None}
        found = [decision_of(each) for each in self._call("POST", "ask", body)["decisions"]]
        return found[0] if count is None else found

    @discreet
    def tell(self, decision: CampaignDecision | str, reward: Any) -> str:
        """The reward of a decision; what became of it."""
        return self.tell_many([(required_id(decision), reward)])[0]

    @discreet
    def tell_many(self, tells: Iterable[tuple[CampaignDecision | str, Any]]) -> list[str]:
        """Several (decision, reward) pairs; of each, what became of it."""
        body = [
            {"id": id_of(each), "reward": sent_reward(reward)} for each, reward in pairs_in(tells)
        ]
        return [each["status"] for each in self._call("POST", "tell", body)["results"]]

    @discreet
    def tell_message(self, decision: CampaignDecision | str, message: str) -> str:
        """In the local model: a user's answer as their device sent it."""
        body = [{"id": id_of(decision), "report": message}]
        return str(self._call("POST", "tell", body)["results"][0]["status"])

    @discreet
    def expire(self, *decisions: CampaignDecision | str) -> list[str]:
        """Nobody answered: the declared default counts."""
        found = self._call("POST", "expire", {"ids": [id_of(each) for each in decisions]})
        return [each["status"] for each in found["results"]]

    @discreet
    def void(self, *decisions: CampaignDecision | str) -> list[str]:
        """Decisions that were never carried out."""
        found = self._call("POST", "void", {"ids": [id_of(each) for each in decisions]})
        return [each["status"] for each in found["results"]]

    def add_arm(self, label: str | None = None, *, key: str | None = None) -> int:
        """A new arm, from the next decision on; its number."""
        return int(self._change("arms", {"arm": label}, key)["arm"])

    def retire_arm(self, arm: str | int, *, key: str | None = None) -> None:
        """Never play an arm again."""
        self._change("retire", {"arm": sent_number(arm)}, key)

    def pause_arm(self, arm: str | int, *, key: str | None = None) -> None:
        """Play an arm no more until `resume_arm`."""
        self._change("pause", {"arm": sent_number(arm)}, key)

    def resume_arm(self, arm: str | int, *, key: str | None = None) -> None:
        """Play a paused arm again."""
        self._change("resume", {"arm": sent_number(arm)}, key)

    def drop_open(self, *, key: str | None = None) -> None:
        """Throw away, unread, what came since the last releases."""
        self._change("drop", {}, key)

    def finish(self, *, key: str | None = None) -> None:
        """A stopping rule that has not halted gives its answer now."""
        self._change("finish", {}, key)

    def erase(self, user: str | int, *, key: str | None = None) -> int:
        """Forget a person (see `Campaign.erase`); how many decisions were void."""
        return int(self._change("erase", {"user": sent_number(user)}, key)["void"])

    def close(self, why: str, *, key: str | None = None) -> None:
        """The campaign is over."""
        self._change("close", {"why": why}, key)

    def _change(self, verb: str, body: dict[str, Any], key: str | None) -> Any:
        return self._call("POST", verb, {**body, "key": key or fresh_key()})
