"""Files that are published together: a folder, or a zip."""

import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from dpbandits.core.errors import DataError
from dpbandits.datasets.files import PathLike, as_path, require_plausible


class Archive:
    """The files of a folder, or of a zip (at its top or in one folder of it), by name.

    Raises:
        FileNotFoundError: the path does not exist.
        DataError: the file is not a zip; raised here, or when a file of it is read.
    """

    def __init__(self, path: PathLike) -> None:
        self.path = as_path(path)
        if not self.path.exists():
            raise FileNotFoundError(
                f"Expected a folder or a zip at {self.path}; there is none. Check the path."
            )
        self.zipped = not self.path.is_dir()
        if self.zipped:
            with opened(self.path) as archive:
                require_plausible(self.path, sum(entry.file_size for entry in archive.infolist()))
                self._where = [name for name in archive.namelist() if not name.endswith("/")]
        else:
            self._where = sorted(entry.name for entry in self.path.iterdir() if entry.is_file())

    @property
    def names(self) -> set[str]:
        return {PurePosixPath(where).name for where in self._where}

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """The file's bytes, as they come; nothing is unpacked to disk."""
        if self.zipped:
            with opened(self.path) as archive, archive.open(self._member(name)) as stream:
                yield stream
        else:
            with (self.path / name).open("rb") as stream:
                yield stream

    @contextmanager
    def file(self, name: str) -> Iterator[Path]:
        """The file on disk, for as long as it is needed; if it is in a zip, unpacked to a temporary
        folder.
        """
        if not self.zipped:
            yield self.path / name
            return
        with tempfile.TemporaryDirectory() as folder:
            unpacked = Path(folder) / name
            with self.open(name) as stream, unpacked.open("wb") as copy:
                shutil.copyfileobj(stream, copy)
            yield unpacked

    def _member(self, name: str) -> str:
        found = [where for where in self._where if PurePosixPath(where).name == name]
        if len(found) != 1:
            raise DataError(
                f"Expected one {name} in {self.path.name}; found {len(found)}. Unpack it and "
                "give the folder you mean."
            )
        return found[0]


@contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """An open zip; errors say in words what is wrong with it."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError):
        raise DataError(
            f"{path.name} is no zip that can be read: damaged, cut short, or of another format. "
            "Fetch it again."
        ) from None
    except (NotImplementedError, RuntimeError):
        # how zipfile says: an unknown compression, a password
        raise DataError(
            f"{path.name} is encrypted, or compressed in an unusual way. Unpack it and give the "
            "folder."
        ) from None
