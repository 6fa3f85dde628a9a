"""The systemd unit: systemd understands it, and the command line what it runs."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import REPOSITORY
from tests.service.deployed.instructions import GUIDE, parsed

UNIT = REPOSITORY / "deploy" / "dpbandits.service"


def said(name: str) -> str:
    """What the unit says once under this name."""
    (found,) = re.findall(rf"^{name}=(.*)$", UNIT.read_text("utf-8"), flags=re.MULTILINE)
    return str(found)


def test_what_it_runs_is_understood() -> None:
    program, *arguments = shlex.split(said("ExecStart"))
    assert Path(program).name == "dpbandits"
    options = parsed(arguments)
    assert options["host"] == "127.0.0.1"
    assert options["store"].startswith("postgresql")  # several workers need it
    assert options["witness"].parent == Path("/var/lib") / said("StateDirectory")


def test_the_guide_makes_a_key_for_what_the_unit_serves() -> None:
    (line,) = re.findall(r"^runuser .*$", GUIDE.read_text("utf-8"), flags=re.MULTILINE)
    user, words = f"-u {said('User')} --", shlex.split(line)
    assert user in line
    program = said("ExecStart").split()[0]
    made = parsed(words[words.index(program) + 1 :])
    served = parsed(shlex.split(said("ExecStart"))[1:])
    assert made["role"] == ["admin"]
    assert {made[key] == served[key] for key in ("store", "witness")} == {True}


def test_what_is_compiled_goes_where_it_may() -> None:
    """The unit's user may write to its own folders only."""
    assert said("ProtectSystem") == "strict"
    assert said("Environment") == f"NUMBA_CACHE_DIR=/var/cache/{said('CacheDirectory')}"


def test_what_it_writes_is_for_its_user_alone() -> None:
    assert said("UMask") == "0077"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_understands_it(tmp_path: Path) -> None:
    """With a program that is there: systemd looks for it."""
    program = said("ExecStart").split()[0]
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text("utf-8").replace(program, sys.executable), "utf-8")
    verify = ["systemd-analyze", "verify", str(unit)]
    done = subprocess.run(verify, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    own = [line for line in done.stderr.splitlines() if UNIT.name in line]
    assert own == []
