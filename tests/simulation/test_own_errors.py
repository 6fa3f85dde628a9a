"""An error of a policy of the user's own comes as it is, with a note that says what was played."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

import dpbandits as dpb


@dataclass(frozen=True, kw_only=True)
class Fails(dpb.DPKLUCB):
    """Fails in its first update."""

    def update(self, state: Any, plan: Any, release: Any) -> Any:
        raise LookupError("no such table")


@dataclass(frozen=True, kw_only=True)
class Unmade(dpb.DPKLUCB):
    def validate(self) -> None:
        super().validate()
        raise LookupError("no such table")


@pytest.mark.parametrize("kind", [Fails, Unmade])
def test_a_forecast_hides_no_error(kind: type[dpb.Policy]) -> None:
    with pytest.raises(LookupError, match="no such table"):
        dpb.forecast([0.6, 0.4], 1000, 1, policies=[kind], draws=2)
