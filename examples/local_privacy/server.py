"""Local privacy in two processes: a server that plays CUCB-LDP2, and its users, who send noisy
reports through a pipe.

    python examples/local_privacy/server.py

Every byte that crosses the pipe is kept, errors included, so that anyone can look at what the
server could have seen.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dpbandits.local.client import Client
from dpbandits.noise.protocol import Noise
from dpbandits.noise.sources import SecureNoise
from dpbandits.oracles import TopKMax
from dpbandits.policies import CUCBLDP2
from dpbandits.policies.contract import Policy
from dpbandits.session.session import Session

USERS = Path(__file__).with_name("users.py")
"""The program of the users, which imports nothing of the server."""

MEANS = (0.1, 0.2, 0.3, 0.2, 0.1, 0.9, 0.8, 0.2)
"""Share of the users who like each arm. The server does not know it."""


@dataclass
class Pipe:
    """What crossed: lines to the users, lines from them."""

    sent: list[str] = field(default_factory=list)
    received: list[str] = field(default_factory=list)


def users_command(*options: str, most: object, means: Sequence[float] = MEANS) -> list[str]:
    """How the users' process is started."""
    return [
        sys.executable,
        str(USERS),
        "--most",
        str(most),
        "--means",
        ",".join(map(str, means)),
        *options,
    ]


def serve(
    policy: Policy, rounds: int, command: Sequence[str], *, noise: Noise, pipe: Pipe
) -> Session:
    """Play `rounds` rounds with the users that `command` starts.

    Raises:
        MessageError: a user sent something else than a report; it was not told.
    """
    session = Session(policy, noise=noise)
    pipe.sent.append(session.description())
    users = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        bufsize=1,
    )
    assert users.stdin is not None
    assert users.stdout is not None
    with users, users.stdin, users.stdout:
        try:
            print(pipe.sent[-1], file=users.stdin)
            for _ in range(rounds):
                pipe.sent.append(session.ask().to_json())
                print(pipe.sent[-1], file=users.stdin)
                pipe.received.append(users.stdout.readline())
                session.tell_message(pipe.received[-1])
        except BaseException:
            users.kill()
            raise
    return session


def demonstrate() -> None:
    parser = argparse.ArgumentParser(
        description="A server and its users in two processes: only noisy reports cross."
    )
    parser.add_argument("--users", type=int, default=3000, help="users, one a round")
    parser.add_argument("--epsilon", default="4", help="each report's epsilon")
    given = parser.parse_args()
    policy = CUCBLDP2(problem=TopKMax(arms=len(MEANS), k=2), epsilon=given.epsilon)
    pipe = Pipe()
    print(f"The server plays {policy.name} for {given.users} users. What crosses the pipe:\n")
    session = serve(
        policy, given.users, users_command(most=given.epsilon), noise=SecureNoise(), pipe=pipe
    )
    for sent, received in zip(pipe.sent[1:4], pipe.received, strict=False):
        print(f"  server: {sent}\n  user:   {received.strip()}")
    shown = [
        f"{total / n:.2f} ({n})" if n else "none"
        for total, n in zip(session.state.totals, session.state.rounds, strict=True)
    ]
    print(f"\nMean of the reports on each arm (and their number): {', '.join(shown)}")
    print(
        f"Next: arms {session.ask().action}; most liked are "
        f"{tuple(sorted(sorted(range(len(MEANS)), key=lambda i: -MEANS[i])[:2]))}."
    )
    print(f"Promised to each user: {Client(pipe.sent[0], most=given.epsilon).guarantee}")
    print(
        f"Bytes from users: {sum(len(line.encode()) for line in pipe.received)}, all of them "
        "reports."
    )


if __name__ == "__main__":
    demonstrate()
