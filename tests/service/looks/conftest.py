"""A store in a file, and the same store as a process sees it that only looks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpbandits.service.opening import open_store
from tests.service.timelines import Lite


@pytest.fixture
def lite(tmp_path: Path) -> Lite:
    return Lite(tmp_path)


def looked_at(lite: Lite, **options: Any) -> Any:
    return open_store(f"sqlite:///{lite.file}", witness=lite.witness, looking=True, **options)
