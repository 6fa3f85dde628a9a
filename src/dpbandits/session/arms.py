"""The arms: which of them are in play, and who gets which arm by chance.

An arm's number or name is never used again. Coins of random assignment are public randomness from a
seed that is kept secret until the end, so nobody foresees the next assignment, and everybody can
check it afterwards. They say nothing of any reward.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal, Self, final

import numpy as np

from dpbandits.core.errors import coded
from dpbandits.core.inputs import (
    Count,
    Finite,
    as_int,
    real_number,
    shown,
)
from dpbandits.policies.contract import LONGEST_LABEL, ArmLabels, checked_arm_labels

ArmStatus = Literal["active", "paused", "retired"]
"""Where an arm stands. A paused one may come back; a retired one never does."""

ArmChange = Literal["retire", "pause", "resume"]

STATUS_AFTER: dict[ArmChange, ArmStatus] = {
    "retire": "retired",
    "pause": "paused",
    "resume": "active",
}
"""An arm's status after each change."""


@final
@dataclass(frozen=True)
class Roster:
    """Names and status of the arms, by their numbers. A number or a name is never used again.

    labels: the names; empty where arms have none and are known by their numbers.
    """

    status: tuple[ArmStatus, ...]
    labels: ArmLabels

    @classmethod
    def of(cls, arms: int, labels: tuple[str, ...] | None) -> Self:
        active: ArmStatus = "active"
        return cls((active,) * arms, ArmLabels(labels or ()))

    @cached_property
    def active(self) -> tuple[int, ...] | None:
        """The arms in play; None: all."""
        if all(status == "active" for status in self.status):
            return None
        return tuple(arm for arm, status in enumerate(self.status) if status == "active")

    @cached_property
    def in_play(self) -> tuple[int, ...]:
        """The arms in play."""
        return tuple(range(len(self.status))) if self.active is None else self.active

    @property
    def kept(self) -> tuple[int, ...]:
        """The arms that are not retired."""
        return tuple(arm for arm, status in enumerate(self.status) if status != "retired")

    def label(self, arm: int) -> str | int:
        """An arm's name; its number where arms have no names."""
        return self.labels[arm] if self.labels else arm

    def mark(self, arm: int) -> int:
        """A hash of an arm's name, by which a person keeps it: a restarted arm keeps its name."""
        return int.from_bytes(blake2b(f"{self.label(arm)}".encode(), digest_size=6).digest())

    def marked(self, mark: int | None) -> int | None:
        """The arm in play that has this mark; None if there is none."""
        return self._by_mark.get(mark)

    @cached_property
    def _by_mark(self) -> dict[int | None, int]:
        return {self.mark(arm): arm for arm in self.in_play}

    def number(self, arm: object) -> int:
        """The number of an arm that is given by its name or number. Where arms have no names, the
        number may be a text, as the command line and keys of JSON have it.

        Raises:
            ValueError: there is no such arm.
        """
        if isinstance(arm, str) and arm in self.labels:
            return self.labels.index(arm)
        is_text = isinstance(arm, str) and not self.labels and arm.isdecimal() and len(arm) < 20
        number = int(arm) if is_text else as_int(arm)  # type: ignore[call-overload]  # a text
        if number is not None and 0 <= number < len(self.status):
            return number
        known = ", ".join(map(repr, self.labels[:20])) or f"0 to {len(self.status) - 1}"
        raise coded(
            "no_such_arm", ValueError, f"Expected one of the arms {known}; got {shown(arm)}."
        )

    def named(self, arms: object) -> set[int]:
        """The numbers of these arms.

        Raises:
            TypeError: one name in place of a list of them.
            ValueError: an arm that there is not.
        """
        single = getattr(arms, "ndim", 1) == 0  # a NumPy number, which says that it is iterable
        if isinstance(arms, str) or not isinstance(arms, Iterable) or single:
            raise coded(
                "eligible",
                TypeError,
                "Expected eligible= to be a list of arms, such as ['blue', 'green'] or [0, 2], got "
                f"{shown(arms)}.",
            )
        return {self.number(arm) for arm in arms}

    def numbers(self, arms: object) -> tuple[int, ...]:
        """Those of these arms that are in play, in order.

        Raises:
            TypeError, ValueError: see `named`; or none of them is in play.
        """
        chosen = self.named(arms)
        eligible = tuple(arm for arm in sorted(chosen) if self.status[arm] == "active")
        if not eligible:
            raise coded(
                "none_in_play",
                ValueError,
                "Expected at least one eligible arm that is in play; "
                + ("none was named." if not chosen else "those named are paused or retired."),
            )
        return eligible

    def with_status(self, arm: int, to: ArmStatus) -> Self:
        """The roster once an arm stands elsewhere.

        Raises:
            ValueError: the arm is retired, which is for ever.
        """
        if self.status[arm] == "retired" != to:
            raise coded(
                "arm_retired",
                ValueError,
                f"{self.name(arm)} is retired, and a retired arm does not come back. Add a new arm "
                "with another name.",
            )
        status = (*self.status[:arm], to, *self.status[arm + 1 :])
        return replace(self, status=status)

    def only(self, arm: int) -> Self:
        """The roster with all other arms paused."""
        paused: ArmStatus = "paused"
        return replace(self, status=(paused,) * len(self.status)).with_status(arm, "active")

    def with_arm(self, label: str | None) -> Self:
        """The roster with one more arm.

        Raises:
            ValueError: a name that was used before, or is none; or no name where arms have names.
        """
        if (label is None) is bool(self.labels):
            raise coded(
                "arm_name",
                ValueError,
                "Expected a name for the new arm, for the others have names."
                if label is None
                else "Expected no name for the new arm, for the others have none: name all arms "
                "when the policy is made, arms=['blue', 'green'].",
            )
        labels = self.labels if label is None else checked_arm_labels((*self.labels, label))
        return replace(self, status=(*self.status, "active"), labels=ArmLabels(labels))

    def restarted(self, arm: int) -> Self:
        """The roster with one more arm of this arm's name, which stands where this one stood; this
        one is retired, and has its name with a number.
        """
        label = self.labels[arm] if self.labels else None
        roster = self
        if label is not None:
            kept = next(
                name
                for number in range(1, len(self.labels) + 2)
                if (name := f"{short(label)} ({number})") not in self.labels
            )
            labels = (*self.labels[:arm], kept, *self.labels[arm + 1 :])
            roster = replace(self, labels=ArmLabels(labels))
        added = roster.with_arm(label).with_status(len(self.status), self.status[arm])
        return added.with_status(arm, "retired")

    def name(self, arm: int) -> str:
        """What an error calls an arm."""
        return repr(self.labels[arm]) if self.labels else f"Arm {arm}"


