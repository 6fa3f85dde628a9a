"""What private contextual policies earn on real tables: python -m benchmarks.contexts --data FOLDER

Shares of LinTS's mean reward, with standard errors. The tables are read from the folder and not
kept; what is missing there is left out.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dpbandits as dpb
from benchmarks.table import write_columns

COMMAND = "python -m benchmarks.contexts"

NOTE = """All settings are defaults. They were tuned on the digits of scikit-learn and on synthetic
instances only; but penbased was among the tables on which ways to make codebooks were first tried.
mean: reward of a round. share: of what LinTS (no privacy, v = 1/2) earns on the same table; the
first 500 visitors, who get a random arm with DPLinTS at an epsilon, are counted. wanted: what was
asked for before it was built; open: within two standard errors of it. AdaCOFUL is the published
way. rho = epsilon^2/2, which is a weaker promise than epsilon. seconds: the processor's, of a run.
"""


class Row(NamedTuple):
    table: str
    policy: str
    budget: str
    rounds: int
    mean: str
    error: str
    share: str
    share_error: str
    wanted: str
    met: str
    runs: int
    releases: str
    seconds: str


def keel(folder: Path, name: str) -> dpb.ContextTable:
    """A table of labelled rows: 20 main axes at most."""
    with gzip.open(folder / "keel" / f"{name}.dat.gz", "rt") as file:
        rows = [line.split(",") for line in file if line.strip() and line[0] != "@"]
    features = np.array([[float(value) for value in row[:-1]] for row in rows])
    units = dpb.UnitContexts(features, keep=min(20, features.shape[1]))
    return dpb.ContextTable.of_classes(units(features), [row[-1].strip() for row in rows])


def films(folder: Path) -> dpb.ContextTable:
    """20 films of MovieLens small: a visitor is a user, whose context is 10 factors of the
    completed ratings; the chance of a reward is the completed rating, from 2 to 5 stretched over
    [.02, .98].
    """
    with (folder / "ml-latest-small" / "ratings.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    users = {user: at for at, user in enumerate(sorted({row["userId"] for row in rows}))}
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["movieId"]] = counts.get(row["movieId"], 0) + 1
    top = sorted(counts, key=lambda film: (-counts[film], int(film)))[:300]
    place = {film: at for at, film in enumerate(top)}
    ratings = np.full((len(users), 300), np.nan)
    for row in rows:
        if row["movieId"] in place:
            ratings[users[row["userId"]], place[row["movieId"]]] = float(row["rating"])
    means = np.nanmean(ratings, axis=0)
    known = ~np.isnan(ratings)
    centred = np.where(known, ratings, means) - means
    filled = centred.copy()
    for _ in range(100):  # soft completion of rank 10
        left, values, right = np.linalg.svd(filled, full_matrices=False)
        values = np.maximum(values[:10] - 4.0, 0.0)
        low = (left[:, :10] * values) @ right[:10]
        filled = np.where(known, centred, low)
    chances = np.clip((low + means - 2.0) / 3.0, 0.02, 0.98)
    chances = chances[:, np.argsort(-chances.var(axis=0))[:20]]
    factors = left[:, :10] * np.sqrt(values)
    factors = (factors - factors.mean(axis=0)) / factors.std(axis=0)
    norms = np.linalg.norm(factors, axis=1)
    factors /= np.maximum(norms, np.quantile(norms, 0.9))[:, None]
    return dpb.ContextTable(with_constant(factors), chances)


def clicks(folder: Path) -> dpb.ContextTable:
    """Made up: 5 variants that are clicked by 3 to 8 %, 8 features, a logistic law."""
    rng = np.random.default_rng(3)
    rows = 4000
    groups = np.eye(4)[rng.choice(4, rows, p=[0.4, 0.3, 0.2, 0.1])]
    features = np.hstack((groups, rng.standard_normal((rows, 4))))
    features /= np.quantile(np.linalg.norm(features, axis=1), 0.9)
    features /= np.maximum(np.linalg.norm(features, axis=1), 1.0)[:, None]
    weights = rng.standard_normal((5, 8)) * 1.2
    chances = 1.0 / (1.0 + np.exp(3.6 - features @ weights.T))
    return dpb.ContextTable(with_constant(features), chances)


def with_constant(features: Any) -> Any:
    """Rows of norm at most 1 with a constant that takes half of it."""
    whole = np.hstack((features, np.ones((len(features), 1)))) * np.sqrt(0.5)
    return whole * (1.0 - 2.0**-40)


class Instance(NamedTuple):
    make: Callable[[Path], dpb.ContextTable]
    rounds: int
    wanted: dict[str, float]


def wanted(*shares: float) -> dict[str, float]:
    """Of cells at ε = 1 and ¼, and of shaped releases at ρ = ½ and 1/32."""
    cells = ("cells ε = 1", "cells ε = 1/4", "shaped ρ = 1/2", "shaped ρ = 1/32")
    return dict(zip(cells, shares, strict=False))


INSTANCES = {
    "penbased": Instance(lambda f: keel(f, "penbased"), 50_000, wanted(0.91, 0.81, 0.95, 0.86)),
    "satimage": Instance(lambda f: keel(f, "satimage"), 50_000, wanted(0.94, 0.85, 0.97, 0.91)),
    "MovieLens small, 20 films": Instance(films, 50_000, wanted(0.95, 0.87)),
    "clicks": Instance(clicks, 200_000, wanted(0.101)),
}


def played(folder: Path, name: str, runs: int, rounds: int | None) -> list[Row]:
    make, length, sought = INSTANCES[name]
    try:
        table = make(folder)
    except FileNotFoundError as lacking:
        print(f"{name} is left out: there is no {lacking.filename}", flush=True)
        return []
    length = rounds or length
    given: dict[str, Any] = {"arms": table.arms, "features": table.features}
    shown = f"{name} ({table.arms} × {table.features})"
    entrants: list[tuple[str, Any]] = [("–", dpb.LinTS(**given)), ("–", dpb.LinUCB(**given))]
    entrants += [(f"ε = {e}", dpb.DPLinTS(**given, epsilon=e)) for e in ("1", "1/4")]
    for rho in ("1/2", "1/32"):  # ε²/2
        entrants.append((f"ρ = {rho}", dpb.DPLinTS(**given, rho=rho)))
        entrants.append((f"ρ = {rho}", dpb.DPLinTS(**given, rho=rho, release="shaped")))
        entrants.append((f"ρ = {rho}", dpb.AdaCOFUL(**given, rho=rho)))
    found, base, base_error = list[Row](), 0.0, 0.0
    for budget, policy in entrants:
        shaped = getattr(policy, "release", "") == "shaped"
        shown_name = policy.name + ", shaped" * shaped
        start = time.process_time()
        made = dpb.simulate(policy, table, length, runs=runs, seed=1, workers=1, at=[length])
        means = table.best - made.regret() / length
        mean, error = float(means.mean()), float(means.std(ddof=1) / np.sqrt(runs))
        if not base:
            base, base_error = mean, error
        asked = sought.get(("shaped " if shaped else "cells ") + budget)
        if asked is not None and name == "clicks":
            asked /= base
        share = mean / base
        share_error = float(np.hypot(error, base_error * share)) / base
        row = Row(
            shown,
            shown_name,
            budget,
            length,
            f"{mean:.4f}",
            f"{error:.4f}",
            f"{share:.3f}",
            f"{share_error:.3f}",
            "" if asked is None else f"{asked:.3f}",
            met(share, share_error, asked),
            runs,
            f"{made.releases.mean():.0f}",
            f"{(time.process_time() - start) / runs:.2f}",
        )
        print(*row, flush=True)
        found.append(row)
    return found


def met(share: float, error: float, wanted: float | None) -> str:
    if wanted is None:
        return ""
    if abs(share - wanted) < 2 * error:
        return "open"
    return "yes" if share > wanted else "NO"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--rounds", type=int, help="instead of each table's own")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    given = asked.runs, asked.rounds
    rows = [row for name in INSTANCES for row in played(asked.data, name, *given)]
    write_columns(asked.out, COMMAND, Row._fields, rows, NOTE)


if __name__ == "__main__":
    main()
