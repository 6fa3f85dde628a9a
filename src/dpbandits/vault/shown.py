"""What anybody may see of a vault."""

from fractions import Fraction
from typing import Any, final

from dpbandits.core.ledger import Ledger
from dpbandits.core.privacy import Entry
from dpbandits.mechanisms.base import Mechanism
from dpbandits.vault.blocks import Staged
from dpbandits.vault.once import Drawn


class ShownVault:
    """Public figures: the ledger, prices, and which blocks are open. Its repr shows counts only."""

    staged: Staged | None
    _mechanism: Mechanism
    _coordinates: int
    _ledger: Ledger
    _drawn: Drawn
    _open: Any  # coordinate -> Open

    @final
    def __repr__(self) -> str:
        return f"{type(self).__name__}(coordinates={self._coordinates}, releases={self.releases})"

    @final
    @property
    def ledger(self) -> tuple[Entry, ...]:
        """Every reading."""
        staged = self.staged  # looked at once: another thread may clear it
        closing = None if staged is None else staged[1]
        return self._ledger.entries(None if closing is None else closing.page)

    @final
    @property
    def releases(self) -> int:
        return self._ledger.releases

    @final
    @property
    def price(self) -> Fraction | None:
        """What one reading costs a record; None: it is read without noise."""
        return self._ledger.cost

    @final
    @property
    def public_memory(self) -> bool:
        """Whether the mechanism remembers nothing but what it released (see `Mechanism`)."""
        return self._mechanism.public_memory

    @final
    def left(self) -> dict[int, tuple[int, int]]:
        """What left the open blocks, by coordinate (see `Ledger.left`)."""
        return self._ledger.left()

    @final
    @property
    def drawn(self) -> bool:
        """Whether noise was drawn for a release that has not happened yet."""
        return bool(self._drawn)

    def emptied(self) -> tuple[int, ...]:
        """The coordinates whose open block is empty."""
        return tuple(c for c in range(self._coordinates) if not self._open[c][1])
