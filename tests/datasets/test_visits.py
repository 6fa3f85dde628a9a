"""Visits to a site, on small files written here in their layout."""

from pathlib import Path

import numpy as np
import pytest

from dpbandits import datasets
from dpbandits.core.errors import DataError
from tests.datasets import refuses, written

VISITED, LISTED = "msweb_visits.csv.gz", "vroots.csv"
VISITS = "user,vroot\n7,1001\n7,1000\n8,1001\n9,1003\n9,1003\n9,1001\n"
AREAS = "vroot,title\n1003,Games\n1000,News\n1001,Help\n1002,Games\n"


def site(folder: Path) -> Path:
    for name, text in ((VISITED, VISITS), (LISTED, AREAS)):
        written(folder, text, name)
    return folder


def test_msweb_is_a_row_a_person_and_a_column_an_area(tmp_path: Path) -> None:
    table = datasets.msweb(site(tmp_path), seed=None)
    assert datasets.msweb_areas(tmp_path) == (
        (1001, "Help", 3),
        (1000, "News", 1),
        (1003, "Games", 1),
        (1002, "Games", 0),
    )
    assert table.rewards.tolist() == [[1, 1, 0, 0], [1, 0, 0, 0], [1, 0, 1, 0]]


def test_msweb_takes_the_areas_asked_for(tmp_path: Path) -> None:
    site(tmp_path)
    assert datasets.msweb(tmp_path, 2, seed=None).rewards.tolist() == [[1, 1], [1, 0], [1, 0]]
    assert datasets.msweb(tmp_path, ["News", 1003], seed=None).rewards.tolist() == [
        [1, 0],
        [0, 0],
        [0, 1],
    ]
    shuffled = datasets.msweb(tmp_path, seed=3)
    assert sorted(shuffled.rewards.tolist()) == sorted(
        datasets.msweb(tmp_path, seed=None).rewards.tolist()
    )
    np.testing.assert_array_equal(shuffled.rewards, datasets.msweb(tmp_path, seed=3).rewards)
    assert datasets.msweb(tmp_path, 1, resample=True).resample


@pytest.mark.parametrize("areas", [["Sport"], [5], ["Games"], 0, 5, [], "Help"])
def test_areas_that_there_are_not(tmp_path: Path, areas: object) -> None:
    with pytest.raises(ValueError, match="area"):
        datasets.msweb(site(tmp_path), areas)  # type: ignore[arg-type]


def test_msweb_says_what_is_wrong_with_its_files(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"Expected a folder at .*nowhere; there is none"):
        datasets.msweb(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"Expected a file at .*vroots.csv; there is none"):
        datasets.msweb(tmp_path)
    with pytest.raises(DataError, match="to be a folder; it is a file"):
        datasets.msweb(site(tmp_path) / LISTED)
    for name, old, new, words in (
        (VISITED, "9,1001", "9,1009", "row 6: expected a vroot that vroots.csv lists"),
        (VISITED, "user", "person", "lacks the columns user; it has person, vroot"),
        (VISITED, "7,1001", "seven,1001", "row 1, column user: expected a whole number"),
        (LISTED, "1000,News\n", "1000,News\n" * 2, "lists an area twice"),
    ):
        refuses(lambda: datasets.msweb(tmp_path), tmp_path / name, old, new, f"{name}.*{words}")
