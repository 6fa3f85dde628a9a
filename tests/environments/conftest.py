"""Where the real data lies: beside the repository, and never in it."""

from __future__ import annotations

from pathlib import Path

import pytest

DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture
def real(request: pytest.FixtureRequest) -> Path:
    """The folder of the test's `@pytest.mark.parametrize("real", [name], indirect=True)`; skips
    where it is absent.
    """
    folder = DATA / request.param
    if not folder.is_dir():
        pytest.skip(f"needs the real data {request.param}/ in ../shared/data beside the repository")
    return folder
