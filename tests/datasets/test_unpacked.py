"""A small file that unpacks to hundreds of times its size is refused before it fills the memory."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from dpbandits import datasets
from dpbandits.core.errors import DataError
from dpbandits.datasets import files
from dpbandits.datasets.archives import Archive

ZEROS = b"\0" * 10**6
TOO_MUCH = (
    "unpacks to more than 200 times that: it is damaged, or made to fill the memory. Fetch it again"
)


def npy_header(*shape: int, kind: str = "|u1") -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": kind, "fortran_order": False, "shape": shape}
    )
    return stream.getvalue()


def zipped(path: Path, name: str, head: bytes, millions: int) -> Path:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open(name, "w") as stream,
    ):
        stream.write(head)
        for _ in range(millions):
            stream.write(ZEROS)
    return path


def test_a_zip(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=TOO_MUCH):
        Archive(zipped(tmp_path / "a.zip", "ratings.csv", b"", 100))


def test_a_numpy_archive(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=TOO_MUCH):
        datasets.table(zipped(tmp_path / "a.npz", "a.npy", npy_header(10**7, 10), 100))


@pytest.mark.parametrize("rows", [10**12, 10**30])
def test_a_numpy_header_that_promises_too_much(tmp_path: Path, rows: int) -> None:
    (tmp_path / "a.npy").write_bytes(npy_header(rows, 2, kind="<f8") + b"\0" * 64)
    with pytest.raises(DataError, match="damaged, cut short"):
        datasets.table(tmp_path / "a.npy")


def test_gzip_of_one_endless_line(tmp_path: Path) -> None:
    for name, load in (("a.csv.gz", datasets.table), ("a.txt.gz", datasets.social)):
        with gzip.open(tmp_path / name, "wb") as stream:
            stream.write(b"x,y\n")
            for _ in range(100):
                stream.write(b"1" * 10**6)
        with pytest.raises(DataError, match=TOO_MUCH):
            load(tmp_path / name)


def test_parquet(tmp_path: Path) -> None:
    columns = [pl.repeat(0, 10**8, dtype=pl.Int8).alias("x")]
    pl.select(columns).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataError, match=TOO_MUCH):
        datasets.table(tmp_path / "a.parquet")


def test_small_files_and_well_packed_ones_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with gzip.open(tmp_path / "zeros.csv.gz", "wt") as text:
        text.write("x,y\n" + "0,1\n" * 5000)
    assert datasets.table(tmp_path / "zeros.csv.gz").arms == 2
    monkeypatch.setattr(files, "FREE", 1000)
    noise = np.random.default_rng(1).random((500, 2))
    with gzip.open(tmp_path / "noise.csv.gz", "wt") as text:
        text.write("x,y\n" + "".join(f"{a},{b}\n" for a, b in noise))
    assert np.array_equal(datasets.table(tmp_path / "noise.csv.gz").rewards, noise)
    (tmp_path / "more.csv.gz").write_bytes(gzip.compress(b"x,y\n" + b"0,1\n" * 10**5))
    with pytest.raises(DataError, match=TOO_MUCH):
        datasets.table(tmp_path / "more.csv.gz")


def test_a_path_that_is_none(tmp_path: Path) -> None:
    for load in (datasets.table, datasets.movielens, datasets.roads, datasets.msweb, datasets.obd):
        with pytest.raises(
            TypeError, match=r"Expected a path such as 'data/rewards.csv', got None"
        ):
            load(None)
    (tmp_path / "a.csv").write_text("x,y\n0,1\n")
    for arms in ([], "x", ["x", "x"]):
        with pytest.raises(ValueError, match="a list of different column names"):
            datasets.table(tmp_path / "a.csv", arms=arms)
    with pytest.raises(ValueError, match="seed='a' to be a whole number"):
        datasets.table(tmp_path / "a.csv", seed="a")
