"""The wheel: ask and tell move a turn on, a release ends it, and the next begins with what the
policy makes of that.

Every step may be interrupted at any line and is then made good by `recover`. A tell first claims
its decision, which is the moment it can no longer be told, and only then adds the reward: an
interruption may lose a reward, it never adds one twice.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from dpbandits.campaign.people.spacing import Spacing
from dpbandits.campaign.roster import Roster
from dpbandits.core.errors import HorizonError, LedgerError, NotRecordedError
from dpbandits.core.ledger import unbalanced
from dpbandits.core.plan import Action, Cycle, Progress
from dpbandits.policies.contract import Policy, Release
from dpbandits.policies.turn import next_turn, open_turn, told_in
from dpbandits.session.decisions import Play
from dpbandits.session.wheel.asks import Asks, TellClaim
from dpbandits.session.wheel.overdue import bucket_of
from dpbandits.vault import Vault
from dpbandits.vault.arms import ArmVault
from dpbandits.vault.blocks import WHOLE, PlanBlock


class Wheel(Asks):
    """A policy and its vault at work, for one caller at a time.

    heard: told of every release as the turn that it begins is made; None: nobody listens.
    spacing: people whose rewards are read one in each release; None: it does not matter.
    """

    def __init__(self, policy: Policy, vault: Vault, seed: int) -> None:
        super().__init__(policy, vault, seed)
        self.heard: Callable[[Release], None] | None = None
        self.spacing: Spacing | None = None
        self._grown: tuple[Policy, Any, Roster] | None = None

    def tell(self, id: int, play: Play, reward: object, steps: Any = None) -> None:
        """Check, claim, add, count. An exception between two of these lines is made good by
        `recover`.

        steps: what `Vault.on_grid` made of the reward before; None: it is looked at now.
        """
        where, vault, progress = play.observe or play.action, self.vault, self.turn.progress
        if steps is None:
            steps = vault.on_grid(where, reward)
        if not play.learn:
            self.leave_unread(id)
            return
        before = progress.told.get(where, 0)
        if id == self.asked:  # most often
            self.busy = id, where, before, vault.records, self.lost, None, 0
            del self.pending[id]
            vault.enter(where, steps)
        else:
            self.enter_late(id, where, before, where, steps)
        progress.count(where, 1, before)
        if self.waiting is not None:
            self.waits_no_more(id, where)
        if progress.due is None:
            self.busy = False
        else:
            self.complete()

    def enter_late(
        self,
        id: int,
        counted: Action | None,
        before: int,
        where: Action,
        steps: Any,
        block: PlanBlock = WHOLE,
    ) -> None:
        """Claim a decision after which others were made, and add its reward. counted, before: what
        is told, and how often that was told in this turn.
        """
        late, vault = self.late, self.vault
        bucket = bucket_of(self.asked - id)
        seen = 0 if late is None else late.get(bucket, 0)
        self.busy = id, counted, before, vault.records, self.lost, None, seen
        del self.pending[id]
        vault.enter(where, steps, 1, block)
        if late is not None:
            late[bucket] = seen + 1

    def waits_no_more(self, id: int, key: Any) -> None:
        """A request less that waits. key: its action, or its block."""
        of = None if self.waiting is None else self.waiting.get(key)
        if of is not None and id >= of.edge:
            of.count -= 1

    def complete(self) -> None:
        """Make what a reward completed, which is recorded, whatever error comes of it."""
        self.busy = True
        try:
            self.advance()
        except Exception as error:
            note_recorded(error)
            raise

    def leave_unread(self, id: int) -> None:
        """Resolve a decision without reading any reward."""
        self.busy = id, None, 0, self.vault.records, self.lost, self.unread, 0
        play = self.pending.pop(id)
        if play.learn:
            self.waits_no_more(id, play.block or play.observe or play.action)
        self.unread += 1
        self.busy = True
        self.look_again()  # one decision fewer fills the plan
        self.busy = False

    def finish(self) -> None:
        """Have the vault's mechanism give the answer that waited for more records."""
        self._require_balance()
        self.busy = True
        self.vault.finish(self.vault.records, told_in(self.turn))
        self.advance()

    def go_on(self) -> None:
        """Recover, and make what is due: also the last answer, if it was begun and its noise drawn,
        so that no reward comes between two tries.
        """
        self.recover()
        if self.turn.progress.due is not None or self.vault.turns > self.turn.step:
            self.advance()
        elif self.vault.drawn:
            self.finish()
        self.busy = False

    def recover(self) -> None:
        """Put in order what an interruption left half done. Interrupted itself, it does the same
        again.
        """
        self.vault.settle()
        # made, but never handed out
        while self.pending and next(reversed(self.pending)) > self.asked:
            self.pending.popitem()
        if self.busy:  # counts, plays and notes may be ahead of the decisions
            self.chosen.forget_from(self.asked + 1)
            self.waiting = None
            self.look_again()
            self._carry_out_growth()
        claim = self.busy
        if isinstance(claim, tuple):
            if claim[0] not in self.pending:
                self._make_good(claim)
            self.busy = True

    def _make_good(self, claim: TellClaim) -> None:
        """Count what was claimed as what became of it."""
        turn, (id, where, before, records, lost, unread, seen) = self.turn, claim
        if unread is not None:
            self.unread = unread + 1
            return
        if self.vault.records == records:
            self.lost = lost + 1
            return
        if id < self.asked and self.late is not None:
            self.late[bucket_of(self.asked - id)] = seen + 1
        if where is not None:
            told = {**turn.progress.told, where: before + 1}
            self.turn = replace(turn, progress=turn.progress.again(told))

    @property
    def balanced(self) -> bool:
        """Whether every decision that waits no more was recorded, lost or left unread, and none
        twice.
        """
        resolved = self.asked - len(self.pending)
        return resolved == self.vault.records + self.lost + self.unread

    def _require_balance(self) -> None:
        if not self.balanced:
            raise unbalanced("more or fewer rewards were recorded than decisions were told")

    def advance(self) -> None:
        """Release, update, plan: from where an earlier call failed, if one did."""
        if self.vault.turns == self.turn.step:
            self._require_balance()
        opened = next_turn(self.policy, self.turn, self.vault, self.public)
        newest = self.vault.newest
        assert newest is not None
        if self.spacing is not None:
            self.spacing.look(*self._left(), self.asked)
        plan = self.turn.plan
        self.overdue = self.overdue.read(
            (*newest.coordinates, *(plan.actions if isinstance(plan, Cycle) else ()))
        )
        self.turn = self.asked_about(opened, self.turn.believed.after(newest))
        if self.heard is not None:
            self.heard(newest)
        self.busy = False

    def _left(self) -> tuple[dict[int, int], dict[Action, list[int]]]:
        """By arm, how many rewards left its blocks, and which decisions wait that are learned
        from.
        """
        waiting = dict[Action, list[int]]()
        for id, play in self.pending.items():
            if play.learn:
                waiting.setdefault(play.action, []).append(id)
        return {arm: count for arm, (count, _) in self.vault.left().items()}, waiting

    def take_out(self, arm: int) -> None:
        """An arm is retired: what waits for it is not read any more, nor is its open block."""
        if any(play.action == arm and play.learn for play in self.pending.values()):
            self.busy = True
            self.pending = {
                id: replace(play, learn=False) if play.action == arm else play
                for id, play in self.pending.items()
            }
            self.waiting = None
            self.busy = False
        self.look_again()
        if arm not in self.vault.emptied():
            self.drop((arm,))

    def grow(self, policy: Policy, state: Any, roster: Roster) -> None:
        """Go on with one more arm."""
        self.busy = True
        self._grown = policy, state, roster
        self._carry_out_growth()
        self.busy = False

    def _carry_out_growth(self) -> None:
        """Made again after an interruption, it comes to the same."""
        if self._grown is None:
            return
        self.policy, state, self.roster = self._grown
        assert isinstance(self.vault, ArmVault)
        self.vault.widen(self.policy.arms)
        opened = open_turn(self.policy, state, self.turn.step, self.public)
        told = self.turn.progress.told
        progress = Progress.at(opened.plan, told, opened.progress.room)
        believed = self.turn.believed
        if len(believed.arms) < self.policy.arms:
            names = self.roster.labels
            believed = believed.with_arm(names[-1] if names else str(len(believed.arms)))
        self.turn = self.asked_about(opened._replace(progress=progress), believed)
        self._grown = None

    def drop(self, arms: tuple[int, ...] | None) -> None:
        """Throw open blocks away unread, those of `arms` or (None) all, and begin the plan anew."""
        self._require_balance()
        self.busy = True
        self.vault.drop(arms, self.vault.records, told_in(self.turn))
        self.advance()


def note_recorded(error: Exception) -> None:
    """Say with an error of what a tell completes that the tell needs no second try."""
    if isinstance(error, (HorizonError, LedgerError)):  # no call mends them
        return
    with suppress(AttributeError):  # a frozen dataclass takes no note, and passes as it is
        error.add_note(
            "This reward is recorded, and its decision is no longer pending. The error is of what "
            "it completes, a release or a plan; what is still due is made by the next call."
        )


def settle(wheel: Wheel) -> None:
    """Make what is due before anything is recorded; an error says that nothing was."""
    try:
        wheel.go_on()
    except (HorizonError, LedgerError):  # no call mends them
        raise
    except Exception as error:
        raise NotRecordedError(
            "A release or plan that an earlier call left due failed again (see the cause "
            "above); this call recorded nothing. "
            "Call again once the noise source or oracle works."
        ) from error
