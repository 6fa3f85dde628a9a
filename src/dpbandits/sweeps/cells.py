"""A cell: one policy in one environment at one budget. It is the unit of work, of storage and of
resuming.
"""

import ast
import hashlib
import json
import math
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from importlib.metadata import version
from inspect import getfile
from io import BytesIO
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl

from dpbandits.core.errors import DamagedCellError
from dpbandits.core.privacy import printed_epsilon, spent
from dpbandits.environments import Environment
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy, problem_of
from dpbandits.session.saving import policy_to_data
from dpbandits.simulation.runs import Runs
from dpbandits.simulation.simulate import default_checkpoints, play_plain, simulate
from dpbandits.theory import lower_bound, regret_order, upper_bound
from dpbandits.version import __version__


@dataclass(frozen=True, eq=False)
class Cell:
    """Everything that determines one result, and the names it goes by in tables and figures.

    label: of the policy. setting: the environment's name. epsilon: None without privacy, or under
        zCDP (then `rho` is set).
    at: the rounds at which regret is kept; the last is `rounds`.
    """

    label: str
    setting: str
    policy: Policy
    environment: Environment
    epsilon: float | None
    rho: float | None
    rounds: int
    runs: int
    seed: int
    at: tuple[int, ...]

    @property
    def shuffled(self) -> bool:
        """Whether every run numbers the arms anew: always, but for super arms, whose problem names
        its arms.
        """
        return problem_of(self.policy) is None

    @property
    def hindsight(self) -> bool:
        """Whether regret is that against the best fixed arm in hindsight; else it is pseudo-regret
        (see `Runs.kind`).
        """
        problem = problem_of(self.policy)
        return self.environment.fixed and (problem is None or problem.linear)

    @cached_property
    def key(self) -> str:
        """A hash of all that determines a run's numbers, code and libraries included; names and
        `runs` do not.
        """
        parts = {
            "policy": policy_to_data(self.policy),
            "environment": fingerprint(self.environment),
            "rounds": self.rounds,
            "seed": self.seed,
            "at": self.at,
            "shuffled": self.shuffled,
            "code": [code_digest(), own_digest(type(self.policy))],
            "libraries": [version(name) for name in ("numpy", "scipy", "numba")],
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:20]

    def __str__(self) -> str:
        budget = "" if self.epsilon is None else f", ε = {printed_epsilon(self.epsilon)}"
        return f"{self.label} in {self.setting}{budget}"


def checkpoints(rounds: int, at: list[int] | None) -> tuple[int, ...]:
    """The rounds to keep: those asked for up to `rounds`, and the last; about fifty where none were
    asked for.
    """
    if at is None:
        return tuple(default_checkpoints(rounds).tolist())
    return tuple(sorted({t for t in at if t <= rounds} | {rounds}))


Facts = dict[str, Any]
"""One row of what is known of a cell beside its runs."""


BESIDE = frozenset(
    {"__main__.py", "auditing", "checks", "forecasting", "pages", "plots.py", "reports.py"}
    | {"service", "terminal"}
)
"""Parts of the package that no run of a cell imports: an edit there leaves its numbers."""


@cache
def code_digest(package: Path = Path(__file__).parents[1]) -> str:
    """A hash of the package's Python files that a run may use, with their names: an edited formula
    must not find old results.
    """
    files = {
        path.relative_to(package).as_posix(): path
        for path in package.rglob("*.py")
        if path.relative_to(package).parts[0] not in BESIDE
    }
    hashes = [
        (name, hashlib.sha256(files[name].read_bytes()).hexdigest()) for name in sorted(files)
    ]
    return hashlib.sha256(json.dumps(hashes).encode()).hexdigest()


@cache
def own_digest(cls: type[Policy]) -> str:
    """A hash of the files that a policy of the user's own is written in; empty for ours."""
    if POLICIES.get(cls.__name__) is cls:
        return ""
    try:
        hashes = [hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(own_files(cls))]
    except (TypeError, OSError):  # made where there is no file
        return "no file"
    return hashlib.sha256(json.dumps(hashes).encode()).hexdigest()


