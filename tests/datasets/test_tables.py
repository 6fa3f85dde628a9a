"""Broken files: the message says which file, where, what was expected, and never what stood
there.
"""

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import dpbandits as dpb
from dpbandits.core.errors import DataError
from dpbandits.datasets import table
from tests.datasets import written

SECRET = "37.25"  # stands for somebody's datum in the files below


def refused(path: Path, words: str, **options: object) -> None:
    with pytest.raises(DataError, match=words) as caught:
        table(path, **options)  # type: ignore[arg-type]
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None  # no chained error shows it either
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


BROKEN: list[tuple[str | bytes, str]] = [
    ("", "it is empty"),
    ("a,b\n", "has a header and no rows"),
    ("0.5,1\n0,1\n", "to name the arms"),
    (f"-{SECRET},,1e-05\n0,1,1\n", "to name the arms"),
    (f"a,b\n0,1\n0,{SECRET}\n", ", row 2, column b: "),
    (f"a,b\n0,x{SECRET}\n", ", row 1, column b: "),
    ("a,b\n0,1\n,1\n", ", row 2, column a: "),
    ("a,b\nnan,1\n", ", row 1, column a: "),
    ("a,b\n0,1\n1\n", ", row 2, column b: "),
    (f"a,b\n0,1,{SECRET}\n", "more fields than the header"),
    ("a,a\n0,1\n", "a column twice"),
    (b"a,b\n0,\xff\xfe\n", "not UTF-8"),
]


@pytest.mark.parametrize(("text", "where"), BROKEN)
def test_a_broken_csv_is_refused(text: str | bytes, where: str, tmp_path: Path) -> None:
    refused(written(tmp_path, text, "rewards.csv"), f"rewards.csv.*{where}")


def test_a_first_row_is_not_shown_for_names(tmp_path: Path) -> None:
    """Nor where numbers stand between other separators, or in quotes."""
    path = written(tmp_path, f"blue,{SECRET}\ngreen,1\n", "log.csv")
    refused(path, "lacks the columns reward; it has blue", arms=["reward"])
    for row in (f"{SECRET};1", f"'{SECRET}','1'", f"anna\t{SECRET}", f"({SECRET},1)"):
        path = written(tmp_path, f"{row}\n{row}\n", "log.csv")
        refused(path, "row 1, column 1: expected a number")
        refused(path, "lacks the columns reward; it has ", arms=["reward"])


def test_a_gzip_file_is_checked(tmp_path: Path) -> None:
    whole = gzip.compress(
        b"a,b\n" + b"".join(b"%.6f,1\n" % x for x in np.random.default_rng(0).random(5_000)),
        mtime=0,
    )
    assert table(written(tmp_path, whole, "whole.csv.gz")).rewards.shape == (5_000, 2)
    refused(written(tmp_path, whole[: len(whole) // 2], "half.csv.gz"), "half.csv.gz is no table")


def test_parquet_is_checked_like_csv(tmp_path: Path) -> None:
    path = tmp_path / "rewards.parquet"
    pl.DataFrame({"a": [0.0, 0.5], "b": [1.0, 37.25]}).write_parquet(path)
    refused(path, r"rewards.parquet, row 2, column b: expected a number in \[0, 1\]")
    refused(path, "lacks the columns c; it has a, b", arms=["c"])
    pl.DataFrame({"a": [0.0, None]}).write_parquet(path)
    refused(path, "row 2, column a")
    pl.DataFrame({"a": []}).write_parquet(path)
    refused(path, "has a header and no rows")
    refused(
        written(tmp_path, "a,b\n0,1\n", "text.parquet"), "text.parquet is no table that can be read"
    )


def test_numpy_files_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "rewards.npy"
    for array, words in (
        (np.array([["0.5"]]), "Expected one array of numbers"),
        (np.array([[0.5j]]), "Expected one array of numbers"),
        (np.array([0.5]), r"rewards.npy: Expected rewards of shape \(rounds, arms\)"),
        (np.array([[0.5, np.nan]]), "row 0, arm 1 is not"),
        (np.array([[37.25]]), "row 0, arm 0 is not"),
        (np.zeros((0, 2)), "at least one of each"),
    ):
        np.save(path, array)
        refused(path, words)
    np.save(path, np.array([[{}]]), allow_pickle=True)
    refused(path, "no NumPy file of numbers that can be read")
    np.save(path, np.full((100, 2), 0.5))
    refused(written(tmp_path, path.read_bytes()[:300], "cut.npy"), "no NumPy file")
    refused(written(tmp_path, b"", "empty.npy"), "no NumPy file")
    refused(written(tmp_path, b"not a zip", "text.npz"), "no NumPy file")
    np.savez(tmp_path / "two.npz", a=np.eye(2), b=np.eye(2))
    refused(tmp_path / "two.npz", "Expected one array of numbers in two.npz")


def test_every_format_gives_the_same_table(tmp_path: Path) -> None:
    rewards = np.array([[0.0, 0.25], [1.0, 0.5], [0.125, 0.75]])
    frame = pl.DataFrame(rewards, schema=["a", "b"], orient="row")
    frame.write_csv(tmp_path / "r.csv")
    frame.write_parquet(tmp_path / "r.parquet")
    np.save(tmp_path / "r.npy", rewards)
    np.savez(tmp_path / "r.npz", rewards=rewards)
    # with a byte order mark
    (tmp_path / "r.csv.gz").write_bytes(
        gzip.compress(b"\xef\xbb\xbf" + (tmp_path / "r.csv").read_bytes())
    )
    for name in ("r.csv", "r.csv.gz", "r.parquet", "r.npy", "r.npz"):
        np.testing.assert_array_equal(table(str(tmp_path / name)).rewards, rewards, strict=True)
    turned = table(tmp_path / "r.csv", arms=["b", "a"])
    np.testing.assert_array_equal(turned.rewards, rewards[:, ::-1])
    policy = dpb.DPKLUCB(arms=["a", "b"], epsilon=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="in the order of the arms"):
        dpb.simulate(policy, turned, 3)
    with pytest.raises(ValueError, match="NumPy matrix has no column names"):
        table(tmp_path / "r.npy", arms=["a"])


def test_shuffling_is_seeded_and_keeps_rows_whole(tmp_path: Path) -> None:
    rewards = np.arange(40).reshape(20, 2) / 40
    np.save(tmp_path / "r.npy", rewards)
    once, again, other = (table(tmp_path / "r.npy", seed=seed).rewards for seed in (1, 1, 2))
    np.testing.assert_array_equal(once, again)
    assert not np.array_equal(once, other)
    np.testing.assert_array_equal(once[once[:, 0].argsort()], rewards)
    assert table(tmp_path / "r.npy", resample=True).resample
