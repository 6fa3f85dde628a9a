"""The JavaScript client: its own tests in Node, and in a browser with storage of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from dpbandits.version import __version__
from tests.clients.browser import served, visited
from tests.places import REPOSITORY

PACKAGE = REPOSITORY / "clients" / "js"
NODE, CHROMIUM = shutil.which("node"), shutil.which("chromium")


@pytest.mark.skipif(NODE is None, reason="needs Node (Debian package nodejs)")
def test_in_node() -> None:
    tests = sorted(map(str, (PACKAGE / "test").glob("*.test.js")))
    assert len(tests) == 3
    done = subprocess.run(
        [str(NODE), "--test", *tests], cwd=PACKAGE, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# fail 0" in done.stdout or "ℹ fail 0" in done.stdout


@pytest.mark.long
@pytest.mark.skipif(CHROMIUM is None, reason="needs a browser (Debian package chromium)")
def test_in_a_browser(tmp_path: Path) -> None:
    """The vectors and the budget in IndexedDB; and another browser process with the same profile
    gives the same report, and pays nothing.
    """
    with served(PACKAGE) as (address, posted):
        page = f"{address}/test/browser.html"
        first = visited(str(CHROMIUM), page, tmp_path / "profile", posted)
        again = visited(str(CHROMIUM), f"{page}?again", tmp_path / "profile", posted)
        fresh = visited(str(CHROMIUM), f"{page}?again", tmp_path / "other", posted)
    assert first["failed"] == {}
    assert len(first["checks"]) == 7
    assert again["report"] == first["report"]
    assert first["spent"] == again["spent"] == fresh["spent"] == "1"


def test_the_package_is_of_this_version_and_depends_on_nothing() -> None:
    about = json.loads((PACKAGE / "package.json").read_text(encoding="utf-8"))
    assert about["version"] == __version__
    assert not about.keys() & {"dependencies", "peerDependencies", "bundledDependencies"}