def short(label: str) -> str:
    """What a restarted arm's history keeps of its name, before a number."""
    return label[: LONGEST_LABEL - 8]


def roster_from_data(letters: str, labels: tuple[str, ...] | None) -> Roster:
    """The roster of a saved session: a letter for each arm's status.

    labels: the names that its policy knows.
    """
    known: dict[str, ArmStatus] = {"a": "active", "p": "paused", "r": "retired"}
    return Roster(tuple(known[letter] for letter in letters), ArmLabels(labels or ()))


def roster_to_data(roster: Roster) -> str:
    return "".join(status[0] for status in roster.status)


COINS = 3
"""Sets the stream of assignment coins apart from other public randomness."""


@final
@dataclass(frozen=True)
class Assignment:
    """How an arm is drawn for a decision.

    shuffled: first blocks of all arms come in one random order, in place of one after the other.
    min_share: each arm's least share of rounds.
    shares: the least shares of single arms, by their numbers; the others have none then.

    >>> law = Assignment(shuffled=False, min_share=.1).law({}, 0, [0, 1])
    >>> [round(share, 3) for share in law]
    [0.9, 0.1]
    >>> Assignment(False, 0.0, shares=((0, .3),)).law({}, 1, [0, 1])
    [0.3, 0.7]
    """

    shuffled: bool
    min_share: Finite
    shares: tuple[tuple[Count, Finite], ...] = ()

    def least(self, arm: int) -> float:
        """The least share of an arm."""
        return dict(self.shares).get(arm, self.min_share)

    def moved(self, arm: int, to: int) -> Assignment:
        """The same with the least share that an arm has of its own at another arm."""
        shares = ((to if each == arm else each, share) for each, share in self.shares)
        return replace(self, shares=tuple(sorted(shares)))

    @property
    def has_least(self) -> bool:
        """Whether any arm has a least share."""
        return self.min_share > 0 or bool(self.shares)

    def least_of_all(self, arms: Sequence[int]) -> float | None:
        """The share that each of these arms has at least; None if one of them has none."""
        return min(map(self.least, arms), default=0.0) or None

    def law(self, rooms: Mapping[int, int], planned: int, arms: Sequence[int]) -> list[float]:
        """The probability of each of these arms.

        rooms: of arms whose first block is not fully asked for, the rounds left of it. planned: the
            arm that is played by the policy.
        """
        left = [rooms.get(arm, 0) for arm in arms]
        whole: int = sum(left)
        if self.shuffled and whole:
            base = [rounds / whole for rounds in left]
        else:
            base = [float(arm == planned) for arm in arms]
        least = [self.least(arm) for arm in arms]
        rest = max(0.0, 1.0 - (math.fsum(least) if self.shares else self.min_share * len(arms)))
        return [own + rest * share for own, share in zip(least, base, strict=True)]

    def fixed_law(self, planned: int | None, arms: Sequence[int]) -> list[float]:
        """The probability of each of these arms where it stands still for a period.

        planned: the arm that gets what least shares leave; None, or an arm that is not among
            these: they share it equally.

        >>> Assignment(False, .05).fixed_law(None, [0, 1])
        [0.5, 0.5]
        """
        if planned is not None and planned in arms:
            return self.law({}, planned, arms)
        least = [self.least(arm) for arm in arms]
        rest = max(0.0, 1.0 - math.fsum(least)) / len(arms)
        return [own + rest for own in least]

    def needs_plan(self, rooms: Mapping[int, int], arms: Sequence[int]) -> bool:
        """Whether the law of these arms depends on what the policy would play.

        rooms: see `law`.
        """
        taken = math.fsum(map(self.least, arms)) if self.shares else self.min_share * len(arms)
        return not (self.shuffled and any(rooms.values())) and taken < 1.0

    def drawn(
        self, law: Sequence[float], arms: Sequence[int], seed: int, id: int
    ) -> tuple[int, float]:
        """The arm of decision `id`, and how likely it was."""
        coin = float(np.random.default_rng([seed, id, COINS]).random())
        reached = 0.0
        for arm, share in zip(arms, law, strict=True):
            reached += share
            if coin < reached:
                return arm, share
        return max(zip(arms, law, strict=True), key=lambda pair: pair[1])

    def require_room(self, arms: int) -> None:
        """Refuse more arms than have their least share.

        Args:
            arms: how many are not retired.

        Raises:
            ValueError: their shares would add up to more than 1.
        """
        if self.min_share * arms > 1.0:
            raise ValueError(
                f"Expected at most {int(1 / self.min_share)} arms: each of them was promised "
                f"min_share={self.min_share:g}. Nothing was changed."
            )

    def least_words(self, names: Sequence[object] = ()) -> str:
        """The least shares. names: of the arms; by default their numbers.

        >>> Assignment(False, 0.0, shares=((0, .3),)).least_words(["usual", "new"])
        'arm usual gets 0.3 of rounds or more'
        """
        parts = [
            f"arm {names[arm] if names else arm} gets {share:.6g} of rounds or more"
            for arm, share in self.shares
        ]
        if self.min_share:
            parts.append(f"each arm gets {self.min_share:.6g} of rounds or more")
        return ", ".join(parts)

    def words(self, names: Sequence[object] = ()) -> str:
        """For a statement. names: of the arms, where shares are those of single arms.

        >>> Assignment(shuffled=True, min_share=.01).words().split(", ")[0]
        'the first blocks of all arms come in one random order'
        """
        order = "the first blocks of all arms come in one random order"
        parts = [order] if self.shuffled else []
        if self.has_least:
            parts.append(self.least_words(names))
        return (
            f"{', '.join(parts)}; by coins from a seed that stays secret until the end and that no "
            "reward enters, so they cost no privacy"
        )


