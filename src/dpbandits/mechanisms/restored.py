"""The checks that open sums, counts and mechanism memory must pass when a saved session is
continued. Messages never show a private number.
"""

from typing import Any, NamedTuple

from dpbandits.core.inputs import MOST
from dpbandits.core.values import damaged, entries, whole

DRAW = 2**63
"""More than any noised sum of rewards can be, in grid steps: noise fits into 64 bits."""


class Readings(NamedTuple):
    """Public: how often one coordinate was read, and how many rewards these readings covered. A
    mechanism's memory has to fit these numbers.

    low, high: the least and the largest sum of one reward, in grid steps. Reports carry noise, so
        for them it may be any number.
    """

    releases: int
    rewards: int
    low: int
    high: int

    def sum_fits(self, total: object, rewards: int) -> bool:
        """Whether so many rewards may have this sum."""
        return (
            0 <= rewards <= self.rewards
            and type(total) is int
            and self.low * rewards <= total <= self.high * rewards
        )

    def nodes_fit(self, exact: Any, noised: Any, levels: int, leaves: int) -> bool:
        """Whether these are the partial sums of a tree with so many leaves: one for each level, 0
        if the number of leaves does not contain the level.
        """
        if not whole_numbers(exact, levels) or not whole_numbers(noised, levels):
            return False
        unused = [at for at in range(levels) if not leaves >> at & 1]
        sums = not any(exact[at] or noised[at] for at in unused) and all(
            self.sum_fits(node, self.rewards) for node in exact
        )
        return sums and all(noised_fits(node, 1) for node in noised)


def whole_numbers(values: Any, length: int) -> bool:
    """Whether this is a list of so many plain whole numbers."""
    return (
        isinstance(values, list)
        and len(values) == length
        and all(type(value) is int for value in values)
    )


def noised_fits(value: int, draws: int) -> bool:
    """Whether a sum with so many draws of noise may have this value."""
    return abs(value) <= DRAW * draws


def restored_counts(counts: object, length: int) -> list[int]:
    """The number of records in each open block."""
    return [
        whole(count, f"vault.counts[{at}]")
        for at, count in enumerate(entries(counts, "vault.counts", length))
    ]


def restored_sums(sums: object, length: int, bounds: list[int] | None) -> list[int]:
    """The open sums in grid steps.

    bounds: the largest sum of each block, or one for all blocks; None if reports were added, whose
        sums may be anything.
    """
    found = entries(sums, "private.sums", length)
    highest = None if bounds is None else bounds * (length if len(bounds) == 1 else 1)
    fit = all(type(total) is int for total in found)
    if not fit or (
        highest is not None
        and not all(
            0 <= total <= min(high, MOST) for total, high in zip(found, highest, strict=True)
        )
    ):
        raise damaged(
            "private.sums holds what no sum of so many rewards can be (not shown: sums are private)"
        )
    return list(found)