def own_files(cls: type[Policy]) -> list[Path]:
    """The file of a class, and those that it imports, anywhere in it and directly or not, from
    where its module is found; without what is installed there.
    """
    found = [Path(getfile(cls))]
    root = found[0].parents[cls.__module__.count(".") + (found[0].name == "__init__.py")]
    for file in found:
        for node in import_statements(file):
            start, before = root, ""
            if isinstance(node, ast.ImportFrom):
                start = file.parents[node.level - 1] if node.level else root
                before = f"{node.module}." if node.module else ""
            for each in node.names:
                names = (before + each.name).split(".")
                for where in (start.joinpath(*names[:end]) for end in range(len(names) + 1)):
                    for other in (where.parent / f"{where.name}.py", where / "__init__.py"):
                        if other.is_file() and "site-packages" not in other.parts:
                            found += [] if other in found else [other]
    return found


def import_statements(file: Path) -> list[ast.Import | ast.ImportFrom]:
    """All in a file; none in one that is compiled, or written for another Python."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return []
    return [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]


def fingerprint(environment: Environment) -> dict[str, Any]:
    """The environment's class and its public data; arrays by their hash."""
    public = {name: value for name, value in vars(environment).items() if not name.startswith("_")}
    return {"class": type(environment).__name__} | {
        name: hashed(value) for name, value in sorted(public.items())
    }