def assignment_of(
    kind: object, min_share: object, arms: int, labels: Sequence[str] | None = None
) -> Assignment | None:
    """What these options ask for; None where every decision follows from the plan.

    Args:
        labels: the arms' names, if they have any.

    Raises:
        ValueError: an option out of its range.
    """
    if kind not in ("planned", "shuffled"):
        raise ValueError(
            f"Expected assignment={shown(kind)} to be 'planned' (arms' first blocks one after the "
            "other) or 'shuffled' (all of them in one random order)."
        )
    if isinstance(min_share, Mapping):
        return Assignment(kind == "shuffled", 0.0, shares_of(min_share, arms, labels))
    share = 0.0 if min_share is None else real_number(min_share)
    if share is None or not 0.0 <= share * arms <= 1.0:
        raise ValueError(
            f"Expected min_share={shown(min_share)} to be a number from 0 to {1 / arms:.4g}: each "
            f"of the {arms} arms gets that share of rounds at least."
        )
    if kind == "planned" and share == 0.0:
        return None
    return Assignment(kind == "shuffled", float(share))


def shares_of(
    given: Mapping[Any, object], arms: int, labels: Sequence[str] | None
) -> tuple[tuple[int, float], ...]:
    """Least shares of single arms, by their numbers.

    Raises:
        ValueError: an arm that there is not, or is named twice; a share that is none; no arm; or
            shares of more than 1 together.
    """
    roster, shares = Roster.of(arms, None if labels is None else tuple(labels)), dict[int, float]()
    for arm, share in given.items():
        number, value = roster.number(arm), real_number(share)
        if value is None or not 0.0 < value <= 1.0:
            raise ValueError(
                f"Expected min_share={{{shown(arm)}: {shown(share)}}} to have a share above 0 and "
                "of at most 1. An arm without a least share is left out."
            )
        if number in shares:
            raise ValueError(f"Expected min_share= to name each arm once; {shown(arm)} is twice.")
        shares[number] = float(value)
    total = math.fsum(shares.values())
    if not shares or total > 1.0:
        raise ValueError(
            f"Expected min_share={shown(dict(given))} to be shares of at most 1 together, of at "
            "least one arm, such as {'control': 0.3}."
        )
    return tuple(sorted(shares.items()))
