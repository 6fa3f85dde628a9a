"""The papers' folders: formulas against the paper's numbers, claims against the sweeps they speak
of.
"""

import inspect
import re
import tomllib
from itertools import product
from pathlib import Path

import pytest

from papers.pages import algorithms_of
from papers.paper import (
    LABELS,
    MEASURES,
    OpenQuestions,
    Paper,
    load_module,
    load_questions,
    papers_in,
)
from tests.places import REPOSITORY

FOLDER = REPOSITORY / "papers"
PAPERS = papers_in(FOLDER)
EVERY = pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS)


def test_settings_of_dpse2019_are_the_papers() -> None:
    """The formulas make the paper's numbers, and the sweep has what they make."""
    folder = PAPERS["dpse2019"].folder
    means = load_module(folder / "means.py", "dpse2019_means")
    assert means.c1(5) == [0.75, 0.7, 0.7, 0.7, 0.7]
    assert means.c2(5) == [0.75, 0.625, 0.5, 0.375, 0.25]
    assert means.c3(5) == [0.75, 0.53125, 0.375, 0.28125, 0.25]
    assert means.c4(5) == [0.75, 0.71875, 0.625, 0.46875, 0.25]
    for arms, law in product((2, 3, 10, 20), (means.c2, means.c3, means.c4)):
        found = law(arms)
        assert len(found) == arms
        assert (found[0], found[-1]) == pytest.approx((0.75, 0.25))
        assert found == sorted(found, reverse=True)
    sweep = tomllib.loads((folder / "sweep.toml").read_text(encoding="utf-8"))
    assert {each["name"]: each["means"] for each in sweep["environments"]} == means.environments()


@pytest.mark.parametrize(
    ("key", "rounds", "runs", "epsilons", "cells"),
    [
        ("dpse2019", 50_000_000, 30, {0.1, 0.25, 0.5, 1}, 4 * 4 * 4 * 5),
        ("lazy2021", 2 * 2**21, 15, {0.1, 0.25, 0.5, 1, 8, 64, 128}, 3 * 7 * 6 + 3),
        ("lazyts2024", 10**6, 20, {0.25, 0.5, 1}, 2 * 3 * 7),
    ],
)
def test_full_sizes_are_the_papers(
    key: str, rounds: int, runs: int, epsilons: set[float], cells: int
) -> None:
    config = next(config for config in PAPERS[key].sweeps(full=True) if config.name == key)
    made = config.cells()
    assert len(made) == cells
    assert {c.rounds for c in made} == {rounds}
    assert min(c.runs for c in made) == runs
    assert {c.epsilon for c in made} - {None} == epsilons
    assert {c.policy.arms for c in made} == ({3, 5, 10, 20} if key == "dpse2019" else {5})


@EVERY
def test_claims_name_measures_arguments_and_labels_that_exist(paper: Paper) -> None:
    cells = [cell for config in paper.sweeps(full=True) for cell in config.cells()]
    known = {
        **{key: {c.setting for c in cells} for key in ("environments", "against")},
        "epsilons": {c.epsilon for c in cells},
        **{key: {c.label for c in cells} for key in LABELS},
    }
    claims = paper.claims()
    assert claims
    for claim in claims:
        if claim.later or claim.unasked:
            assert len(claim.later or claim.unasked) > 20
            continue
        inspect.signature(MEASURES[claim.measure]).bind(None, **claim.arguments)
        if claim.needs and not set(claim.arguments["environments"]) <= known["environments"]:
            continue  # the reader's own data is not here
        for name in known.keys() & claim.arguments.keys():
            value = claim.arguments[name]
            named = set(value if isinstance(value, list) else [value])
            assert named <= known[name], (claim.id, name)


@EVERY
def test_a_claim_that_names_no_environment_is_about_one_sweep(paper: Paper) -> None:
    """Otherwise a sweep that is added later would be asked of, too."""
    played = [
        (cell.label, config.name) for config in paper.sweeps(full=True) for cell in config.cells()
    ]
    for claim in paper.claims():
        if "environments" in claim.arguments:
            continue
        assert len({sweep for label, sweep in played if label in claim.labels}) <= 1, claim.id


@EVERY
def test_one_name_is_one_environment_in_all_sweeps_of_a_paper(paper: Paper) -> None:
    means: dict[str, list[float]] = {}
    for config in paper.sweeps(full=True):
        for name, environment in config.built.items():
            found = environment.means.tolist()
            assert means.setdefault(name, found) == found, name


def test_full_information_is_played_on_the_papers_instances() -> None:
    sweeps = {config.name: config for config in PAPERS["lazyts2024"].sweeps(full=True)}
    config = sweeps["lazyts2024-full-information"]
    for name, environment in config.built.items():
        kind, arms = name.split(", K = ")
        wanted = [0.001 * (2**i if kind == "doubling" else 1) for i in range(int(arms) - 1)]
        assert sorted(environment.gaps) == pytest.approx([0, *wanted])
    # ε ≤ Δ, as the conclusion has it
    assert all(cell.epsilon is not None and cell.epsilon <= 0.001 for cell in config.cells())
    for config in PAPERS["lazy2021"].sweeps(full=True):
        for name, environment in config.built.items() if config.name != "lazy2021" else ():
            assert name == f"K = {environment.arms}, Δ = {environment.gaps.max():g}"
            best = environment.means.max()
            assert {*environment.means} == {0.5, best} or min(environment.means) == pytest.approx(
                0.5
            )


@EVERY
def test_quick_runs_compare_equal_rounds_and_keep_cheap_runs(paper: Paper) -> None:
    for quick, full in zip(paper.sweeps(full=False), paper.sweeps(full=True), strict=True):
        assert len({cell.rounds for cell in quick.cells()}) == 1
        for small, own in zip(quick.cells(), full.cells(), strict=True):
            one, other = ((each.label, each.setting, each.epsilon) for each in (small, own))
            assert one == other
            assert small.rounds <= own.rounds
            assert small.runs <= own.runs
            assert small.runs == own.runs or own.policy.about.every_round


# What the authors left open


@EVERY
def test_every_paper_has_questions_and_algorithms(paper: Paper) -> None:
    found = paper.questions()
    assert found.questions
    assert algorithms_of(found.authors)
    for question in found.questions:
        for page in re.findall(r"(?:proofs|docs|decisions)/[\w/]+\.md", question.answer):
            assert (REPOSITORY / page).is_file(), page
        for number in re.findall(r"decision (\d+)", question.answer):
            assert list((REPOSITORY / "decisions").glob(f"{int(number):04}-*.md")), number


def test_mistakes_in_the_file_are_named(tmp_path: Path) -> None:
    path = tmp_path / "questions.toml"
    assert load_questions(path) == OpenQuestions()
    one = (
        '[[questions]]\nid = "a"\nquestion = "Why?"\nwhere = "Section 1"\nstate = "open"\n'
        'answer = "Nobody knows that here."\n'
    )
    path.write_text(one + one, encoding="utf-8")
    with pytest.raises(ValueError, match="share an id"):
        load_questions(path)
    path.write_text(one.replace('"open"', '"perhaps"'), encoding="utf-8")
    with pytest.raises(ValueError, match=r"questions\.toml"):
        load_questions(path)
