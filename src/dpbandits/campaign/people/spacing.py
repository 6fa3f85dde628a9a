"""At most one reward of a person in each release: under zCDP k rounds of a person cost kρ where
each is read in a release of its own, and up to k²ρ where they are read together.

A person is learned from again once the reward of their newest decision has been read, was dropped,
or never came. All that is looked at is public: who was asked for, what waits, and when blocks were
read. Where that does not say, the reward counts as unread.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, Self, final

from dpbandits.campaign.people.register import pseudonym_from
from dpbandits.campaign.runs import id_runs, runs_in
from dpbandits.core.inputs import as_int, shown
from dpbandits.core.values import damaged, entries, part, whole
from dpbandits.mechanisms.batches import GaussianBatches
from dpbandits.policies.contract import Policy

BEING_MADE = -1
"""In place of an arm: the decision was being made."""

FORGOTTEN = -2
"""In place of an arm: which decision it was is not kept; it waits no more, and is no newer."""

NOBODY = (0, BEING_MADE)
"""In place of a person's newest decision: none, or one whose reward never comes."""

Newest = tuple[int, int]
"""A person's newest decision that is learned from, and its arm."""

MOST_RUNS = 1_000
"""Runs that are told apart."""


@final
class Spacing:
    """Which people may have an unread reward. An interruption lets somebody wait at worst.

    newest: by pseudonym. since: by arm, what was asked when a block of it left: how many decisions
        had been made, and those of the arm that waited. Only rewards of these and of later ones
        come into the next block. gone: by arm, the rewards that had left until then.
    """

    def __init__(self) -> None:
        self.newest: dict[str, Newest] = {}
        self.since: dict[int, tuple[int, tuple[range, ...]]] = {}
        self.gone: dict[int, int] = {}

    def look(
        self, left: Mapping[int, int], waiting: Mapping[Any, Sequence[int]], asked: int
    ) -> None:
        """Blocks have left, read or dropped.

        left: by arm, how many rewards left its blocks so far. waiting: by arm, the decisions of it
            that are learned from and wait, oldest first. asked: decisions made.
        """
        for arm, count in left.items():
            if count != self.gone.get(arm, 0):
                self.since[arm] = asked, few_runs(waiting.get(arm, ()))
                self.gone[arm] = count

    def is_free(self, who: str, waiting: Container[int], filled: Iterable[int]) -> bool:
        """Whether no reward of this person may be unread.

        waiting: decisions that are learned from and wait. filled: arms whose open block is not
            empty.
        """
        id, arm = self.newest.get(who, NOBODY)
        if arm == FORGOTTEN:
            return not any(id > self._since(each)[0] for each in filled)
        if id in waiting:
            return False
        return not any(self._may_hold(each, id) for each in filled if arm in (each, BEING_MADE))

    def _may_hold(self, arm: int, id: int) -> bool:
        """Whether an arm's open block may have the reward of this decision."""
        asked, late = self._since(arm)
        return id > asked or any(id in run for run in late)

    def _since(self, arm: int) -> tuple[int, tuple[range, ...]]:
        return self.since.get(arm, (0, ()))

    def void(self, who: str, id: int) -> None:
        """A person's decision was never carried out."""
        if self.newest.get(who, NOBODY)[0] == id:
            self.newest[who] = NOBODY

    def forget(self, who: str, asked: int) -> None:
        """Keep no longer which decision was a person's newest, none of whose wait: only that it is
        one of these.
        """
        if self.newest.get(who, NOBODY) != NOBODY:
            self.newest[who] = asked, FORGOTTEN

    def to_data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "newest": [[who, *mark] for who, mark in self.newest.items()],
            "since": [
                [arm, self.gone[arm], asked, [[run.start, len(run)] for run in late]]
                for arm, (asked, late) in self.since.items()
                if arm in self.gone
            ],
        }

    @classmethod
    def restored(cls, data: object, policy: Policy, asked: int) -> Self | None:
        """What `to_data` wrote, after so many decisions of this policy; None where nothing was
        written.

        Raises:
            DamagedSessionError: it is not that.
        """
        if data is None:
            return None
        found, last = part(data, "public.spacing", "newest", "since"), policy.arms - 1
        spacing = cls()
        if not reads_once(policy):
            raise damaged("public.spacing is not for this policy")
        for row in entries(found["newest"], "public.spacing.newest"):
            who, id, arm = entries(row, "an entry of public.spacing.newest", 3)
            spacing.newest[pseudonym_from(who)] = (
                whole(id, "a decision in public.spacing", 0, asked + 1),
                whole(arm, "an arm in public.spacing", FORGOTTEN, last),
            )
        for row in entries(found["since"], "public.spacing.since"):
            arm, gone, until, late = entries(row, "an entry of public.spacing.since", 4)
            arm = whole(arm, "an arm in public.spacing", 0, last)
            until = whole(until, "a number of decisions in public.spacing", 0, asked)
            spacing.gone[arm] = whole(gone, "a number of rewards in public.spacing", 0, asked)
            spacing.since[arm] = until, tuple(runs_in(late, "public.spacing.since", until))
        return spacing


def few_runs(ids: Iterable[int]) -> tuple[range, ...]:
    """Decisions as runs. Beyond `MOST_RUNS` the oldest become one, with what lies between them."""
    found = [range(first, first + many) for first, many in id_runs(ids)]
    older, newer = found[: 1 - MOST_RUNS], found[1 - MOST_RUNS :]
    return (range(older[0].start, older[-1].stop), *newer) if older else tuple(newer)


def reads_once(policy: Policy) -> bool:
    """Whether every block is read once, with normal noise of its own."""
    return policy.about.feedback == "bandit" and type(policy.mechanism()) is GaussianBatches


def spacing_of(most: object, privacy_unit: object, policy: Policy) -> Spacing | None:
    """What `max_contributions_per_release=` asks for; None where it is not given.

    Raises:
        ValueError: it is no number for that, or neither people nor policy are.
    """
    if most is None:
        return None
    if isinstance(most, bool) or as_int(most) != 1:
        raise ValueError(
            f"Expected max_contributions_per_release={shown(most)} to be 1, at most one reward of "
            "a person in each release, or None, as many as max_contributions= allows."
        )
    if privacy_unit != "user":
        raise ValueError(
            "max_contributions_per_release= is about people who come back: privacy_unit='user', "
            "too."
        )
    if not reads_once(policy):
        raise ValueError(
            f"max_contributions_per_release=1 is for policies under zCDP that read every block "
            f"once (dpbandits.AdaCUCB), and {policy.name} is none: with an ε, k rounds of a person "
            "cost k times as much wherever they are read. Leave it out."
        )
    return Spacing()
