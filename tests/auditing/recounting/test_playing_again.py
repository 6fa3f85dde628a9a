"""What a stranger's file may make the reader's machine say of what is right."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dpbandits import audit
from dpbandits.auditing.recounting.recount import LEAST_RUNS, counted_again, replay
from dpbandits.auditing.subjects import MechanismSubject
from dpbandits.mechanisms import LazyForgetful
from tests.auditing.test_tables import SumOfBoth

ABOVE = {
    "score": "bins",
    "features": [["number", 0, 0]],
    "edges": [[2.0]],
    "ratios": [[-1.0, 1.0]],
    "high": "1.0",
    "low": "-inf",
}
"""That the first number is at least 2."""


def seen(a: Any, b: Any) -> dict[str, Any]:
    return {"tables": [a, b], "pair": "a stranger's", "event": ABOVE, "runs": 2000}


@pytest.mark.parametrize("mechanism", [SumOfBoth(epsilon=1), LazyForgetful(epsilon=1)], ids=repr)
def test_two_records_of_a_row_are_no_neighbours(mechanism: Any) -> None:
    """A 1-private sum of two coordinates was refuted by a row of two changed records: eps >= 1.888
    was played again with other seeds.
    """
    subject = MechanismSubject(mechanism)
    with pytest.raises(ValueError, match="differ in one reward"):
        counted_again(subject, seen([[1.0, 1.0]], [[0.0, 0.0]]), 2000, 1)
    with pytest.raises(ValueError, match="differ in one reward"):
        counted_again(subject, seen([[[1.0, 1.0]] * 2], [[[0.0, 0.0], [1.0, 1.0]]]), 2000, 1)
    counts = counted_again(subject, seen([[1.0, 1.0]], [[0.0, 1.0]]), 2000, 1)
    assert 0 < counts[1] < counts[0]


@pytest.fixture(scope="module")
def written() -> str:
    return audit("AnytimeLazyUCB", epsilon=1, runs=200, workers=1, levels=["statistical"]).to_json()


@pytest.mark.long
def test_the_seed_is_the_readers_own(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It followed from the report's: its writer could look for one that confirms a chance event."""
    seeds = list[int]()

    def counting(subject: Any, seen: Any, runs: int, seed: int) -> Any:
        seeds.append(seed)
        assert runs == LEAST_RUNS, "the report counted 200"
        return [0, 0, 0, 0]

    monkeypatch.setattr("dpbandits.auditing.recounting.recount.counted_again", counting)
    said = [replay(json.loads(written)).lines[1] for _ in range(3)]
    assert len(set(seeds)) == 3
    assert all(f"seed {seed}:" in line for seed, line in zip(seeds, said, strict=True))
    assert "seed 5:" in replay(json.loads(written), seed=5).lines[1]


def test_that_the_claim_is_the_files_is_said(written: str) -> None:
    report = json.loads(written)
    assert "report states (ε = 1, as the subject's own)" in replay(report, seed=1).lines[1]
    report["claim"] = "1/100"
    assert "report states (ε = 0.01, the subject's own is 1)" in replay(report, seed=1).lines[1]
