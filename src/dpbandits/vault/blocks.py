"""Open blocks, and changes of them that have happened."""

from typing import Any, NamedTuple

from dpbandits.core.ledger import Page
from dpbandits.core.plan import EVERY
from dpbandits.policies.contract import Release

Coordinates = tuple[int, ...]
"""Several coordinates of a vault."""

Open = tuple[Any, int, int]
"""The open block of one coordinate: its sum, exact and private, in grid steps (of whole records,
shape (coordinates,); of super arms, by arm); the number of rewards in it; the number that ever
entered this coordinate.
Plain tuples, for one is made for every reward.
"""


PlanBlock = tuple[int, tuple[int, ...] | None]
"""Where a record belongs to its plan: the number of the plan's block, and the arms that will be
read of it; None: all of the record, for what is read is said by the release.
"""

WHOLE: PlanBlock = EVERY, None
"""The block of hosts that have one plan at a time."""


class ReadRewards(NamedTuple):
    """What `Vault.check` read, in [0, 1]: private."""

    plain: Any

    def __repr__(self) -> str:
        return "ReadRewards(not shown)"


class Closing(NamedTuple):
    """What a release changes beside the blocks it closes."""

    turn: int
    memory: Any
    page: Page
    newest: Release


Staged = tuple[int, Closing | None, *tuple[Any, ...]]
"""A change that has happened and may still have to be carried out: records added, what a release
changes beside them, and then by turns a coordinate and its block. Flat, for one is made for every
reward.
"""
