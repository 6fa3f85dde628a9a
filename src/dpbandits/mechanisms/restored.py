"""The checks open sums, counts and mechanism memory pass when a saved session is continued. Messages never show a private number."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpbandits.strict import MOST, alike, damaged, entries, whole


def restored_counts(counts: object, length: int) -> list[int]:
    """Records in each open block."""
    return [whole(count, f"vault.counts[{at}]") for at, count in enumerate(entries(counts, "vault.counts", length))]


def restored_sums(sums: object, length: int, bounds: list[int] | None, *, like: Any) -> Any:
    """Open sums in grid steps, kept as `like` is.

    bounds: the largest sum of each block, or one of all; None where reports were added, whose sums may be anything.
    """
    found = entries(sums, "private.sums", length)
    highest = None if bounds is None else bounds * (length if len(bounds) == 1 else 1)
    fit = all(type(total) is int for total in found)
    if not fit or (highest is not None and not all(0 <= total <= min(high, MOST) for total, high in zip(found, highest, strict=True))):
        raise damaged("private.sums holds what no sum of so many rewards can be (not shown: sums are private)")
    return np.array(found, np.int64) if isinstance(like, np.ndarray) else list(found)


def restored_memory(memory: Any, fresh: Any) -> Any:
    """A mechanism's memory, of the form a fresh one has."""
    if not alike(memory, fresh):
        raise damaged("private.memory does not fit the policy's mechanism (not shown: it is private)")
    return memory
