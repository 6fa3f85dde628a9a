"""Where downloaded data is kept, and how it gets there: it is checked first, and takes its name
only when it is complete.

The checksums are the md5 sums that GroupLens publishes: they find damage and mix-ups, but do not
protect against a forger.
"""

import hashlib
import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from dpbandits.core.errors import DataError
from dpbandits.datasets.archives import Archive
from dpbandits.datasets.files import PathLike
from dpbandits.datasets.films.movies import layout_of, movielens

LICENCE = (
    "Research use; acknowledge GroupLens (Harper and Konstan 2015, doi 10.1145/2827872); "
    "no commercial use and no redistribution but under the terms of the README in the zip."
)
BLOCK = 1 << 20  # bytes fetched at a time


class Source(NamedTuple):
    """A data set its owner offers for download. md5: of the file at url, in hexadecimal; None: read
    from url + ".md5".
    """

    url: str
    file: str
    licence: str
    md5: str | None


def grouplens(file: str, md5: str | None = None) -> Source:
    return Source(f"https://files.grouplens.org/datasets/movielens/{file}", file, LICENCE, md5)


SOURCES: dict[str, Source] = {
    "movielens-100k": grouplens("ml-100k.zip", "0e33842e24a9c977be4e0107933c0723"),
    "movielens-1m": grouplens("ml-1m.zip", "c4d9eecfca2ab87c1945afe126590906"),
    "movielens-10m": grouplens("ml-10m.zip", "ce571fd55effeba0271552578f2648bd"),
    "movielens-20m": grouplens("ml-20m.zip", "cd245b17a1ae2cc31bb14903e1204af3"),
    "movielens-25m": grouplens("ml-25m.zip", "6b51fb2759a8657d3bfcbfc42b592ada"),
    "movielens-32m": grouplens("ml-32m.zip"),
    # changes now and then, and its checksum with it
    "movielens-latest-small": grouplens("ml-latest-small.zip"),
    "movielens-latest": grouplens("ml-latest.zip"),
}


def data_folder() -> Path:
    """The folder for data: $DPBANDITS_DATA, else $XDG_DATA_HOME/dpbandits, else
    ~/.local/share/dpbandits. It need not exist yet.
    """
    if chosen := os.environ.get("DPBANDITS_DATA"):
        return Path(chosen).expanduser()
    shared = Path(os.environ.get("XDG_DATA_HOME", ""))
    return (shared if shared.is_absolute() else Path.home() / ".local" / "share") / "dpbandits"


def find(name: str) -> Path:
    """The zip of a data set that was added or downloaded before.

    Raises:
        FileNotFoundError: it was not; the message says how to.
        ValueError: no such data set.
    """
    kept = data_folder() / source(name).file
    if not kept.is_file():
        raise FileNotFoundError(
            f"{name} is not in {data_folder()}. Run `dpbandits data download {name}`, "
            f"or `dpbandits data add {name} PATH` with the zip or folder you have."
        )
    return kept


def add(name: str, path: PathLike) -> Path:
    """Keep a copy of data already on this machine: the zip as downloaded, or its unpacked folder
    (of which the two files needed).

    It is loaded first, and the checksum of a zip compared where the owner's is fixed.

    Raises:
        DataError: it is not that data set.
        FileNotFoundError: nothing is there.
        ValueError: no such data set.
    """
    wanted, bundle = source(name), Archive(path)
    if bundle.zipped and wanted.md5 not in (None, checksum(bundle.path)):
        raise DataError(
            f"Expected {bundle.path.name} to be {wanted.file} as its owner published it (md5 "
            f"{wanted.md5}); the checksum differs: "
            "it is damaged, packed anew, or another set. Download it again, or add its unpacked "
            "folder."
        )
    movielens(bundle.path, films=1)
    with unfinished(data_folder() / wanted.file) as copy:
        if bundle.zipped:
            shutil.copyfile(bundle.path, copy)
        else:
            pack(bundle, copy)
    return data_folder() / wanted.file


def pack(bundle: Archive, copy: Path) -> None:
    """The two files of a folder as a zip, so that what is kept is always one file."""
    layout = layout_of(bundle)
    with zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in (layout.films, layout.ratings):
            archive.write(bundle.path / file, file)


def download(name: str, again: bool = False) -> Path:
    """Fetch a data set from its owner and keep it; what is kept already is fetched only if
    again=True.

    Read `SOURCES[name].licence` before you use it.

    Raises:
        ConnectionError: it could not be fetched.
        DataError: what came has another checksum than its owner published; nothing is kept of it.
        ValueError: no such data set.
    """
    wanted = source(name)
    kept = data_folder() / wanted.file
    if kept.is_file() and not again:
        return kept
    expected = wanted.md5 or published(wanted)
    with unfinished(kept) as copy:
        with copy.open("wb") as stream:
            for block in blocks(wanted):
                stream.write(block)
        if checksum(copy) != expected:
            raise DataError(
                f"{wanted.url} came with another checksum than its owner published (md5 "
                f"{expected}). Nothing was kept; try again."
            )
    return kept


def source(name: str) -> Source:
    if name not in SOURCES:
        raise ValueError(f"Expected one of the data sets {', '.join(SOURCES)}; got {name!r}.")
    return SOURCES[name]


def published(wanted: Source) -> str:
    """The checksum in the file next to the data; written as `MD5 (file) = sum` or `sum  file`."""
    beside = wanted._replace(url=wanted.url + ".md5")
    text = b"".join(blocks(beside)).decode("ascii", errors="replace")
    found = re.findall(r"\b[0-9a-f]{32}\b", text.lower())
    if len(found) != 1:
        raise DataError(
            f"Expected one md5 checksum in {beside.url}; found {len(found)}. Fetch {wanted.url} "
            "yourself, then add it."
        )
    return str(found[0])


def blocks(wanted: Source) -> Iterator[bytes]:
    """The content at an address, piece by piece."""
    from http.client import HTTPException  # both slow to import, rarely needed
    from urllib.request import urlopen

    try:
        with urlopen(wanted.url, timeout=60) as answer:
            while block := answer.read(BLOCK):
                yield block
    except (OSError, HTTPException) as error:
        raise ConnectionError(
            f"Could not fetch {wanted.url}: {error}. Check the connection, or fetch it with a "
            "browser and run `dpbandits data add`."
        ) from None


def checksum(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


@contextmanager
def unfinished(target: Path) -> Iterator[Path]:
    """A file beside the target, to write to. It takes the target's name if all goes well, and is
    deleted if not.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    os.close(handle)
    try:
        yield Path(name)
        os.replace(name, target)
    finally:
        Path(name).unlink(missing_ok=True)
