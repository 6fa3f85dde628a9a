"""Speed at the sizes users have: full information, oracles, people whose rewards belong together,
sessions of many arms, and what compiled players of super arms gain. All in processor time.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

import dpbandits as dpb
from benchmarks.scale.full_information import MILLION
from benchmarks.table import Row, show

TITLE = "Learners, oracles, sessions"


def seconds(call: Callable[[], Any], repeats: int = 3) -> float:
    """The least processor time of a call, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def run_time(
    policy: Any, environment: Any, rounds: int, compiled: bool = True, repeats: int = 3
) -> float:
    """Seconds of a run, play counts at the end only."""

    def run(rounds: int) -> None:
        dpb.simulate(policy, environment, rounds, at=[], compiled=compiled)

    run(2)  # compiles
    return seconds(lambda: run(rounds), repeats)


def expert_rows() -> list[Row]:
    """A round of whole records: compiled against the vault's own, on tables played in their order.

    The plain host's rounds cost as much at any horizon but for the levels of a tree, so a part of
    its run will do.
    """
    rows = []
    for actions, rounds in ((12, 41_871), (100, 10_000), (1000, 2000)):
        records = dpb.Table(np.random.default_rng(0).random((rounds, actions)))
        for policy in (
            dpb.FollowTheLeader(actions=actions),
            dpb.DecreasingHedge(actions=actions),
            dpb.TreeFTRL(actions=actions, epsilon=1, horizon=rounds),
        ):
            some = 24_000 // actions
            plain = run_time(policy, records, some, compiled=False, repeats=1) / some
            fast = run_time(policy, records, rounds) / rounds
            what = f"{policy.name}, {rounds:,} × {actions} records, a round"
            said = f"{1e6 * fast:.1f} µs, {plain / fast:,.0f} times faster than the plain host"
            rows.append(Row(what, said, "at least 5 times", plain >= 5 * fast))
    return rows


def together_rows() -> list[Row]:
    """600 people with tastes against as many independent coins."""
    rng, rows = np.random.default_rng(0), []
    likes = (rng.random((600, 1)) + rng.random((600, 20))) / 2 > np.linspace(0.3, 0.7, 20)
    together = dpb.Table(likes.astype(float), resample=True)
    problem = dpb.UniformMatroid(arms=20, rank=5)
    for policy in (
        dpb.DPTSMAT(problem=problem, epsilon=1),
        dpb.OMM(problem=problem),
    ):
        users = run_time(policy, together, 10**5)
        ratio = users / run_time(policy, dpb.Bernoulli(together.means), 10**5)
        what = f"{policy.name}, top 5 of 20, T = 10⁵, correlated users against coins"
        rows.append(Row(what, f"{ratio:.1f} times the time", "at most 5", ratio <= 5))
    return rows


def sparse_graph(nodes: int, edges: int) -> list[tuple[int, int]]:
    """Points in a square, each joined to a near one before it, then the nearest pairs."""
    at = np.random.default_rng(1).random((nodes, 2))
    at, found = at[np.argsort(at[:, 0])], dict[tuple[int, int], None]()
    for i in range(1, nodes):
        first = max(0, i - 200)
        found[first + int(((at[first:i] - at[i]) ** 2).sum(axis=1).argmin()), i] = None
    near = cKDTree(at).query_pairs(0.02, output_type="ndarray")
    far = ((at[near[:, 0]] - at[near[:, 1]]) ** 2).sum(axis=1)
    for u, v in near[np.argsort(far)].tolist():
        if len(found) < edges:
            found[min(u, v), max(u, v)] = None
    return list(found)


def oracle_rows() -> list[Row]:
    """Spanning trees of a graph as large as the western power grid (4,941 nodes, 6,594 edges): an
    event, at which a plan is made, against one call of the oracle.
    """
    trees = dpb.SpanningTrees(sparse_graph(4941, 6594))
    weights, rows = np.random.default_rng(0).random(trees.arms), []
    oracle = seconds(lambda: trees.best(weights), 20)
    environment = dpb.Bernoulli(0.2 + 0.6 * weights)
    for policy, rounds, compiled in (
        (dpb.OMM(problem=trees), 300, True),
        (dpb.CUCB(problem=trees), 300, True),
        (dpb.DPKLMAT(problem=trees, epsilon=10**5), 1000, True),
        (dpb.DPUCBMAT(problem=trees, epsilon=10**5), 400, False),
        (dpb.OMM(problem=trees), 40, False),
    ):
        run = partial(dpb.simulate, policy, environment, at=[], compiled=compiled)
        run(2)  # compiles
        played = run(rounds)
        event = seconds(lambda run=run, t=rounds: run(t)) / int(played.events[0])
        read = int(played.releases[0]) / int(played.events[0])
        host = "compiled" if compiled else "plain"
        of = f"{policy.name}, a made-up graph of {trees.arms:,} edges"
        epsilon = getattr(policy, "epsilon", None)
        of += "" if epsilon is None else f", ε = {float(epsilon):,.0f}"
        what = f"{of}, {host}, an event ({read:,.0f} readings)"
        said = f"{1e3 * event:.1f} ms, {event / oracle:.1f} calls of the oracle"
        # of a policy that has a compiled player, the plain host is a reference
        asked = compiled or not isinstance(policy, dpb.OMM)
        goal = ("at most 10 calls", event <= 10 * oracle) if asked else ("for the record", None)
        rows.append(Row(what, said, *goal))
    return rows


