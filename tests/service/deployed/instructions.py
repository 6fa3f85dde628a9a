"""What the Dockerfile and the guide say, in parts."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

import typer

from dpbandits.terminal.cli import app
from tests.places import REPOSITORY

DOCKERFILE = REPOSITORY / "deploy" / "Dockerfile"
GUIDE = REPOSITORY / "docs" / "guides" / "operating.md"
SERVICE = REPOSITORY / "docs" / "guides" / "service.md"
IMAGE = "dpbandits"


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions in their order, each with what follows it."""
    text = re.sub(r"^#.*\n", "", DOCKERFILE.read_text("utf-8"), flags=re.MULTILINE)
    lines = [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]
    pairs = [line.split(maxsplit=1) for line in lines]
    return [(word, rest) for word, rest in pairs]


def listed(word: str) -> list[str]:
    """What an instruction that occurs once lists as JSON."""
    (rest,) = [rest for name, rest in instructions() if name == word]
    found: list[str] = json.loads(rest)
    return found


def copied() -> list[tuple[str, str]]:
    """What the image copies from the repository: source and target."""
    pairs = list[tuple[str, str]]()
    for word, rest in instructions():
        if word == "COPY":
            *sources, target = rest.split()
            pairs += [(source, target) for source in sources]
    return pairs


def steps() -> list[list[str]]:
    """The commands that the guide runs in the image, in their order."""
    found = list[list[str]]()
    for line in GUIDE.read_text("utf-8").splitlines():
        if line.startswith("docker run "):
            words = shlex.split(line)
            own = words[words.index(IMAGE) + 1 :]
            found.append(listed("ENTRYPOINT") + (own or listed("CMD")))
    return found


def typed(first: str, last: str) -> list[str]:
    """The guide's blocks of shell commands from one heading to another."""
    text = SERVICE.read_text("utf-8")
    part = text[text.index(f"\n{first}\n") : text.index(f"\n{last}\n")]
    return re.findall(r"^```sh\n(.*?)^```$", part, flags=re.MULTILINE | re.DOTALL)


def parsed(arguments: list[str]) -> dict[str, Any]:
    """The options that a command's own parser makes of these arguments; nothing is run.

    Raises:
        click.UsageError: the parser refuses them.
    """
    command: Any = typer.main.get_command(app)
    while hasattr(command, "commands"):
        command, arguments = command.commands[arguments[0]], arguments[1:]
    return dict(command.make_context(command.name, arguments).params)
