"""Asking and telling, kept on SQLite: a campaign beside a loop that writes a row a transaction, and
beside Optuna's storage.

    python -m benchmarks.service.compared --out benchmarks/results/service_compared.csv

Optuna is measured where it can be imported: `.venv/bin/pip install optuna` before the benchmark
gives its row, and without it the row says "not installed". Nothing of ours needs it, so `make` does
not install it. All three write to the same disk and wait for it at every transaction. What they
keep differs: docs/guides/comparison.md.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dpbandits as dpb
from benchmarks.service.places import Place, lite
from benchmarks.table import Row, show, write

ARMS = ["a", "b", "c", "d", "e"]
Pairs = Callable[[int], None]
"""Asks for so many decisions and tells them all."""


def by_row(folder: Path) -> Pairs:
    """One row a transaction: a decision is inserted, and its reward is written when it comes."""
    database = sqlite3.connect(folder / "rows.db", isolation_level=None)
    database.execute("PRAGMA synchronous = FULL")
    database.execute(
        "CREATE TABLE dpbandits_decision (id INTEGER PRIMARY KEY, arm TEXT, reward REAL)"
    )

    def pairs(count: int) -> None:
        for at in range(count):
            new = "INSERT INTO dpbandits_decision (arm) VALUES (?)"
            id = database.execute(new, (ARMS[at % 5],)).lastrowid
            database.execute("UPDATE dpbandits_decision SET reward = ? WHERE id = ?", (at & 1, id))

    return pairs


def by_optuna(folder: Path) -> Pairs | None:
    """Optuna's study.ask and study.tell, arms drawn at random; None where it is not installed."""
    if importlib.util.find_spec("optuna") is None:
        return None
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(
        storage=f"sqlite:///{folder}/optuna.db",
        sampler=optuna.samplers.RandomSampler(seed=1),
        direction="maximize",
    )

    def pairs(count: int) -> None:
        for at in range(count):
            trial = study.ask()
            trial.suggest_categorical("arm", ARMS)
            study.tell(trial, float(at & 1))

    return pairs


def campaign_at(place: Place) -> Any:
    return place.open().create("speed", dpb.DPKLUCB(arms=ARMS, epsilon=1))


def one_by_one(campaign: Any) -> Pairs:
    def pairs(count: int) -> None:
        for at in range(count):
            campaign.tell(campaign.ask(), float(at & 1))

    return pairs


def together(campaign: Any, size: int) -> Pairs:
    def pairs(count: int) -> None:
        for _ in range(count // size):
            campaign.tell_many([(d, float(d.round & 1)) for d in campaign.ask(size)])

    return pairs


def rate(pairs: Pairs, count: int) -> float:
    """Decisions asked and told in a second that went by, the best of three."""
    best = 0.0
    for _ in range(3):
        began = time.perf_counter()
        pairs(count)
        best = max(best, count / (time.perf_counter() - began))
    return best


def measured(place: Place, folder: Path) -> list[Row]:
    campaign, rows = campaign_at(place), [place.disk()]
    rival, by_hand = by_optuna(folder), by_row(folder)
    said = "not installed" if rival is None else f"{rate(rival, 100):,.0f} pairs/s"
    rows.append(Row("Optuna's storage, one by one", said, "", None))
    base = rate(by_hand, 200)
    ways: list[tuple[str, Pairs, int, float | None]] = [
        ("a campaign, one by one", one_by_one(campaign), 100, None),
        ("a campaign, 20 at a time", together(campaign, 20), 2_000, 10.0),
        ("a campaign, 1,000 at a time", together(campaign, 1_000), 10_000, 10.0),
    ]
    found_by = [rate(pairs, count) for _, pairs, count, _ in ways]
    base = max(base, rate(by_hand, 200))  # before and after: a disk has its moods
    rows.append(Row("a row a transaction, by hand", f"{base:,.0f} pairs/s", "", None))
    for (name, _, _, wanted), found in zip(ways, found_by, strict=True):
        text = f"{found:,.0f} pairs/s, {found / base:.2f} × a row a transaction"
        limit = "" if wanted is None else f"{wanted:g} ×"
        rows.append(Row(name, text, limit, None if wanted is None else found >= wanted * base))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    with lite() as place:
        rows = measured(place, place.witness.parent)
    title = "Asking and telling on SQLite, one process, beside others"
    show(title, rows)
    load = (
        f"Load of the machine while it ran: {os.getloadavg()[0]:.1f} on {os.cpu_count()} threads."
    )
    command = f"python -m benchmarks.service.compared --out {given.out}"
    write(given.out, command, {title: rows}, load)


if __name__ == "__main__":
    main()
