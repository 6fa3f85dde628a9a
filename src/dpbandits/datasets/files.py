"""Rows of CSV and Parquet files as text; errors say in words what is wrong with a file."""

from __future__ import annotations

import csv
import gzip
import os
import zlib
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import IO

from dpbandits.core.errors import DataError
from dpbandits.core.inputs import shown

PathLike = str | os.PathLike[str]
TextRow = tuple[int, list[str]]
"""Where the row is (a line of a CSV file, a row of a Parquet table, counted from 1), and its
fields.
"""


def as_path(path: object) -> Path:
    """A path, from text or a path.

    Raises:
        TypeError: something else.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"Expected a path such as 'data/rewards.csv', got {shown(path)}.")
    return Path(path)


def existing(path: PathLike, what: str = "file") -> Path:
    """The path of an existing file (or folder)."""
    found = as_path(path)
    if not found.exists():
        raise FileNotFoundError(f"Expected a {what} at {found}; there is none. Check the path.")
    if found.is_dir() != (what == "folder"):
        raise DataError(
            f"Expected {found} to be a {what}; it is a {'folder' if found.is_dir() else 'file'}."
        )
    return found


def is_parquet(path: Path) -> bool:
    return path.suffix == ".parquet"


def rows(path: Path) -> Iterator[TextRow]:
    """The file's rows, its header first. Parquet and CSV by the name; gzip is undone where the name
    ends in .gz.
    """
    return parquet_rows(path) if is_parquet(path) else csv_rows(path)


def csv_rows(path: Path) -> Iterator[TextRow]:
    line = 0
    try:
        with opened_text(path) as text:
            reader = csv.reader(text, strict=True)
            for fields in reader:
                line = reader.line_num
                if fields:
                    yield line, fields
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        if isinstance(error, gzip.BadGzipFile) and line == 0:
            what = (
                f"Expected {path.name} to be compressed by gzip, as its name ends in .gz; it is "
                "not. Rename or compress it."
            )
        else:
            what = (
                f"{path.name} is cut short or damaged: its gzip stream breaks off after line "
                f"{line}. Fetch it again."
            )
        raise DataError(what) from None
    except UnicodeDecodeError:
        raise DataError(
            f"Expected {path.name} to be UTF-8 text; near line {line + 1} it is not. Save it as "
            "UTF-8."
        ) from None
    except csv.Error:
        raise DataError(
            f"{path.name} is not valid CSV near line {line + 1}: a quote is not closed, or "
            "misplaced."
        ) from None


def opened_text(path: Path) -> IO[str]:
    """The file's text; gzip is undone where the name ends in .gz."""
    from dpbandits.datasets.unpacked import MeasuredGzip  # it raises this module's errors

    stream = MeasuredGzip(path) if path.suffix == ".gz" else path.open("rb")
    return TextIOWrapper(stream, encoding="utf-8-sig", newline="")


def parquet_rows(path: Path) -> Iterator[TextRow]:
    try:
        import polars  # an extra, and slow to import: only for this format
    except ImportError:
        raise ImportError(
            "Parquet files need polars: pip install 'dpbandits[experiments]', or save the table "
            "as CSV."
        ) from None
    from dpbandits.datasets.unpacked import require_plausible

    try:
        rows = polars.scan_parquet(path)
        cells = int(rows.select(polars.len()).collect().item()) * len(rows.collect_schema())
        require_plausible(path, cells)  # a byte each, at the least
        frame = polars.read_parquet(path)
    except (polars.exceptions.PolarsError, OSError):
        raise DataError(
            f"{path.name} is no Parquet file that can be read: it is damaged, cut short, or of "
            "another format."
        ) from None
    yield 0, frame.columns
    for number, fields in enumerate(frame.iter_rows(), start=1):
        yield number, ["" if field is None else str(field) for field in fields]
