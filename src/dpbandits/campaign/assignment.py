"""Who gets which arm by chance: first blocks of all arms in one random order, and a least share of
rounds for each arm.

The coins are public randomness from a seed that is kept secret until the end, so nobody foresees
the next assignment, and everybody can check it afterwards. They say nothing of any reward.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from dpbandits.core.inputs import real_number, shown
from dpbandits.core.values import damaged, entries

COINS = 3
"""Sets the stream of assignment coins apart from other public randomness."""


@final
@dataclass(frozen=True)
class Assignment:
    """How an arm is drawn for a decision.

    shuffled: first blocks of all arms come in one random order, in place of one after the other.
    min_share: each arm's least share of rounds.

    >>> law = Assignment(shuffled=False, min_share=.1).law({}, 0, [0, 1])
    >>> [round(share, 3) for share in law]
    [0.9, 0.1]
    """

    shuffled: bool
    min_share: float

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
        rest = max(0.0, 1.0 - self.min_share * len(arms))
        return [self.min_share + rest * share for share in base]

    def needs_plan(self, rooms: Mapping[int, int], arms: int) -> bool:
        """Whether the law of so many arms depends on what the policy would play.

        rooms: see `law`.
        """
        return not (self.shuffled and any(rooms.values())) and self.min_share * arms < 1.0

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

        Raises:
            ValueError: their shares would add up to more than 1.
        """
        if self.min_share * arms > 1.0:
            raise ValueError(
                f"Expected at most {int(1 / self.min_share)} arms: each of them was promised "
                f"min_share={self.min_share:g}. Nothing was changed."
            )

    @property
    def words(self) -> str:
        """For a statement.

        >>> Assignment(shuffled=True, min_share=.01).words.split(", ")[0]
        'the first blocks of all arms come in one random order'
        """
        said = []
        if self.shuffled:
            said.append("the first blocks of all arms come in one random order")
        if self.min_share:
            said.append(f"each arm gets {self.min_share:.6g} of rounds or more")
        return (
            f"{', '.join(said)}; by coins from a seed that stays secret until the end and that no "
            "reward enters, so they cost no privacy"
        )

    def to_data(self) -> list[Any]:
        """Plain data, for JSON."""
        return [self.shuffled, self.min_share]


def assignment_of(kind: object, min_share: object, arms: int) -> Assignment | None:
    """What these options ask for; None where every decision follows from the plan.

    Raises:
        ValueError: an option out of its range.
    """
    if kind not in ("planned", "shuffled"):
        raise ValueError(
            f"Expected assignment={shown(kind)} to be 'planned' (arms' first blocks one after the "
            "other) or 'shuffled' (all of them in one random order)."
        )
    share = 0.0 if min_share is None else real_number(min_share)
    if share is None or not 0.0 <= share * arms <= 1.0:
        raise ValueError(
            f"Expected min_share={shown(min_share)} to be a number from 0 to {1 / arms:.4g}: each "
            f"of the {arms} arms gets that share of rounds at least."
        )
    if kind == "planned" and share == 0.0:
        return None
    return Assignment(kind == "shuffled", float(share))


def assignment_from_data(data: object, arms: int) -> Assignment | None:
    """What `to_data` wrote; None where there was none."""
    if data is None:
        return None
    shuffled, share = entries(data, "public.assignment", 2)
    if not isinstance(shuffled, bool) or type(share) not in (int, float):
        raise damaged("public.assignment is none")
    try:
        return assignment_of("shuffled" if shuffled else "planned", share, arms)
    except ValueError:
        raise damaged("public.assignment has a share that cannot be") from None
