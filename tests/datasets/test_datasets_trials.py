"""The packaged clinical trials."""

import csv
from pathlib import Path

import pytest

from dpbandits.datasets import TRIALS, clinical

COLLECTED = {
    "smoking": "hasselblad1998_smoking_cessation",
    "depression": "linde2015_depression_response",
    "stroke": "dogliotti2014_no_stroke",
    "copd": "dong2013_survival",
}


def test_every_trial_is_a_bandit_with_its_source() -> None:
    assert tuple(COLLECTED) == TRIALS
    for name, arms in zip(TRIALS, (4, 9, 8, 6), strict=True):
        trial = clinical(name)
        assert trial.name == name
        assert trial.title
        counts = trial.events, trial.patients
        assert {len(trial.arms), len({*trial.arms}), *map(len, counts)} == {arms}
        rates = [events / patients for events, patients in zip(*counts, strict=True)]
        assert trial.environment.means.tolist() == rates
        assert "Simple sums over" in trial.source


def test_known_rates() -> None:
    smoking = clinical("smoking").environment.means
    assert smoking.round(4).tolist() == [0.1856, 0.1651, 0.0987, 0.0837]
    assert clinical("depression").environment.means.max().round(4) == 0.6479
    # the two best are hard to tell apart
    assert clinical("stroke").environment.gaps[1].round(5) == 0.00054
    assert sum(clinical("copd").patients) == 52_462  # as many patients as the review reports


@pytest.mark.parametrize("real", ["clinical"], indirect=True)
def test_counts_are_those_collected_from_the_reviews(real: Path) -> None:
    with (real / "pooled_arms.csv").open(encoding="utf-8") as text:
        collected = [
            (row["dataset"], int(row["events"]), int(row["n"])) for row in csv.DictReader(text)
        ]
    packaged = [
        (COLLECTED[t], *counts)
        for t in TRIALS
        for counts in zip(clinical(t).events, clinical(t).patients, strict=True)
    ]
    assert packaged == collected
