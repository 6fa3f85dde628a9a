"""Numbered lines of a text file, also of one compressed by gzip."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator

from dpbandits.core.errors import DataError
from dpbandits.datasets.files import PathLike, existing
from dpbandits.datasets.unpacked import MeasuredGzip

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
