"""A campaign behind HTTP: what is done."""

import secrets
from collections.abc import Iterable
from typing import Any, final

from dpbandits.service.remote.looks import RemoteLooks
from dpbandits.service.remote.said import sent_reward
from dpbandits.service.turns.asks import CampaignDecision, decision_of, id_in


@final
class RemoteCampaign(RemoteLooks):
    """A campaign of a server, with the verbs of `Campaign`. Calls that are cut off are made again:
    asks under a key of their own, so that nothing is asked twice.
    """

    def __getitem__(self, segment: str) -> "RemoteCampaign":
        """One segment, to ask and to look at (see `SegmentedCampaign`)."""
        return RemoteCampaign(self._calls, self.name, segment)

    def ask(
        self,
        count: int | None = None,
        *,
        eligible: Iterable[str | int] | None = None,
        user: str | int | None = None,
        key: str | None = None,
        segment: str | None = None,
    ) -> Any:
        """The next decision, or a list of `count` of them (see `Campaign.ask`)."""
        body = {"count": 1 if count is None else count, "key": key or secrets.token_hex(16)}
        chosen = None if eligible is None else list(eligible)
        more = {"eligible": chosen, "user": user, "segment": segment or self.segment}
        body |= {name: value for name, value in more.items() if value is not None}
        found = [decision_of(each) for each in self._call("POST", "ask", body)["decisions"]]
        return found[0] if count is None else found

    def tell(self, decision: CampaignDecision | str, reward: Any) -> str:
        """The reward of a decision; what became of it."""
        return self.tell_many([(decision, reward)])[0]

    def tell_many(self, tells: Iterable[tuple[CampaignDecision | str, Any]]) -> list[str]:
        """Several (decision, reward) pairs; of each, what became of it."""
        body = [{"id": id_in(each), "reward": sent_reward(reward)} for each, reward in tells]
        return [each["status"] for each in self._call("POST", "tell", body)["results"]]

    def tell_message(self, decision: CampaignDecision | str, message: str) -> str:
        """In the local model: a user's answer as their device sent it."""
        body = [{"id": id_in(decision), "report": message}]
        return str(self._call("POST", "tell", body)["results"][0]["status"])

    def expire(self, *decisions: CampaignDecision | str) -> list[str]:
        """Nobody answered: the declared default counts."""
        found = self._call("POST", "expire", {"ids": [id_in(each) for each in decisions]})
        return [each["status"] for each in found["results"]]

    def void(self, *decisions: CampaignDecision | str) -> list[str]:
        """Decisions that were never carried out."""
        found = self._call("POST", "void", {"ids": [id_in(each) for each in decisions]})
        return [each["status"] for each in found["results"]]

    def add_arm(self, label: str | None = None) -> int:
        """A new arm, from the next decision on; its number."""
        return int(self._call("POST", "arms", {"arm": label})["arm"])

    def retire_arm(self, arm: str | int) -> None:
        """Never play an arm again."""
        self._call("POST", "retire", {"arm": arm})

    def pause_arm(self, arm: str | int) -> None:
        """Play an arm no more until `resume_arm`."""
        self._call("POST", "pause", {"arm": arm})

    def resume_arm(self, arm: str | int) -> None:
        """Play a paused arm again."""
        self._call("POST", "resume", {"arm": arm})

    def drop_open(self) -> None:
        """Throw away, unread, what came since the last releases."""
        self._call("POST", "drop")

    def finish(self) -> None:
        """A stopping rule that has not halted gives its answer now."""
        self._call("POST", "finish")

    def erase(self, user: str | int) -> int:
        """Forget a person (see `Campaign.erase`); how many decisions were void."""
        return int(self._call("POST", "erase", {"user": user})["void"])

    def close(self, why: str) -> None:
        """The campaign is over."""
        self._call("POST", "close", {"why": why})
