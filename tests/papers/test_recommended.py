"""Table 3: whose films, of which genres, on an instance where the last basis is sure."""

import json
from pathlib import Path

import pytest

from dpbandits.plots import Panel
from dpbandits.sweeps import Results, load_config, run_sweep
from papers.paper import recommended_films
from tests.sweeps.texts import sweep_text

LAW = 'law = "films"\npath = "films.json"'
SWEEP = sweep_text('DPKLMAT\nlabel = "ours"', rounds=400, runs=2, law=LAW, head="epsilons = [50]")
FILMS = {
    "n_users": 100,
    "genres": ["Comedy", "War"],
    "movies": [
        {"id": 1, "title": "A | B", "count": 100, "vector": [1, 0]},
        {"id": 2, "title": "C", "count": 0, "vector": [1, 0]},
        {"id": 3, "title": "D", "count": 90, "vector": [1, 1]},
    ],
}
PANEL = Panel("two arms", 50.0)


@pytest.fixture
def results(tmp_path: Path) -> Results:
    (tmp_path / "films.json").write_text(json.dumps(FILMS), encoding="utf-8")
    (tmp_path / "small.toml").write_text(SWEEP, encoding="utf-8")
    return run_sweep(load_config(tmp_path / "small.toml"), tmp_path / "out", workers=1)


def test_a_policy_that_learned_recommends_the_best_set(results: Results) -> None:
    films, genres = recommended_films(results, PANEL, ["ours"])
    assert films.columns == ["film", "share", "genres", "best set", "ours"]
    assert films.rows == [
        ["A | B", "1.000", "Comedy", "yes", "yes"],
        ["D", "0.900", "Comedy, War", "yes", "yes"],
        ["films outside it", "", "", "0", "0"],
    ]
    assert genres.rows == [["Comedy", "2", "2"], ["War", "1", "1"]]
    assert "round 400" in films.caption
    assert "GroupLens" in films.caption
    with pytest.raises(LookupError, match="Labels are ours"):
        list(recommended_films(results, PANEL, ["theirs"]))


def test_films_outside_the_best_set_are_counted(results: Results) -> None:
    """After two rounds the basis may hold the film that nobody rated."""
    for cell in results.cells:
        object.__setattr__(cell, "rounds", 2)
    films, _ = recommended_films(results, PANEL, ["ours"])
    shared = sum(row[-1] == "yes" for row in films.rows[:-1])
    assert shared + int(films.rows[-1][-1]) == 2
