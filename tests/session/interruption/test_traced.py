"""What the tests of interruptions stand on: only lines of the call count."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpbandits.datasets import files
from tests.session.interruption.interrupted import POLICIES, Interrupted, fresh, interrupt


@pytest.fixture
def threshold() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def left_half_read(path: Path) -> None:
    """A generator of the package that only the collector can close."""
    rows = files.rows(path)
    next(rows)
    ring: list[Any] = [rows]
    ring.append(ring)


def test_no_garbage_is_interrupted_in_place_of_the_call(threshold: None, tmp_path: Path) -> None:
    """The exception would be lost in a finalizer, and fail whichever test came next."""
    path = tmp_path / "rewards.csv"
    path.write_text("arm,reward\na,1\n")

    def asked(line: int) -> int:
        session = fresh(POLICIES["batches"])

        def call() -> None:
            gc.set_threshold(1, 1, 1)  # as often as it can
            session.ask()

        gc.set_threshold(0)
        left_half_read(path)
        return interrupt(call, line)

    asked(0)  # what is made once is made
    lines = asked(0)
    for line in range(1, lines + 1):
        with pytest.raises(Interrupted):
            asked(line)
    assert lines > 10
    assert gc.isenabled()
