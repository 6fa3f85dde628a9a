"""Loaders of clicks: headline tests, logs of decisions and production rates."""

from functools import partial
from pathlib import Path

import pytest

from dpbandits import datasets
from dpbandits.core.errors import DataError
from tests.datasets import refuses, written

HEADLINES = """clickability_test_id,test_week,headline,impressions,clicks,winner
t1,201305,"One, two",100,10,True
t2,201326,Three,200,20,False
t1,201305,Four,50,1,False
t3,201401,Five,10,1,False
t3,201403,Five,10,2,False
t4,201403,Six,10,0,False
"""


def headlines(folder: Path) -> Path:
    return written(folder, HEADLINES, "tests.csv")


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
    path = headlines(tmp_path)
    refuses(lambda: datasets.upworthy(path), path, old, new, rf"tests\.csv{where}")


LOG = ",timestamp,item_id,position,click,propensity_score\n" + "".join(
    f"{i},2019,{item},{1 + i % 3},{int(i == 4)},0.5\n"
    for i, item in enumerate([0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1])
)


LINE = "4,2019,0,2,1,0.5"
WRONG = ("0,2,0.7,0.5", "0,2,7,0.5", "0,2,1,1.5", "0,2,1,0", "0,2,1,nan", "-1,2,1,0.5")


def log_file(folder: Path) -> Path:
    return written(folder, LOG, "log.csv.gz")


def test_obd_is_a_replay_of_the_log(tmp_path: Path) -> None:
    log = datasets.obd(log_file(tmp_path))
    assert (log.arms, len(log.actions), log.expected_acceptance) == (2, 12, 0.5)
    assert log.means.tolist() == [1 / 6, 0]
    first = datasets.obd(log_file(tmp_path), position=1)
    assert first.actions.tolist() == [0, 1, 0, 1]
    assert first.rewards.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        *((LINE, f"4,2019,{wrong}", r"log\.csv\.gz, row 5") for wrong in WRONG),
        (LINE, "4,2019,3,2,1,0.5", "Arm 2 never occurs"),
        (LINE, "4,2019,0,2,1,0.00001", "would accept about "),
        ("item_id", "item", "lacks the columns item_id"),
    ],
)
def test_obd_says_where_it_is_wrong(tmp_path: Path, old: str, new: str, where: str) -> None:
    path = log_file(tmp_path)
    refuses(lambda: datasets.obd(path), path, old, new, where)


def test_obd_says_what_it_cannot_select(tmp_path: Path) -> None:
    chosen: dict[str, dict[str, int]] = {
        r"position= one of \[1, 2, 3\], got 4": {"position": 4},
        r"Arm 1 never occurs.*Take a longer log, or all positions": {"position": 2},
        "row 3: expected item_id below 1, the number of items": {"items": 1},
    }
    for words, options in chosen.items():
        with pytest.raises(DataError, match=words):
            datasets.obd(log_file(tmp_path), **options)


RATES = "campaign,item_id,prior_alpha,prior_beta\nmen,1,1,3\nmen,0,1.5,1.5\nall,0,1,9\n"


def test_obd_rates_are_those_of_the_prior_counts(tmp_path: Path) -> None:
    path = written(tmp_path, RATES, "rates.csv")
    assert datasets.obd_rates(path, "men").means.tolist() == [0.5, 0.25]
    assert datasets.obd_rates(path).means.tolist() == [0.1]
    with pytest.raises(ValueError, match="campaign= one of all, men; got 'women'"):
        datasets.obd_rates(path, "women")
    lacks = "lacks the columns prior_beta; it has campaign, item_id, prior_alpha, beta"
    for campaign, old, new, words in (
        ("men", "men,1,", "men,2,", "campaign 'men' to list items 0 to 1, each once"),
        ("all", "1,9", "0,9", "rates.csv, row 3, column prior_alpha: expected a finite number ab"),
        ("all", "prior_beta", "beta", lacks),
    ):
        refuses(partial(datasets.obd_rates, path, campaign), path, old, new, words)