def million_row() -> Row:
    """In a process of its own, so that the peak of memory is this run's; processor time."""
    script = MILLION.replace("perf_counter", "process_time")
    for _ in range(2):  # the first one may compile, which takes memory
        done = subprocess.run(
            [sys.executable, "-c", script], check=True, capture_output=True, text=True
        )
    taken, megabytes = map(float, done.stdout.split())
    said = f"{taken:.2f} s, peak of the process {megabytes:.0f} MB"
    return Row(
        "RNMFTNL, K = 10⁶, T = 10⁹, one run",
        said,
        "under 1 s and 300 MB",
        taken < 1 and megabytes < 300,
    )


def session_rows() -> list[Row]:
    """Ask and tell in people's sessions; the second figure is free of the machine's speed."""

    def rate(arms: int, pairs: int) -> float:
        session = dpb.Session(dpb.DPKLUCB(arms=arms, epsilon=1), noise=dpb.SecureNoise(), seed=1)
        while not session.releases:  # the first one of a process imports what draws noise
            session.tell(session.ask(), 1.0)
        start = time.thread_time()  # threads of other libraries may spin beside
        for i in range(pairs):
            session.tell(session.ask(), float(i & 1))
        return pairs / (time.thread_time() - start)

    few, many = rate(5, 10**6), rate(1000, 10**6)
    return [
        Row(
            "DPKLUCB session, K = 5",
            f"{few:,.0f} pairs a second",
            "at least 500,000",
            few >= 500_000,
        ),
        Row(
            "DPKLUCB session, K = 1,000",
            f"{many:,.0f} pairs a second, {100 * many / few:.0f} % of K = 5",
            "at least 100,000",
            many >= 100_000,
        ),
    ]


def super_arm_rows() -> list[Row]:
    """Compiled players against the plain host on three kinds of super arms of up to five arms."""
    rng, rounds, rows = np.random.default_rng(3), 3000, []
    listed = {tuple(sorted(rng.choice(20, 5, replace=False).tolist())) for _ in range(60)}
    environment = dpb.Bernoulli(np.linspace(0.75, 0.25, 20))
    for problem in (dpb.TopK(arms=20, k=5), dpb.TopKMax(arms=20, k=5), dpb.ExplicitSet(listed)):
        for policy in (
            dpb.CUCB(problem=problem),
            dpb.LazyCUCB(problem=problem, epsilon=10),
            dpb.DPKLCUCB(problem=problem, epsilon=10),
            dpb.CUCBLDP1(problem=problem, epsilon=1),
            dpb.CUCBLDP2(problem=problem, epsilon=1),
            dpb.CUCBDP(problem=problem, epsilon=10, horizon=rounds),
            dpb.CUCBDPMax(problem=problem, epsilon=10, horizon=rounds),
        ):
            slow = run_time(policy, environment, rounds, compiled=False, repeats=1)
            ratio = slow / run_time(policy, environment, rounds, repeats=7)
            what = f"{policy.name}, {type(problem).__name__}, 5 of 20, T = 3,000"
            said = f"{ratio:,.0f} times faster than the plain host"
            rows.append(Row(what, said, "at least 20", ratio >= 20))
    return rows


NOTE = "Seconds are processor time, which others on the machine lengthen; ratios are of one run."


PARTS: dict[str, Callable[[], list[Row]]] = {
    "experts": expert_rows,
    "together": together_rows,
    "oracles": oracle_rows,
    "million": lambda: [million_row()],
    "sessions": session_rows,
    "super_arms": super_arm_rows,
}


def rows(parts: Iterable[str] = PARTS) -> list[Row]:
    return [row for part in parts for row in PARTS[part]()]


if __name__ == "__main__":
    show(TITLE, rows())
