"""Executors: what a cell costs beside its own playing, and what a second worker gives. `python -m
benchmarks.cluster [--cells N] [--out FILE]`.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
from pathlib import Path
from textwrap import fill
from time import perf_counter, process_time
from typing import NamedTuple

import polars as pl

from benchmarks.table import Row, show, table
from dpbandits.sweeps import Cluster, Config, Executor, Processes, load_config, run_sweep

ROUNDS, RUNS = 1_000, 10


class Timing(NamedTuple):
    """Of one sweep: its wall time, processor seconds of the process that asked for it, the seconds
    its cells say they took, and its numbers.
    """

    wall: float
    own: float
    played: float
    summary: pl.DataFrame


def sweep_of(cells: int, folder: Path) -> Config:
    """So many cells, all different: one policy in as many settings."""
    text = (
        f'name = "many"\ntitle = "Many cells"\nrounds = {ROUNDS}\nruns = {RUNS}\n'
        'at = [100, 1000]\n[[policies]]\nclass = "DPIMED"\n'
    )
    entry = '[[environments]]\nname = "e{i}"\nlaw = "bernoulli"\nmeans = [{a:.6f}, {b:.6f}]\n'
    text += "".join(entry.format(i=i, a=0.6 + i * 2e-5, b=0.4 + i * 1e-5) for i in range(cells))
    path = folder / "many.toml"
    path.write_text(text)
    return load_config(path)


def timed(config: Config, executor: Executor) -> Timing:
    """A whole sweep into a folder of its own."""
    with tempfile.TemporaryDirectory() as out:
        start, before = perf_counter(), process_time()
        results = run_sweep(config, Path(out), executor=executor)
        wall, own = perf_counter() - start, process_time() - before
    columns = ["environment", "mean", "worst", "releases", "events"]
    return Timing(wall, own, results.summary["seconds"].sum(), results.summary.select(columns))


def on_a_cluster(config: Config, warm: Config, workers: int) -> Timing:
    """Played by workers of this machine, each a process with one thread, that have compiled."""
    import distributed

    with distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        executor = Cluster(cluster.scheduler_address)
        timed(warm, executor)
        return timed(config, executor)


def timings(cells: int) -> dict[str, Timing]:
    """Each executor with one worker and with two. The first cells of a worker compile; that is done
    before the clock starts.
    """
    with tempfile.TemporaryDirectory() as folder:
        config, warm = sweep_of(cells, Path(folder)), sweep_of(8, Path(folder))
        found = {}
        for workers in (1, 2):
            processes = Processes(workers)
            timed(warm, processes)
            found[f"processes, {workers}"] = timed(config, processes)
            found[f"dask, {workers}"] = on_a_cluster(config, warm, workers)
        return found


def rows(found: dict[str, Timing], cells: int) -> list[Row]:
    first = next(iter(found.values()))
    lines = []
    for name, timing in found.items():
        kind, workers = name.split(", ")
        beside = 1e3 * (timing.wall * int(workers) - timing.played) / cells
        text = (
            f"{timing.wall:.0f} s, {timing.played:.0f} s of it a worker's playing; beside that "
            f"{beside:.1f} ms of a worker's time a cell"
        )
        same = timing.summary.equals(first.summary)
        lines.append(Row(f"{kind}, workers: {workers}", text, "the same numbers bit for bit", same))
    for kind in ("processes", "dask"):
        gain = found[f"{kind}, 1"].wall / found[f"{kind}, 2"].wall
        lines.append(Row(f"{kind}, 1 → 2 workers", f"{gain:.2f} times as fast", "—", None))
    return lines


def projection(found: dict[str, Timing], cells: int) -> str:
    """What follows for more workers, and what does not."""
    two = found["dask, 2"]
    played, own = 1e3 * two.played / cells, 1e3 * two.own / cells
    most = f"{1000 / own:,.0f}"
    text = f"""The process that asks for a sweep claims each cell, sends it out, stores its numbers
    and makes the tables: {own:.1f} ms of processor time a cell with Dask. It does that alone, so no
    cluster finishes more than {most} cells a second, however many workers it has. A cell of this
    benchmark takes {played:.1f} ms to play, so {max(1, round(played / own))} such workers are as
    many as can be kept at work. Of cells that take a second, {most} workers can be, by this count;
    the network and the scheduler may stop that sooner, and nothing was measured on several
    machines. What a second worker gives here is no measure of that: workers, scheduler and the
    asking process share {os.cpu_count()} processors, perhaps with other work besides."""
    return f"## What follows, and what does not\n\n{filled(text)}\n"


def page(found: dict[str, Timing], cells: int) -> str:
    given = f" --cells {cells}" if cells != 10_000 else ""
    how = f"""{cells:,} cells of {RUNS} runs over {ROUNDS:,} rounds (`DPIMED`, ε = 1, two arms) on
    one machine: {os.cpu_count()} processors, Python {platform.python_version()}; its load was
    {os.getloadavg()[0]:.1f} at the end, this benchmark's own part of it included. Workers have
    compiled before the clock starts. [How to use a cluster](../guides/clusters.md)."""
    return (
        f"# Executors\n\nWritten by `python -m benchmarks.cluster{given} "
        f"--out docs/measured/cluster.md`; do not edit.\n\n"
        f"{filled(how)}\n\n{table(rows(found, cells))}\n{projection(found, cells)}"
    )


def filled(text: str) -> str:
    """In lines of the pages' usual length."""
    return fill(" ".join(text.split()), 140)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--cells", type=int, default=10_000)
    given = parser.parse_args()
    found = timings(given.cells)
    show("Executors", rows(found, given.cells))
    if given.out:
        given.out.write_text(page(found, given.cells), encoding="utf-8")


if __name__ == "__main__":
    main()
