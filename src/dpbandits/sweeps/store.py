"""Finished cells on disk: a Parquet file each with its checksum beside it, written whole or not at
all, checked when read.
"""

import hashlib
import json
import os
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl

from dpbandits.core.errors import DamagedCellError
from dpbandits.sweeps.cells import Cell, Facts

FACTS = "dpbandits"
"""Our entry in the Parquet file's metadata: the cell's key and facts as JSON."""


def cell_path(out: Path, cell: Cell) -> Path:
    return out / "cells" / f"{cell.key}.parquet"


def checksum_path(path: Path) -> Path:
    return path.with_suffix(".sha256")


def write_cell(out: Path, cell: Cell, frame: pl.DataFrame, facts: Facts) -> None:
    """Store a finished cell. A crash leaves no half of it: the checksum comes last, and a file
    without it counts as damaged.
    """
    path, buffer = cell_path(out, cell), BytesIO()
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.write_parquet(
        buffer, compression="zstd", metadata={FACTS: json.dumps(facts | {"key": cell.key})}
    )
    replace(path, buffer.getvalue())
    replace(checksum_path(path), checksum_line(buffer.getvalue(), path))


def replace(path: Path, data: bytes) -> None:
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
    if not checksum.exists() or checksum.read_bytes() != checksum_line(data, path):
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
