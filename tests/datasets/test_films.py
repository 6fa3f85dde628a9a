"""MovieLens: small files in its two layouts, whole and broken."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from dpbandits.core.errors import DataError
from dpbandits.datasets import Films, films_from_counts, movielens
from tests.datasets import refuses

# Films 30 and 10 have two viewers each, 20 three, 40 one, 50 none. User 9 comes before user 7 in
# the files.
PAIRS = ((9, 20), (9, 30), (7, 10), (7, 20), (8, 30), (8, 10), (8, 20), (8, 40))
GENRES = {10: "Drama|War", 20: "Action", 30: "", 40: "Drama", 50: "Western"}
TITLES = {
    10: "Ten: Part, Two (1999)",
    20: "Misérables, Les (1995)",
    30: "Thirty (1930)",
    40: "Forty (1940)",
    50: "Fifty (1950)",
}


LISTED = {
    "movies.csv": "movieId,title,genres\n"
    + "".join(f'{k},"{TITLES[k]}",{GENRES[k] or "(no genres listed)"}\n' for k in GENRES),
    "movies.dat": "".join(
        f"{k}::{TITLES[k]}::{GENRES[k] or '(no genres listed)'}\n" for k in GENRES
    ),
}
RATED = {
    "ratings.csv": "userId,movieId,rating,timestamp\n"
    + "".join(f"{u},{f},4.5,964982703\n" for u, f in PAIRS),
    "ratings.dat": "".join(f"{u}::{f}::5::964982703\n" for u, f in PAIRS),
}
LAYOUTS = dict(zip(LISTED, RATED, strict=True))


def folder(where: Path, listed: str = "movies.csv", **texts: str) -> Path:
    """A set in one layout; texts replace the list or the ratings."""
    (where / listed).write_bytes(
        texts.get("films", LISTED[listed]).encode("utf-8" if listed == "movies.csv" else "latin-1")
    )
    (where / LAYOUTS[listed]).write_bytes(texts.get("rated", RATED[LAYOUTS[listed]]).encode())
    return where


def zipped(where: Path, *names: str) -> Path:
    path = where / "set.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__MACOSX/ml/._" + names[0], b"not this")
        archive.mkdir("ml")
        for name in names:
            archive.write(where / name, f"ml/{name}")
    return path


def same(a: Films, b: Films) -> bool:
    assert a.watched is not None
    assert b.watched is not None
    return (a.titles, a.ids, a.people) == (b.titles, b.ids, b.people) and bool(
        np.array_equal(a.watched, b.watched)
    )


@pytest.mark.parametrize("listed", LISTED)
def test_every_layout_gives_the_most_rated_films(listed: str, tmp_path: Path) -> None:
    films = movielens(folder(tmp_path, listed), films=4)
    assert films.ids == (20, 10, 30, 40)  # on a tie the lower number first
    # Latin-1 and UTF-8, a colon and a comma
    assert films.titles == tuple(TITLES[k] for k in films.ids)
    assert (films.people, films.counts.tolist()) == (3, [3, 2, 2, 1])
    assert films.means.tolist() == [1, 2 / 3, 2 / 3, 1 / 3]
    assert films.watched is not None
    assert films.watched.dtype == np.uint8
    assert films.watched.tolist() == [[1, 1, 0, 0], [1, 1, 1, 1], [1, 0, 1, 0]]  # users 7, 8, 9
    of_film = {
        k: {films.genres[j] for j in np.flatnonzero(row)}
        for k, row in zip(films.ids, films.vectors, strict=True)
    }
    # no genre: the zero vector
    assert of_film == {20: {"Action"}, 10: {"Drama", "War"}, 30: set(), 40: {"Drama"}}
    assert films.vectors.shape == (4, len(films.genres))
    # as listed, whether or not among the chosen
    assert films.genres == ("Action", "Drama", "War", "Western")
    assert repr(films) == "Films(films=4, genres=4, people=3, user by user)"


@pytest.mark.parametrize("listed", LISTED)
def test_a_zip_is_read_like_its_folder(listed: str, tmp_path: Path) -> None:
    from_folder = movielens(folder(tmp_path, listed), films=4)
    assert same(movielens(zipped(tmp_path, listed, LAYOUTS[listed]), films=4), from_folder)


def test_ratings_are_read_alike_however_they_are_written(tmp_path: Path) -> None:
    expected = movielens(folder(tmp_path), films=4)
    text = RATED["ratings.csv"]
    header, *rows = text.splitlines()
    swapped = "\n".join("x," + ",".join(np.array(row.split(","))[[1, 0, 3]]) for row in rows)
    written = {
        "Windows line ends": text.replace("\n", "\r\n"),
        "byte order mark": "\ufeff" + text,
        "no last line end": text[:-1],
        "empty lines": text.replace("8,10", "\n\n8,10") + "\n\n",
        "every rating twice": text + "\n".join(rows) + "\n",
        "another order of columns": "note,movieId,userId,timestamp\n" + swapped,
        "another order of lines": "\n".join([header, *rows[::-1]]),
    }
    for case, rated in written.items():
        assert same(movielens(folder(tmp_path, rated=rated), films=4), expected), case


def test_ratings_of_unlisted_films_can_be_left_out(tmp_path: Path) -> None:
    expected = movielens(folder(tmp_path), films=4)
    more = RATED["ratings.csv"] + "99,21,4.5,9\n"
    # nor is user 99 one of the people
    assert same(movielens(folder(tmp_path, rated=more), films=4, drop_unlisted=True), expected)
    with pytest.raises(DataError, match="1 of 1 ratings"):
        movielens(folder(tmp_path, rated="userId,movieId\n1,21\n"), drop_unlisted=True)


RATING = "7,20,4.5,964982703"
BROKEN = {
    "ratings.csv": (
        *((RATING, wrong) for wrong in ("7,twenty,4.5,9", "7,,4.5,9", "7,21,4.5,9")),
        ("userId", "user"),
    ),
    "movies.csv": (("40,", "10,"), ("40,", "ten,"), ("genres\n", "kinds\n")),
    "movies.dat": (("40::", "x::"), ("Forty (1940)::Drama", "")),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused(name: str, tmp_path: Path) -> None:
    path = folder(tmp_path, "movies.dat" if name == "movies.dat" else "movies.csv") / name
    for old, new in BROKEN[name]:
        words = "film|ratings|MovieLens publishes"
        refuses(lambda: movielens(tmp_path, films=1), path, old, new, words)


def test_what_is_no_movielens_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere; there is none"):
        movielens(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"to hold movies\.csv and ratings\.csv, or movies\.dat"):
        movielens(tmp_path)
    path = zipped(folder(tmp_path), "movies.csv", "ratings.csv")
    for films in (0, 5):
        with pytest.raises(ValueError, match=f"films={films} to be from 1 to 4"):
            movielens(path, films=films)
    whole = path.read_bytes()
    for content in (b"", b"text", whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"set\.zip cannot be read"):
            movielens(path)


# Films from counts alone, and the known values of the real MovieLens data. Skipped where that is
# not there


COUNTS = {
    "n_users": 10,
    "genres": ["Action", "Drama"],
    "movies": [
        {"id": 3, "title": "C", "count": 4, "vector": [1, 0]},
        {"id": 2, "title": "B", "count": 4, "vector": [1, 1], "mean": 0.4},
        {"id": 1, "title": "A", "count": 9, "vector": [0, 0]},
    ],
}


def counts_file(where: Path) -> Path:
    path = where / "counts.json"
    path.write_text(json.dumps(COUNTS))
    return path


def test_films_from_counts(tmp_path: Path) -> None:
    films = films_from_counts(counts_file(tmp_path))
    assert (films.ids, films.titles, films.people) == ((1, 2, 3), ("A", "B", "C"), 10)
    assert films.genres == ("Action", "Drama")
    assert films.independent().means.tolist() == [0.9, 0.4, 0.4]
    assert films.vectors.tolist() == [[0, 0], [1, 1], [1, 0]]
    assert repr(films) == "Films(films=3, genres=2, people=10, counts only)"
    only = r"user by user; these films have counts only.*movielens\(\)"
    with pytest.raises(ValueError, match=only):
        films.users()


def test_broken_counts_are_refused(tmp_path: Path) -> None:
    path = counts_file(tmp_path)
    for old, new in (
        ('"n_users": 10', '"n_users": "10"'),
        ('"n_users": 10', '"n_users": 0'),
        ('"movies"', '"films"'),
        ('["Action", "Drama"]', '["Action", "Action"]'),
        ('"title": "B", ', ""),
        ('"count": 9', '"count": 11'),
        ("[1, 1]", "[1]"),
        ("[1, 1]", "[1, 2]"),
        ('"id": 3', '"id": 2'),
        ("[1, 1]", "[1, 1"),
    ):
        refuses(lambda: films_from_counts(path), path, old, new, r"counts\.json")


def best_basis(films: Films) -> tuple[int, int]:
    """Rank and total count of the matroid's best basis, by greedy; floats do for 0/1 matrices."""
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
