"""What nobody outside can tell: rewards, and which keys there are."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

from fastapi import Request

import dpbandits as dpb
from dpbandits.service.server.access import Access
from tests.service.conftest import Open

PACKAGE = str(Path(dpb.__file__).parent)


def walked(access: Access, key: str) -> tuple[list[str], int]:
    """Every function of this package that a key is looked up by, in order; and what it comes to."""
    steps = list[str]()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            steps.append(frame.f_code.co_qualname)

    headers = [(b"authorization", f"Bearer {key}".encode())]
    request = Request({"type": "http", "method": "GET", "headers": headers, "query_string": b""})
    before, status = sys.getprofile(), 200
    sys.setprofile(note)
    try:
        access.principal(request)
    except PermissionError:
        status = 401
    finally:
        sys.setprofile(before)
    return steps, status


def test_a_key_that_there_is_not_is_refused_as_one_that_there_was(make: Open) -> None:
    """A clock would tell by chance. One hash is made of whatever came, and one row looked up by it,
    so nothing that takes time depends on how much of a key is right.
    """
    access = Access(make().database, open=False)
    mine, gone = (access.create(name, ["read"]) for name in ("mine", "gone"))
    access.revoke("gone")
    walked(access, mine)  # what is made once is made
    (known, found), (revoked, refused) = walked(access, mine), walked(access, gone)
    assert (found, refused) == (200, 401)
    assert [*known, "refusal"] == revoked
    assert known.count("hash_of") == 1
    assert sum(step.endswith("Database.key") for step in known) == 1
    almost = mine[:-1] + ("a" if mine[-1] != "a" else "b")
    for other in ("dpb_wrong", almost, mine[:20], "x" * 5_000, "é"):
        steps, status = walked(access, other)
        assert status == 401
        assert steps == revoked
