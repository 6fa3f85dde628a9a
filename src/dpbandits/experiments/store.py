"""Finished cells on disk: one Parquet file each, written whole or not at all, checked when it is read."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import polars as pl

from dpbandits.experiments.cells import Cell
from dpbandits.experiments.measure import Facts

FACTS = "dpbandits"
"""Name of our entry in the Parquet file's metadata: the cell's facts as JSON, and a digest of everything."""


class DamagedCell(ValueError):
    """A stored cell that cannot be trusted; the message names the file."""


def cell_path(out: Path, cell: Cell) -> Path:
    return out / "cells" / f"{cell.key}.parquet"


def write_cell(out: Path, cell: Cell, frame: pl.DataFrame, facts: Facts) -> None:
    """Store a finished cell. A crash leaves the old state: the file appears under its name only when it is complete."""
    path = cell_path(out, cell)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    text = json.dumps(facts | {"key": cell.key, "digest": digest(frame, facts)})
    try:
        frame.write_parquet(draft, compression="zstd", metadata={FACTS: text})
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def read_cell(out: Path, cell: Cell) -> tuple[pl.DataFrame, Facts] | None:
    """A stored cell, or None if it was not finished yet.

    Raises:
        DamagedCell: there is a file, but it is no Parquet file, or not as it was written.
    """
    path = cell_path(out, cell)
    if not path.exists():
        return None
    try:
        # memory_map: a file that is replaced later must not change under a table that was read before.
        frame = pl.read_parquet(path, memory_map=False)
        facts: dict[str, Any] = json.loads(pl.read_parquet_metadata(path)[FACTS])
        key, written = facts.pop("key"), facts.pop("digest")
    except (pl.exceptions.PolarsError, KeyError, ValueError, OSError, pl.exceptions.PanicException) as error:
        raise DamagedCell(f"{path} is damaged ({type(error).__name__})") from None
    if key != cell.key or written != digest(frame, facts):
        raise DamagedCell(f"{path} is damaged (its content is not what was written)")
    return frame, facts


def digest(frame: pl.DataFrame, facts: Facts) -> str:
    """A hash of every value, so that one flipped bit is noticed."""
    total = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    for column in frame.iter_columns():
        total.update(column.name.encode())
        total.update(column.to_numpy().tobytes())
    return total.hexdigest()
