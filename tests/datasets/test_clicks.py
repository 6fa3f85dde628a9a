"""Loaders of clicks: headline tests, logs of decisions and production rates."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from dpbandits import datasets
from dpbandits.core.errors import DataError

HEADLINES = """clickability_test_id,test_week,headline,impressions,clicks,winner
t1,201305,"One, two",100,10,True
t2,201326,Three,200,20,False
t1,201305,Four,50,1,False
t3,201401,Five,10,1,False
t3,201403,Five,10,2,False
t4,201403,Six,10,0,False
"""


def headlines(folder: Path, text: str = HEADLINES) -> Path:
    path = folder / "tests.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_upworthy_gathers_arms_by_test_and_leaves_out_the_imbalanced_weeks(tmp_path: Path) -> None:
    path = headlines(tmp_path)
    found = datasets.upworthy(path)
    assert list(found) == ["t1", "t4"]  # t3 began in the weeks left out
    assert found["t1"].headlines == ("One, two", "Four")
    assert (found["t1"].impressions, found["t1"].clicks) == ((100, 50), (10, 1))
    assert found["t1"].environment.means.tolist() == [0.1, 0.02]
    every = datasets.upworthy(path, keep_imbalanced=True)
    assert list(every) == ["t1", "t2", "t3", "t4"]
    assert every["t3"].weeks == (201401, 201403)


def test_upworthy_finds_one_test(tmp_path: Path) -> None:
    path = headlines(tmp_path)
    assert datasets.upworthy(path, "t1") == datasets.upworthy(path)["t1"]
    assert datasets.upworthy(path, "t2", keep_imbalanced=True).clicks == (20,)
    with pytest.raises(KeyError, match=r"not randomised evenly.*keep_imbalanced=True"):
        datasets.upworthy(path, "t2")
    with pytest.raises(KeyError, match="id of one of the 4 tests, for example 't1'; got 'nine'"):
        datasets.upworthy(path, "nine")


def test_upworthy_reads_parquet_and_gzip(tmp_path: Path) -> None:
    path = headlines(tmp_path)
    pl.read_csv(path).write_parquet(tmp_path / "tests.parquet")
    (tmp_path / "tests.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert (
        datasets.upworthy(tmp_path / "tests.parquet")
        == datasets.upworthy(path)
        == datasets.upworthy(tmp_path / "tests.csv.gz")
    )


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("clicks,winner", "klicks,winner", " lacks the columns clicks; "),
        ("100,10,", "9,10,", ", row 1: "),
        *(
            ("200,20,", f"{new},", ", row 2")
            for new in ("0,0", "200,-20", "200,2.5", "1_000,20", f"{'9' * 30},20")
        ),
        ("t2,", ",", ", row 2, column clickability_test_id: "),
    ],
)
def test_upworthy_says_where_it_is_wrong(tmp_path: Path, old: str, new: str, where: str) -> None:
    assert HEADLINES.count(old) == 1
    with pytest.raises(DataError, match=rf"tests\.csv{where}"):
        datasets.upworthy(headlines(tmp_path, HEADLINES.replace(old, new)))


LOG = ",timestamp,item_id,position,click,propensity_score\n" + "".join(
    f"{i},2019,{item},{1 + i % 3},{int(i == 4)},0.5\n"
    for i, item in enumerate([0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1])
)


def log_file(folder: Path, text: str = LOG) -> Path:
    path = folder / "log.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    return path


def test_obd_is_a_replay_of_the_log(tmp_path: Path) -> None:
    log = datasets.obd(log_file(tmp_path))
    assert (log.arms, len(log.actions), log.expected_acceptance) == (2, 12, 0.5)
    assert log.means.tolist() == [1 / 6, 0]
    first = datasets.obd(log_file(tmp_path), position=1)
    assert first.actions.tolist() == [0, 1, 0, 1]
    assert first.rewards.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("line", "where"),
    [
        *(
            (line, r"log\.csv\.gz, row 5")
            for line in (
                "4,2019,0,2,0.7,0.5",
                "4,2019,0,2,7,0.5",
                "4,2019,0,2,1,1.5",
                "4,2019,0,2,1,0",
                "4,2019,0,2,1,nan",
                "4,2019,-1,2,1,0.5",
            )
        ),
        ("4,2019,3,2,1,0.5", "Arm 2 never occurs"),
        ("4,2019,0,2,1,0.00001", "would accept about "),
    ],
)
def test_obd_says_where_it_is_wrong(tmp_path: Path, line: str, where: str) -> None:
    with pytest.raises(DataError, match=where):
        datasets.obd(log_file(tmp_path, LOG.replace("4,2019,0,2,1,0.5", line)))


def test_obd_says_what_it_cannot_select(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="lacks the columns item_id"):
        datasets.obd(log_file(tmp_path, LOG.replace("item_id", "item")))
    with pytest.raises(DataError, match=r"position= one of \[1, 2, 3\], got 4"):
        datasets.obd(log_file(tmp_path), position=4)
    with pytest.raises(DataError, match=r"Arm 1 never occurs.*Take a longer log, or all positions"):
        datasets.obd(log_file(tmp_path), position=2)
    with pytest.raises(DataError, match="row 3: expected item_id below 1, the number of items"):
        datasets.obd(log_file(tmp_path), items=1)


RATES = "campaign,item_id,prior_alpha,prior_beta\nmen,1,1,3\nmen,0,1.5,1.5\nall,0,1,9\n"


def test_obd_rates_are_those_of_the_prior_counts(tmp_path: Path) -> None:
    path = tmp_path / "rates.csv"
    path.write_text(RATES)
    assert datasets.obd_rates(path, "men").means.tolist() == [0.5, 0.25]
    assert datasets.obd_rates(path).means.tolist() == [0.1]
    with pytest.raises(ValueError, match="campaign= one of all, men; got 'women'"):
        datasets.obd_rates(path, "women")
    path.write_text(RATES.replace("men,1,", "men,2,"))
    with pytest.raises(DataError, match="campaign 'men' to list items 0 to 1, each once"):
        datasets.obd_rates(path, "men")
    path.write_text(RATES.replace("1,9", "0,9"))
    with pytest.raises(
        DataError, match=r"rates.csv, row 3, column prior_alpha: expected a finite number above 0"
    ):
        datasets.obd_rates(path)
    path.write_text(RATES.replace("prior_beta", "beta"))
    with pytest.raises(
        DataError, match="lacks the columns prior_beta; it has campaign, item_id, prior_alpha, beta"
    ):
        datasets.obd_rates(path)
