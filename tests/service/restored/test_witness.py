"""The witness's file: a line that a crash cut short, a call that was, and a file that is somebody
else's.
"""

from __future__ import annotations

import fcntl
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from dpbandits.core.errors import WitnessError
from dpbandits.service.witness import Mark, WitnessFile

ONE = Mark(1, 0, "a")


@pytest.mark.parametrize("held", [b"f00dcafe" * 8, b'{"key": 1}', b"\x00\x01\x02", b"[]\n{"])
def test_a_file_of_another_kind_is_left_as_it_is(tmp_path: Path, held: bytes) -> None:
    """Such as a key without an end of line: nothing of it was ours to take away."""
    path = tmp_path / "key"
    path.write_bytes(held)
    with pytest.raises(WitnessError, match="to be a witness of dpbandits"):
        WitnessFile(path)
    assert path.read_bytes() == held


@pytest.mark.parametrize("rest", [b"{", b'{"campaign":"b","gen', b'{"sco', b"\0\0", b'{"ca\0\0'])
def test_a_line_that_was_cut_short_never_happened(tmp_path: Path, rest: bytes) -> None:
    path = tmp_path / "witness"
    WitnessFile(path).add("a", ONE, None)
    whole = path.read_bytes()
    path.write_bytes(whole + rest)
    assert WitnessFile(path).latest("a") == ONE
    assert path.read_bytes() == whole


def interrupted(after: int) -> Any:
    """A tracer that cuts off whatever runs at its so-manieth line in these files."""
    left = [after]

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if not frame.f_code.co_filename.endswith(("service/witness.py", "contextlib.py")):
            return None
        if event == "line":
            left[0] -= 1
            if not left[0]:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    return trace


def test_a_call_that_was_cut_off_keeps_nobody_out(tmp_path: Path) -> None:
    """Wherever that was: another process waits for the file's lock without end."""
    path, before = tmp_path / "witness", sys.gettrace()
    witness = WitnessFile(path)
    for place in range(1, 1_000):
        cut = False
        try:
            sys.settrace(interrupted(place))
            witness.latest("a")
        except KeyboardInterrupt:
            cut = True
        finally:
            sys.settrace(before)
        with path.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not cut:
            break
    assert 20 < place < 999
