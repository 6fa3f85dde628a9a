"""The arms of a campaign: their names, and which of them are in play. Public, replaced whole."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Self, final

from dpbandits.core.inputs import as_int, shown
from dpbandits.core.values import damaged
from dpbandits.policies.labels import ArmLabels, checked_arm_labels

ArmStanding = Literal["active", "paused", "retired"]
"""Where an arm stands. A paused one may come back; a retired one never does."""


@final
@dataclass(frozen=True)
class Roster:
    """Names and standing of the arms, by their numbers. A number or a name is never used again.

    labels: the names; empty where arms have none and are known by their numbers.
    """

    standing: tuple[ArmStanding, ...]
    labels: ArmLabels

    @classmethod
    def of(cls, arms: int, labels: tuple[str, ...] | None) -> Self:
        active: ArmStanding = "active"
        return cls((active,) * arms, ArmLabels(labels or ()))

    @cached_property
    def active(self) -> tuple[int, ...] | None:
        """The arms in play; None: all."""
        if all(standing == "active" for standing in self.standing):
            return None
        return tuple(arm for arm, standing in enumerate(self.standing) if standing == "active")

    @property
    def in_play(self) -> tuple[int, ...]:
        """The arms in play."""
        return tuple(range(len(self.standing))) if self.active is None else self.active

    def number(self, arm: object) -> int:
        """The number of an arm that is given by its name or number.

        Raises:
            ValueError: there is no such arm.
        """
        if isinstance(arm, str) and arm in self.labels:
            return self.labels.index(arm)
        number = as_int(arm)
        if number is not None and 0 <= number < len(self.standing):
            return number
        known = ", ".join(map(repr, self.labels[:20])) or f"0 to {len(self.standing) - 1}"
        raise ValueError(f"Expected one of the arms {known}; got {shown(arm)}.")

    def numbers(self, arms: Iterable[object]) -> tuple[int, ...]:
        """Those of these arms that are in play, in order.

        Raises:
            TypeError: one name in place of a list of them.
            ValueError: an arm that there is not; or none of them is in play.
        """
        single = getattr(arms, "ndim", 1) == 0  # a NumPy number, which says that it is iterable
        if isinstance(arms, str) or not isinstance(arms, Iterable) or single:
            raise TypeError(
                "Expected eligible= to be a list of arms, such as ['blue', 'green'] or [0, 2], got "
                f"{shown(arms)}."
            )
        chosen = {self.number(arm) for arm in arms}
        eligible = tuple(arm for arm in sorted(chosen) if self.standing[arm] == "active")
        if not eligible:
            raise ValueError(
                "Expected at least one eligible arm that is in play; "
                + ("none was named." if not chosen else "those named are paused or retired.")
            )
        return eligible

    def moved(self, arm: int, to: ArmStanding) -> Self:
        """The roster once an arm stands elsewhere.

        Raises:
            ValueError: the arm is retired, which is for ever.
        """
        if self.standing[arm] == "retired" != to:
            raise ValueError(
                f"{self.name(arm)} is retired, and a retired arm does not come back. Add a new arm "
                "with another name."
            )
        standing = (*self.standing[:arm], to, *self.standing[arm + 1 :])
        return replace(self, standing=standing)

    def only(self, arm: int) -> Self:
        """The roster with all other arms paused."""
        paused: ArmStanding = "paused"
        return replace(self, standing=(paused,) * len(self.standing)).moved(arm, "active")

    def joined(self, label: str | None) -> Self:
        """The roster with one more arm.

        Raises:
            ValueError: a name that was used before, or is none; or no name where arms have names.
        """
        if (label is None) is bool(self.labels):
            raise ValueError(
                "Expected a name for the new arm, for the others have names."
                if label is None
                else "Expected no name for the new arm, for the others have none: name all arms "
                "when the policy is made, arms=['blue', 'green']."
            )
        labels = self.labels if label is None else checked_arm_labels((*self.labels, label))
        return replace(self, standing=(*self.standing, "active"), labels=ArmLabels(labels))

    def name(self, arm: int) -> str:
        """What an error calls an arm."""
        return repr(self.labels[arm]) if self.labels else f"Arm {arm}"


def roster_from_data(data: object, arms: int, labels: tuple[str, ...] | None) -> Roster:
    """The roster of a saved session: a letter for each arm's standing.

    labels: the names that its policy knows.
    """
    known: dict[str, ArmStanding] = {"a": "active", "p": "paused", "r": "retired"}
    if not isinstance(data, str) or len(data) != arms or not set(data) <= set(known):
        raise damaged("public.arms does not say of each arm where it stands")
    if data and not set(data) & {"a"}:
        raise damaged("public.arms has no arm in play")
    return Roster(tuple(known[letter] for letter in data), ArmLabels(labels or ()))


def roster_to_data(roster: Roster) -> str:
    return "".join(standing[0] for standing in roster.standing)
