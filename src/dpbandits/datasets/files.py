"""Rows of CSV and Parquet files and lines of text files; errors say in words what is wrong with a
file. One that unpacks to hundreds of times its size is damaged or a trap, and would fill the
memory: it is refused.
"""

import csv
import gzip
import os
import zipfile
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


FREE = 1 << 26
"""Bytes that any file may unpack to: 64 MiB fit into every memory."""

MOST_TIMES = 200
"""For larger contents, how many times its own size a file may unpack to; packed tables of ratings
are five to ten times smaller.
"""


def require_plausible(file: Path, unpacked: int) -> None:
    """Refuse a file whose content is out of all proportion to its size.

    Raises:
        DataError: it holds too much.
    """
    packed = file.stat().st_size
    if unpacked > FREE and unpacked > MOST_TIMES * packed:
        raise DataError(
            f"{file.name}, of {packed:,} bytes, unpacks to more than {MOST_TIMES} times that: it "
            "is damaged, or made to fill the memory. "
            "Fetch it again; if you trust it, unpack it yourself and give what was in it."
        )


def zip_plausible(file: Path) -> None:
    """The same for a zip, by its list of contents. Reading stops at the sizes listed there,
    whatever follows.
    """
    with zipfile.ZipFile(file) as archive:
        require_plausible(file, sum(entry.file_size for entry in archive.infolist()))


class MeasuredGzip(gzip.GzipFile):
    """A gzip stream that stops when it has given more than a file of this size plausibly holds."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, "rb")
        self._file, self._given = file, 0

    def read1(self, size: int = -1) -> bytes:
        return self._measured(super().read1(size))

    def readline(self, size: int | None = -1) -> bytes:
        return self._measured(super().readline(FREE + 1 if size is None or size < 0 else size))

    def _measured(self, data: bytes) -> bytes:
        self._given += len(data)
        if self._given > FREE:
            require_plausible(self._file, self._given)
        return data


Line = tuple[int, str]
"""The number of the line, counted from 1, and its text without surrounding blanks."""


def numbered_lines(path: PathLike) -> Iterator[Line]:
    """The lines that are not blank. Text is read as UTF-8; if it is not UTF-8, as Latin-1, like
    files of the 1990s.

    Raises:
        DataError: a damaged gzip stream (a file is unpacked if its name ends in .gz).
    """
    file, number = existing(path), 0
    try:
        with MeasuredGzip(file) if file.suffix == ".gz" else file.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                text = decoded(line).strip()
                if text:
                    yield number, text
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise DataError(
            f"{file.name} is cut short, damaged, or no gzip file: it breaks off after line "
            f"{number}. Fetch it again."
        ) from None


def is_whole(field: str) -> bool:
    """Whether it is a whole number of at least 0, of up to 18 digits."""
    return field.isascii() and field.isdigit() and len(field) <= 18


def decoded(line: bytes) -> str:
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError:
        return line.decode("latin-1")
