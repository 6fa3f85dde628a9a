"""The wheel: ask and tell move a turn on, a release ends it, and the next begins with what the
policy makes of that.

Every step may be interrupted at any line and is then made good by `recover`. A tell first claims
its decision, which is the moment it can no longer be told, and only then adds the reward: an
interruption may lose a reward, it never adds one twice.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

from dpbandits.core.errors import LedgerError, NotRecordedError
from dpbandits.core.ledger import unbalanced
from dpbandits.core.plan import Action, Draw, Hold, Plan, Progress, PublicRng
from dpbandits.policies import turn as wheel
from dpbandits.policies.contract import Policy
from dpbandits.policies.turn import next_turn, open_turn, told_in
from dpbandits.session.decisions import Decision, Play
from dpbandits.vault import Vault

NEW = tuple.__new__
"""Makes a named tuple in half the time of its own constructor."""

ClaimedDecision = tuple[int, Action | None, int, int, int]
"""A tell that is under way, and what stood before it: its decision's id, what is told (None if it
does not count in this turn), how often that was told in this turn, the vault's records, rewards
lost.
"""


@dataclass(frozen=True, slots=True)
class AskedTurn:
    """A turn of `policies/turn.py`, and what is asked about it. Public, and replaced whole.

    step: turns before this one. first: decisions asked before it. plays: its plan's actions, each
        kept once. only: the one play of a plan that holds an action.
    """

    state: Any
    step: int
    rng: PublicRng
    plan: Plan
    progress: Progress
    first: int
    plays: dict[Action, Play]
    only: Play | None

    def play(self, id: int, semi: bool) -> Play:
        """What decision `id` plays."""
        action = self.plan.action_at(id - self.first - 1, id, self.rng)
        play = self.plays.get(action)
        if play is None:
            play = play_of(self.plan, action, semi)
            # of drawn super arms there are too many to keep
            if not (semi and isinstance(self.plan, Draw)):
                self.plays[action] = play
        return play


def asked_after(first: int, opened: wheel.Turn, semi: bool) -> AskedTurn:
    """An opened turn, to be asked about after the first so many decisions."""
    plan = opened.plan
    only = play_of(plan, plan.action, semi) if isinstance(plan, Hold) else None
    return AskedTurn(*opened, first, {}, only)


def play_of(plan: Plan, action: Action, semi: bool) -> Play:
    # an action of a super-arm policy is a tuple of arms, which its type does not say
    return Play(action, (plan.observe or action) if semi else None)  # type: ignore[arg-type]


@final
class Wheel:
    """A policy and its vault at work, for one caller at a time.

    asked: decisions made. pending: those that wait for their rewards, by id. lost: rewards whose
        tell was interrupted once claimed.
    busy: a call is under way, was interrupted or left something due; `go_on` first.
    """

    def __init__(self, policy: Policy, vault: Vault, seed: int) -> None:
        self.policy, self.vault, self.public = policy, vault, partial(PublicRng, seed)
        self.semi = policy.about.feedback == "semi"
        self.pending: dict[int, Play] = {}
        self.asked = self.lost = 0
        self.busy = False
        self._claim: ClaimedDecision | None = None
        opened = open_turn(policy, policy.init(), 0, self.public)
        self.turn: AskedTurn = asked_after(0, opened, self.semi)

    def ask(self, campaign: str) -> Decision:
        """The next decision."""
        id, turn = self.asked + 1, self.turn
        play = turn.only or turn.play(id, self.semi)
        made = NEW(Decision, (id, play.action, id, play.observe, campaign))
        self.busy = True
        self.pending[id] = play
        self.asked = id
        self.busy = False
        return made

    def ask_many(self, count: int) -> Iterable[tuple[int, Play]]:
        """The next so many, all or none of them."""
        plays = {
            id: self.turn.play(id, self.semi)
            for id in range(self.asked + 1, self.asked + count + 1)
        }
        self.busy = True
        self.pending.update(plays)
        self.asked += count
        self.busy = False
        return plays.items()

    def tell(self, id: int, play: Play, reward: object) -> None:
        """Check, claim, add, count. An exception between two of these lines is made good by
        `recover`.
        """
        where, vault, progress = play.observe or play.action, self.vault, self.turn.progress
        steps = vault.on_grid(where, reward)
        if vault.together and id <= self.turn.first:
            self._tell_late(id, where, steps)
            return
        self.busy = True
        before = progress.told.get(where, 0)
        self._claim = id, where, before, vault.records, self.lost
        del self.pending[id]
        vault.enter(where, steps)
        progress.count(where)
        self._claim = None
        if progress.due is None:
            self.busy = False
        else:
            self.advance()

    def _tell_late(self, id: int, where: Action, steps: Any) -> None:
        """A record of an earlier plan, where a record belongs to its plan: it ends nothing."""
        self.busy = True
        self._claim = id, None, 0, self.vault.records, self.lost
        del self.pending[id]
        self.vault.enter(where, steps, late=True)
        self._claim = None
        self.busy = False

    def finish(self) -> None:
        """Have the vault's mechanism give the answer that waited for more records."""
        self._require_balance()
        self.busy = True
        self.vault.finish(self.vault.records, told_in(self.turn))
        self.advance()

    def go_on(self) -> None:
        """Recover, and make what is due."""
        self.recover()
        if self.turn.progress.due is not None or self.vault.turns > self.turn.step:
            self.advance()
        self.busy = False

    def recover(self) -> None:
        """Put in order what an interruption left half done. Interrupted itself, it does the same
        again.
        """
        self.vault.settle()
        # made, but never handed out
        while self.pending and next(reversed(self.pending)) > self.asked:
            self.pending.popitem()
        if self._claim is None:
            return
        id, where, told, records, lost = self._claim
        if id not in self.pending and self.vault.records == records:
            self.lost = lost + 1
        elif id not in self.pending and where is not None:
            turn = self.turn
            progress = Progress.at(turn.plan, {**turn.progress.told, where: told + 1})
            self.turn = replace(turn, progress=progress)
        self._claim = None

    @property
    def balanced(self) -> bool:
        """Whether every decision that waits no more was recorded or lost, and none twice."""
        return self.asked - len(self.pending) == self.vault.records + self.lost

    def _require_balance(self) -> None:
        if not self.balanced:
            raise unbalanced("more or fewer rewards were recorded than decisions were told")

    def advance(self) -> None:
        """Release, update, plan: from where an earlier call failed, if one did."""
        if self.vault.turns == self.turn.step:
            self._require_balance()
        opened = next_turn(self.policy, self.turn, self.vault, self.public)
        self.turn = asked_after(self.asked, opened, self.semi)
        self.busy = False


def settle(wheel: Wheel) -> None:
    """Make what is due before anything is recorded; an error says that nothing was."""
    try:
        wheel.go_on()
    except LedgerError:
        raise
    except Exception as error:
        raise NotRecordedError(
            "A release or plan that an earlier call left due failed again (see the cause "
            "above); this call recorded nothing. "
            "Call again once the noise source or oracle works."
        ) from error
