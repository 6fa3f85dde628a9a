"""What tests of several rooms need: folders, for their files and of real data, and a tiny sweep
that has every kind of policy (central, local, zCDP, a published preset, and twins without privacy).
"""

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from shutil import disk_usage
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings

from dpbandits.sweeps import Results, load_config, run_sweep
from tests.families import is_long, resting
from tests.places import DATA

settings.register_profile("untimed", deadline=None)  # no verdict depends on the clock
settings.load_profile("untimed")

TINY = """
name = "tiny"
title = "A tiny <sweep> & more"
about = "Just for tests."
rounds = 3000
runs = 25
seed = 7
epsilons = [0.5, 1]

[quick]
rounds = 500
runs = 5

[[environments]]
name = "linear"
law = "bernoulli"
means = [0.75, 0.5, 0.25]

[[environments]]
name = "smoking"
law = "clinical"
trial = "smoking"

[[policies]]
class = "DPKLUCB"
label = "DP-KLUCB"

[[policies]]
class = "KLUCB"
rounds = 3000

[[policies]]
class = "HybridUCB"
preset = "published"
environments = ["linear"]
epsilons = [1]

[[policies]]
class = "AdaCUCB"
rhos = [0.1, "1/2"]
environments = ["linear"]

[[policies]]
class = "LDPKLUCB"
epsilons = [1]
environments = ["linear"]
runs = 10

[[policies]]
class = "DPSE"
environments = ["linear"]
"""

Write = Callable[..., Path]


def pytest_configure() -> None:
    """Choose the third of long families, once for all workers."""
    os.environ.setdefault("THIRD", str(datetime.now(UTC).toordinal() % 3))


def pytest_report_header() -> str:
    return f"long families: THIRD={os.environ['THIRD']} (tests/families.py)"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `tests/families.py` leaves to `make test-all`, and to other days, before marks are
    looked at.
    """
    for item in items:
        test, _, case = item.nodeid.removeprefix("tests/").partition("[")
        if is_long(test, case.removesuffix("]")):
            item.add_marker("long")
    cases = {
        item.nodeid: item
        for item in items
        if item.get_closest_marker("long") and not item.get_closest_marker("hours")
    }
    for case in resting(cases, os.environ["THIRD"]):
        cases[case].add_marker("hours")


@pytest.fixture
def real(request: pytest.FixtureRequest) -> Path:
    """The folder of the test's `@pytest.mark.parametrize("real", [name], indirect=True)`; skips
    where it is absent.
    """
    folder = DATA / request.param
    if not folder.is_dir():
        pytest.skip(f"needs the real data {request.param}/ in ../shared/data beside the repository")
    return folder


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder in memory, where there is enough: thousands of transactions need not wait for a
    disk.
    """
    memory = Path("/dev/shm")
    place = memory if memory.is_dir() and disk_usage(memory).free > 2**30 else None
    with TemporaryDirectory(dir=place, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a sweep file; `old` → `new` edits the tiny one."""

    def writer(text: str = TINY, edits: dict[str, str] | None = None) -> Path:
        for old, new in (edits or {}).items():
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "sweep.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return writer


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The tiny sweep, run once. Tests that change its folder copy it."""
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "tiny.toml").write_text(TINY, encoding="utf-8")
    return run_sweep(load_config(folder / "tiny.toml"), folder / "out", workers=1)
