"""What the guide says to type, typed as it stands and in its order: in a shell, then over HTTP."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.service.postgres import free_port

from tests.places import REPOSITORY
from tests.service.http.web import answered

GUIDE = REPOSITORY / "docs" / "guides" / "service.md"


def typed(first: str, last: str) -> list[str]:
    """The guide's blocks of shell commands from one heading to another."""
    text = GUIDE.read_text("utf-8")
    part = text[text.index(f"\n{first}\n") : text.index(f"\n{last}\n")]
    return re.findall(r"^```sh\n(.*?)^```$", part, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_commands_follow_each_other(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    folders = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    own = os.environ | {"PATH": folders}

    def said(lines: str) -> str:
        shell = ["bash", "-euc", lines]
        done = subprocess.run(shell, cwd=here, env=own, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    port = str(free_port())
    campaign, serve, requests, keys = (
        block.replace("8080", port) for block in typed("## From the shell", "### The page")
    )
    assert "recorded" in said(campaign).splitlines()
    assert (here / "decisions.csv").read_text(encoding="utf-8").count("\n") == 2
    server = subprocess.Popen(serve.split(), cwd=here, env=own, stdout=subprocess.DEVNULL)
    try:
        assert answered(f"http://127.0.0.1:{port}/readyz", server) == 200
        answers = said(requests)
        assert '"status":"recorded"' in answers
        assert '"detail"' not in answers, "no request is refused"
        me, website = said(keys).split()
        assert {me[:4], website[:4]} == {"dpb_"}
    finally:
        server.terminate()
        server.wait(timeout=30)
