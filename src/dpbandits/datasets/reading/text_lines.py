"""Numbered lines of a text file, also of one compressed by gzip."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator

from dpbandits.core.errors import DataError
from dpbandits.datasets.files import PathLike, existing
from dpbandits.datasets.unpacked import MeasuredGzip

Line = tuple[int, str]
"""Where the line is, counted from 1, and its text without the blanks around it."""


def numbered_lines(path: PathLike) -> Iterator[Line]:
    """The lines that hold anything. Text is UTF-8 or, where it cannot be, Latin-1, as files of the
    1990s are.

    Raises:
        DataError: a damaged gzip stream (undone where the name ends in .gz).
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
