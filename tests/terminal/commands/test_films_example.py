"""The example of films, on a small MovieLens folder."""

import json
from pathlib import Path

import numpy as np
import pytest
import typer
from examples.films.__main__ import main
from typer.testing import CliRunner, Result

from tests.places import DATA
from tests.terminal.test_cli import one_line

GENRES = ("Drama", "Comedy", "Action|Drama", "Comedy|Drama", "Western", "(no genres listed)")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """80 users, 12 films, film k with about (k + 1) · 6 viewers. Rank 4."""
    rng = np.random.default_rng(0)
    watched = np.argwhere(rng.random((80, 12)) < np.arange(1, 13) / 13)
    where = tmp_path / "ml-small"
    where.mkdir()
    listed = "".join(f"{k},Film {k} [cut],{GENRES[k % 6]}\n" for k in range(12))
    (where / "movies.csv").write_text(f"movieId,title,genres\n{listed}")
    rated = "".join(f"{u},{k},4.0,9\n" for u, k in watched)
    (where / "ratings.csv").write_text(f"userId,movieId,rating,timestamp\n{rated}")
    return where


def films_command(*arguments: str) -> Result:
    app = typer.Typer()
    app.command()(main)
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "200"}, catch_exceptions=False)


def films(*arguments: str) -> str:
    result = films_command("--films", "12", "--rounds", "3000", *arguments)
    assert result.exit_code == 0
    return result.stdout


def returns(text: str) -> dict[str, float]:
    """The second table: what is recommended, and how many films of it a user has seen."""
    rows = text[text.index("on average") :].splitlines()
    return {line[:34].strip(): float(line.split()[-2]) for line in rows if line.endswith("%")}


def test_films_are_played_as_asked(folder: Path) -> None:
    text = films(str(folder))
    assert "The 12 most rated films of 80 users, sets of 4 with independent genre vectors" in text
    for part in (
        "3,000 rounds; one random user a round",
        "ε = 2 per round (replace-one), central trust, simulated noise",
        "DPJointMAT, 3,000 rounds",
        "Ledger: 2 of 2; a round reads 4 films at 2, together",
        "37.5 times on average",
        "no protection",
    ):
        assert part in text
    assert text != films(str(folder), "--seed", "2")
    shared = films(str(folder), "--epsilon", "1/2", "--policy", "dpklmat")
    assert "Ledger: 1/2 of 1/2; a round reads 4 films at 1/8 each" in shared
    coins = films(str(folder), "--independent")
    assert "an independent coin a film" in coins
    assert "times on average" not in coins


def test_films_are_recommended_for_their_viewers_and_their_genres(folder: Path) -> None:
    text = films(str(folder), "--epsilon", "20")
    # and film 7 or 6, whose viewers are close
    best = {9: "Comedy, Drama", 10: "Western", 8: "Action, Drama"}
    for film, genres in best.items():
        (row,) = [line for line in text.splitlines() if line.startswith(f"Film {film} [cut] *")]
        assert genres in row
    low, *between, high = returns(text).values()
    assert len(between) == 3
    assert all(low < value <= high for value in between)


def test_unplayed_films_have_no_estimate_and_popularity_is_no_tie_break(folder: Path) -> None:
    text = films(str(folder), "--rounds", "1")
    rows = [line.split() for line in text.splitlines() if "[cut]" in line]
    assert [row[-2] for row in rows] == ["–"] * 4
    few = [films(str(folder), "--rounds", "1", "--seed", seed) for seed in "012"]
    assert len({text.split("* in")[1][:900] for text in few}) > 1


def test_wrong_films_are_one_line(folder: Path, tmp_path: Path) -> None:
    assert "there is none" in one_line(films_command("nowhere"))
    assert "films=100 to be from 1 to 12" in one_line(films_command(str(folder)))
    assert "epsilon=" in one_line(films_command(str(folder), "--films", "12", "--epsilon", "much"))
    with (folder / "ratings.csv").open("a") as file:
        file.write("1,999,4.0,9\n")
    assert "drop_unlisted=True" in one_line(films_command(str(folder), "--films", "12"))
    assert "80 users" in films(str(folder), "--drop-unlisted")
    counts, film = tmp_path / "counts.json", {"id": 1, "title": "One", "count": 5, "vector": [1]}
    counts.write_text(json.dumps({"n_users": 9, "genres": ["A"], "movies": [film]}))
    assert "Add --independent" in one_line(films_command(str(counts)))
    assert "The 1 most rated films of 9 users" in films(str(counts), "--independent")


@pytest.mark.skipif(
    not (DATA / "ml-latest-small").is_dir(),
    reason="needs the real data ml-latest-small/ in ../shared/data",
)
def test_the_real_films() -> None:
    result = films_command(str(DATA / "ml-latest-small"), "--drop-unlisted")
    assert result.exit_code == 0
    assert "The 100 most rated films of 610 users, sets of 17 with independent" in result.stdout
    found = returns(result.stdout)
    assert found["the best set"] == 6.48
    assert found["recommended at the end"] > 6.4
