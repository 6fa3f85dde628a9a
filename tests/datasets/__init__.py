"""Small files in the layouts of the data sets, whole and broken."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from dpbandits.core.errors import DataError


def written(folder: Path, text: str | bytes, name: str) -> Path:
    """A file of these bytes, or of a text, compressed where its name says so."""
    path, data = folder / name, text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") and text is not data else data)
    return path


def refuses(read: Callable[[], object], path: Path, old: str, new: str, words: str) -> None:
    """With another text in this one's place, a file is refused in such words."""
    before, is_gzip = path.read_bytes(), path.suffix == ".gz"
    whole = gzip.decompress(before) if is_gzip else before
    assert whole.count(old.encode()) == 1
    edited = whole.replace(old.encode(), new.encode())
    path.write_bytes(gzip.compress(edited) if is_gzip else edited)
    with pytest.raises(DataError, match=words):
        read()
    path.write_bytes(before)