def hashed(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [
            str(value.dtype),
            list(value.shape),
            hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest(),
        ]
    return value if isinstance(value, (bool, int, float, str)) else repr(value)


LEDGER_ROUNDS = 2_000
"""Rounds played to read a ledger where every round costs time; batch policies play the whole
horizon.
"""


def measure(cell: Cell, first: int = 0) -> tuple[pl.DataFrame, Facts]:
    """Play the cell's runs from number `first` on. The frame has a row for each run and kept round;
    see `curve_of`.

    An error has a note that names the cell.
    """
    try:
        start = perf_counter()
        runs = simulate(
            cell.policy,
            cell.environment,
            cell.rounds,
            runs=cell.runs - first,
            seed=cell.seed,
            workers=1,
            at=cell.at,
            shuffle=cell.shuffled,
            first=first,
        )
        if (played := int(runs.lengths.min())) < cell.rounds:
            raise ValueError(
                f"Expected a log that lasts for {cell.rounds:,} rounds; in one run it ended after "
                f"{played:,}. Take fewer rounds."
            )
        frame = curve_of(runs, first)
        return frame, facts_of(cell) | {"seconds": perf_counter() - start}
    except Exception as error:
        budget = "" if cell.epsilon is None else f" at ε = {printed_epsilon(cell.epsilon)}"
        error.add_note(f"{cell.label}{budget} on {cell.setting}.")
        raise


def curve_of(runs: Runs, first: int = 0) -> pl.DataFrame:
    """Long table: run, round, regret up to that round, and the run's releases and events at its
    end.
    """
    regret = runs.regret(at=runs.checkpoints)
    count, marks = regret.shape
    return pl.DataFrame(
        {
            "run": np.repeat(np.arange(first, first + count, dtype=np.int32), marks),
            "round": np.tile(runs.checkpoints, count),
            "regret": regret.ravel(),
            "releases": np.repeat(runs.releases, marks),
            "events": np.repeat(runs.events, marks),
        }
    )


def facts_of(cell: Cell) -> Facts:
    """What is known of a cell beside its runs: theory, guarantee, and what a real ledger says was
    spent.
    """
    guarantee = cell.policy.guarantee
    total = None if guarantee is None else ledger_total(cell)
    return {
        "class": type(cell.policy).__name__,
        "own_baseline": cell.policy.about.baseline,
        "paper": cell.policy.about.paper,
        **{
            bound.__name__: bound_of(cell, bound)
            for bound in (lower_bound, upper_bound, regret_order)
        },
        "guarantee": None if guarantee is None else str(replace(guarantee, noise="simulated")),
        "claimed": None if guarantee is None else str(guarantee.cost),
        "spent": None if total is None else str(total),
        "version": __version__,
    }


def bound_of(cell: Cell, bound: Callable[[Policy, Environment, int], float]) -> float | None:
    """None where no bound is proved; bounds are for independent rounds."""
    value = (
        math.nan if cell.environment.fixed else bound(cell.policy, cell.environment, cell.rounds)
    )
    return value if math.isfinite(value) else None


def ledger_total(cell: Cell) -> Fraction | None:
    """The exact total of run 0's ledger, played plainly through the real vault.

    Where plain play costs time every round, the first `LEDGER_ROUNDS` rounds stand for all (every
    reward costs the same), or as many more as the first release takes.
    """
    about = cell.policy.about
    slow = about.every_round or about.randomised or cell.environment.logged
    rounds = min(cell.rounds, LEDGER_ROUNDS) if slow else cell.rounds
    while True:
        path = play_plain(cell.policy, cell.environment, rounds, cell.seed, np.array([rounds]), 0)
        if path.releases or rounds == cell.rounds:
            return spent(path.ledger)
        rounds = min(cell.rounds, 4 * rounds)


FACTS = "dpbandits"
"""Our entry in the Parquet file's metadata: the cell's key and facts as JSON."""


def cell_path(out: Path, cell: Cell) -> Path:
    return out / "cells" / f"{cell.key}.parquet"


def checksum_path(path: Path) -> Path:
    return path.with_suffix(".sha256")


def write_cell(out: Path, cell: Cell, frame: pl.DataFrame, facts: Facts) -> None:
    """Store a finished cell.

    The checksum is added before the file is replaced, so that after a crash in between the earlier
    file, if there is one, is still valid. Its checksum stays, as a comment to `sha256sum -c`.
    """
    path, buffer = cell_path(out, cell), BytesIO()
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {FACTS: json.dumps(facts | {"key": cell.key})}
    frame.write_parquet(buffer, compression="zstd", metadata=metadata)
    data, checksum = buffer.getvalue(), checksum_path(path)
    earlier = checksum.read_bytes() if path.exists() and checksum.exists() else b""
    kept = b"".join(b"#" + line for line in earlier.splitlines(keepends=True))
    write_whole(checksum, kept + checksum_line(data, path))
    write_whole(path, data)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it appears under its name only when it is complete."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(data)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def checksum_line(data: bytes, path: Path) -> bytes:
    """As `sha256sum` writes it, so that `sha256sum -c` can check it."""
    return f"{hashlib.sha256(data).hexdigest()}  {path.name}\n".encode()


def read_cell(out: Path, cell: Cell) -> tuple[pl.DataFrame, Facts] | None:
    """A stored cell's runs, as many as it asks for; None if not all of them were played yet.

    Raises:
        DamagedCellError: there is a file, but it is not as it was written.
    """
    frame, facts = stored_runs(out, cell)
    return (
        (frame.filter(pl.col("run") < cell.runs), facts) if count_of(frame) >= cell.runs else None
    )


def count_of(frame: pl.DataFrame) -> int:
    """How many runs a cell's frame holds; they are numbered from 0."""
    # polars does not say that the largest of a column of whole numbers is one
    return int(frame["run"].max()) + 1 if len(frame) else 0  # type: ignore[arg-type]


def stored_runs(out: Path, cell: Cell) -> tuple[pl.DataFrame, Facts]:
    """Every run that is stored of a cell, perhaps of an earlier sweep that asked for more or fewer;
    an empty frame if none is.

    Raises:
        DamagedCellError: there is a file, but it is not as it was written.
    """
    path = cell_path(out, cell)
    if not path.exists():
        return pl.DataFrame({"run": []}, schema={"run": pl.Int32}), {}
    data, checksum = path.read_bytes(), checksum_path(path)
    # Checked before Polars sees it: its reader may abort on a broken file.
    if not checksum.exists() or checksum_line(data, path) not in checksum.read_bytes():
        raise DamagedCellError(
            f"{path} is damaged: it does not fit its checksum in {checksum.name}"
        )
    facts: dict[str, Any] = json.loads(pl.read_parquet_metadata(BytesIO(data)).get(FACTS, "{}"))
    if facts.pop("key", None) != cell.key:
        raise DamagedCellError(f"{path} is damaged: it holds another cell")
    return pl.read_parquet(BytesIO(data)), facts


def require_writable(out: Path) -> None:
    """Make the folder for results, or say at once that nothing can be written there.

    Raises:
        OSError: it is a file, or in a place where this user may not write.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        reason = "it is a file" if isinstance(error, FileExistsError) else error.strerror
        raise OSError(
            f"Expected a folder for results that can be written, got {out} ({reason}). Choose "
            "another one with --out."
        ) from None
