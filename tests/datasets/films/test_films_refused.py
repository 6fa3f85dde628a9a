"""MovieLens files that are broken: the message says which file, where, and what was expected."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from dpbandits.core.errors import DataError
from dpbandits.datasets.films import movies
from dpbandits.datasets.films.movies import movielens
from tests.datasets.films.test_films import LISTED, RATED, folder, zipped

BROKEN_RATINGS = [
    ("7,20,4.5,964982703", "7,20,4.5", "ratings.csv, line 5: expected 4 fields, found 3"),
    ("7,20,4.5,964982703", "7,20,4.5,9,9", "line 5: expected 4 fields, found 5"),
    ("7,20,4.5,964982703", "-7,20,4.5,9", "line 5: expected the user to be a whole number"),
    ("7,20,4.5,964982703", "7,2e1,4.5,9", "line 5: expected the film to be a whole number"),
    ("7,20,4.5,964982703", "7,,4.5,9", "line 5: expected the film to be a whole number"),
    ("7,20,4.5,964982703", "7,9999999999,4.5,9", "line 5: expected the film to be a whole number"),
    (
        "7,20,4.5,964982703",
        "7,21,4.5,9",
        (
            r"rating 4: expected a film that movies.csv lists; 1 of 8 ratings have "
            r"none.*drop_unlisted=True"
        ),
    ),
    (
        "userId",
        "user",
        "ratings.csv lacks the column userId; it has user, movieId, rating, timestamp",
    ),
    ("movieId", "userId", "lacks the column movieId"),
]


@pytest.mark.parametrize(("old", "new", "words"), BROKEN_RATINGS)
def test_broken_ratings_are_refused_in_words(
    old: str, new: str, words: str, tmp_path: Path
) -> None:
    assert RATED["ratings.csv"].count(old) == 1
    with pytest.raises(DataError, match=words):
        movielens(folder(tmp_path, rated=RATED["ratings.csv"].replace(old, new)), films=1)


def test_the_line_is_right_in_a_later_chunk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(movies, "CHUNK", 50)
    with pytest.raises(DataError, match=r"ratings\.dat, line 8: expected 4 fields, found 1"):
        movielens(
            folder(
                tmp_path,
                "movies.dat",
                rated=RATED["ratings.dat"].replace("8::40::5::964982703", "8:40"),
            )
        )


BROKEN_LISTS = [
    ("movies.csv", "40,", "10,", "movies.csv lists a film twice"),
    ("movies.csv", "40,", "ten,", "movies.csv, line 5, column movieId: expected a whole number"),
    ("movies.csv", "genres\n", "kinds\n", "movies.csv lacks the column genres"),
    ("movies.dat", "40::", "x::", "movies.dat, line 4: expected the film's number first"),
    ("movies.dat", "40::", "10::", "movies.dat lists a film twice"),
    ("movies.dat", "Forty (1940)::", "", "movies.dat, line 4: expected number::title::genres"),
    ("u.item", "50|", "x|", "u.item, line 5: expected the film's number first"),
    ("u.item", "|0|1\n", "|0|2\n", "u.item, line 5: expected 24 fields .* 0 or 1"),
    ("u.item", "|0|1\n", "|1\n", "u.item, line 5: expected 24 fields"),
]


@pytest.mark.parametrize(("listed", "old", "new", "words"), BROKEN_LISTS)
def test_broken_lists_are_refused_in_words(
    listed: str, old: str, new: str, words: str, tmp_path: Path
) -> None:
    assert LISTED[listed].count(old) == 1
    with pytest.raises(DataError, match=words):
        movielens(folder(tmp_path, listed, films=LISTED[listed].replace(old, new)))


def test_empty_files_are_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"ratings\.dat holds no ratings"):
        movielens(folder(tmp_path, "movies.dat", rated="\n"))
    with pytest.raises(DataError, match=r"movies\.dat lists no films"):
        movielens(folder(tmp_path, "movies.dat", films=""))
    with pytest.raises(DataError, match=r"movies\.dat names no genre"):
        movielens(folder(tmp_path, "movies.dat", films="10::Ten::(no genres listed)\n"))


def test_what_is_no_movielens_set_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(
        FileNotFoundError, match=r"Expected a folder or a zip at .*nowhere; there is none"
    ):
        movielens(tmp_path / "nowhere")
    with pytest.raises(
        DataError,
        match=r"to hold movies\.csv and ratings\.csv, or movies\.dat and .* neither is complete",
    ):
        movielens(tmp_path)
    path = zipped(folder(tmp_path), "movies.csv", "ratings.csv")
    with pytest.raises(DataError, match="more than one set"):
        movielens(folder(tmp_path, "u.item"))
    alone = tmp_path / "alone"
    alone.mkdir()
    for films in (0, 5):
        with pytest.raises(
            ValueError,
            match=f"films={films} to be from 1 to 4, the number of films that were rated",
        ):
            movielens(folder(alone), films=films)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("other/movies.csv", LISTED["movies.csv"])
    with pytest.raises(DataError, match=r"Expected one movies\.csv in set\.zip; found 2"):
        movielens(path)


def test_a_broken_zip_is_refused_in_words(tmp_path: Path) -> None:
    path = zipped(folder(tmp_path), "movies.csv", "ratings.csv")
    whole = path.read_bytes()
    for content in (b"", b"text", whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"set\.zip is no zip that can be read"):
            movielens(path)
    at = whole.index(b"ml/ratings.csv") + 14 + 20  # within the compressed ratings
    path.write_bytes(whole[:at] + bytes(b ^ 255 for b in whole[at : at + 8]) + whole[at + 8 :])
    with pytest.raises(DataError, match=r"set\.zip is no zip that can be read: damaged"):
        movielens(path)
    encrypted = bytearray(whole)
    # the flag "encrypted" of every entry
    for sign, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = -1
        while (start := whole.find(sign, start + 1)) >= 0:
            encrypted[start + offset] |= 1
    path.write_bytes(bytes(encrypted))
    with pytest.raises(DataError, match=r"encrypted.*Unpack it and give the folder"):
        movielens(path)
