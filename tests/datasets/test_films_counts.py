"""Films from counts alone, and the known values of the real MovieLens data. Skipped where that is
not there.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dpbandits.core.errors import DataError
from dpbandits.datasets import Films, films_from_counts, movielens

COUNTS = {
    "n_users": 10,
    "genres": ["Action", "Drama"],
    "movies": [
        {"id": 3, "title": "C", "count": 4, "vector": [1, 0]},
        {"id": 2, "title": "B", "count": 4, "vector": [1, 1], "mean": 0.4},
        {"id": 1, "title": "A", "count": 9, "vector": [0, 0]},
    ],
}


def counts_file(where: Path, old: str = "", new: str = "") -> Path:
    path, text = where / "counts.json", json.dumps(COUNTS)
    assert text.count(old) == 1 or not old
    path.write_text(text.replace(old, new) if old else text)
    return path


def test_films_from_counts(tmp_path: Path) -> None:
    films = films_from_counts(counts_file(tmp_path))
    assert (films.ids, films.titles, films.genres, films.people) == (
        (1, 2, 3),
        ("A", "B", "C"),
        ("Action", "Drama"),
        10,
    )
    assert films.independent().means.tolist() == [0.9, 0.4, 0.4]
    assert films.vectors.tolist() == [[0, 0], [1, 1], [1, 0]]
    assert repr(films) == "Films(films=3, genres=2, people=10, counts only)"
    with pytest.raises(
        ValueError, match=r"user by user; these films have counts only.*movielens\(\)"
    ):
        films.users()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"n_users": 10', '"n_users": "10"', r"counts\.json: Expected `int`.*n_users"),
        ('"n_users": 10', '"n_users": 0', "Expected `int` >= 1"),
        ('"movies"', '"films"', "missing required field `movies`"),
        ('["Action", "Drama"]', '["Action", "Action"]', "every genre once"),
        ('"title": "B", ', "", r"missing required field `title` - at `\$.movies\[1\]`"),
        ('"count": 9', '"count": 11', "no count above n_users"),
        ("[1, 1]", "[1]", "a vector of 2 numbers for each movie"),
        ("[1, 1]", "[1, 2]", "Expected `int` <= 1"),
        ('"id": 3', '"id": 2', "every id"),
        ("[1, 1]", "[1, 1", r"counts\.json: "),
    ],
)
def test_broken_counts_are_refused_in_words(old: str, new: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=words):
        films_from_counts(counts_file(tmp_path, old, new))


def best_basis(films: Films) -> tuple[int, int]:
    """Rank and total count of the best basis of the linear matroid, by greedy. (Ranks of small 0/1
    matrices: floats do.)
    """
    basis: list[int] = []
    for film in range(len(films.ids)):
        if np.linalg.matrix_rank(films.vectors[[*basis, film]]) > len(basis):
            basis.append(film)
    return len(basis), int(films.counts[basis].sum())


@pytest.mark.parametrize("real", [""], indirect=True)
def test_movielens_1m_from_its_counts(real: Path) -> None:
    path = real / "ml1m_top100.json"
    if not path.is_file():
        pytest.skip("needs the real data ml1m_top100.json in ../shared/data beside the repository")
    films = films_from_counts(path)
    assert (len(films.ids), len(films.genres), films.people) == (100, 18, 6_040)
    assert films.titles[0] == "American Beauty (1999)"
    # its own note says 1,334 for the last; no film listed has so few
    assert films.counts[[0, -1]].tolist() == [3_428, 1_340]
    assert len(np.unique(films.vectors, axis=0)) == 57
    assert films.vectors[:, films.genres.index("Documentary")].sum() == 0
    assert best_basis(films) == (17, 41_684)
    assert 41_684 / films.people == pytest.approx(6.9013, abs=5e-5)
    # the top 17 without the matroid
    assert np.sort(films.means)[-17:].sum() == pytest.approx(7.479, abs=5e-4)


@pytest.mark.parametrize("real", ["ml-latest-small"], indirect=True)
def test_movielens_latest_small(real: Path) -> None:
    # The copy at hand ends with a rating that GroupLens never published, of film 999999 by user
    # 999: it makes 100,837 of 100,836.
    with pytest.raises(DataError, match="1 of 100837 ratings in ml-latest-small are of films"):
        movielens(real)
    films = movielens(real, drop_unlisted=True)
    assert (len(films.ids), len(films.genres), films.people) == (100, 19, 610)
    assert films.titles[0] == "Forrest Gump (1994)"
    assert films.counts[0] == 329
    assert films.watched is not None
    np.testing.assert_array_equal(films.watched.sum(axis=0), films.counts)
    one_more = movielens(real, films=101, drop_unlisted=True)
    # a tie, by number
    assert (one_more.ids[-2:], one_more.counts[-2:].tolist()) == ((185, 5_418), [112, 112])
    rank, total = best_basis(films)
    assert rank == 17
    assert total / 610 == pytest.approx(6.480, abs=5e-4)
