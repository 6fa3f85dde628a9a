"""What an earlier call left due is made before anything else is recorded."""

from __future__ import annotations

from dpbandits.core.errors import LedgerError, NotRecordedError
from dpbandits.session.turn import Wheel


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
