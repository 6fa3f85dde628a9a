"""Nothing but reports leaves a device, and a client that leaks is caught."""

import json
import re
from collections.abc import Iterable
from pathlib import Path

from examples.local_privacy.server import USERS, Pipe, serve, users_command

import dpbandits as dpb
from dpbandits.local import messages
from tests.local.test_client import GRID, VALUES, policy


def leaks(lines: Iterable[str]) -> list[str]:
    """The lines that hold a raw reward: as a decimal number, or as its exact grid steps."""
    raw = {str(round(value * GRID)) for value in VALUES}
    digits = [str(value)[2:6] for value in VALUES]
    found = []
    for line in lines:
        numbers = re.findall(r"\d+(?:\.\d+)?", line.split('"randomizer"')[0])
        if any(n in raw for n in numbers) or any(f".{d}" in line for d in digits):
            found.append(line)
    return found


def test_only_reports_cross_between_server_and_users() -> None:
    """A report equals a raw reward's steps by chance in less than 40·2·ε/2g < 1e-6 of runs."""
    pipe = Pipe()
    session = serve(policy(), 40, users_command(most="1/100"), noise=dpb.SecureNoise(), pipe=pipe)
    assert len(pipe.received) == 40
    assert leaks(pipe.received) == []
    for sent, line in zip(pipe.sent[1:], pipe.received, strict=True):
        told = messages.report_from_json(line)
        assert told.id == json.loads(sent)["id"]
        assert told.report.noise == "secure"
        assert len(told.report.steps) == 1  # type: ignore[arg-type]
    assert sum(session.state.rounds) == 40
    assert float(session.spent) == 0.01  # type: ignore[arg-type]


BROKEN = """
import runpy, sys
from dpbandits.mechanisms.randomizers import LocalLaplace
users = sys.argv.pop(1)
LocalLaplace.randomise = lambda self, steps, noise: steps
runpy.run_path(users, run_name="__main__")
"""


def test_a_client_that_leaks_is_caught(tmp_path: Path) -> None:
    """The control: the same look at the same bytes finds a reward that was sent plainly."""
    (tmp_path / "broken.py").write_text(BROKEN)
    command, pipe = users_command(most="1/100"), Pipe()
    command[1:2] = [str(tmp_path / "broken.py"), str(USERS)]
    serve(policy(), 10, command, noise=dpb.SecureNoise(), pipe=pipe)
    assert len(leaks(pipe.received)) == 10
