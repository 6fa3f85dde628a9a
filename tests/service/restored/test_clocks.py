"""A machine that was put back has its clock put back, too, for as long as nobody sets it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.service.machine import Time
from tests.service.restored.test_fence import rolled_back
from tests.service.timelines import Lite, turns


def test_a_clock_that_was_put_back_too_opens_no_window_again(tmp_path: Path) -> None:
    """The window that the fence closes is the one in which the lost timeline was seen last."""
    clock, hour = Time(), 3600.0
    options: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 1}
    began = clock.now

    def between(campaign: Any) -> list[bool]:
        clock.now = began + hour
        learned = [d.learn for n in range(30) for d in turns(campaign, 1, user=f"p{n}")]
        clock.now = began
        return learned

    opening = {**options, "window": timedelta(hours=1), "clock": clock}
    campaign, learned = rolled_back(Lite(tmp_path), between, **opening)
    assert all(learned)
    assert campaign.generation == 2  # it was fenced in the earlier hour
    clock.now = began + hour
    assert [campaign.ask(user=f"p{n}").learn for n in range(3)] == [False] * 3
    clock.now = began + 2 * hour
    assert campaign.ask(user="p0").learn is True
