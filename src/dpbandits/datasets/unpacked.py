"""How much a packed file may hold. A file that unpacks to hundreds of times its size is damaged or
a trap, and would fill the memory.
"""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

from dpbandits.core.errors import DataError

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
