"""What is printed of results is a table for people, and still what it was for programs."""

import copy
import json
import pickle

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.tables import FigureTable

PAIR = dpb.Bernoulli([0.6, 0.4])


def test_a_summary_of_runs_is_a_table_and_a_dict() -> None:
    runs = dpb.simulate(dpb.DPKLUCB(arms=2, epsilon=1), PAIR, 200, runs=40, seed=1, compiled=False)
    found = runs.summary()
    title, *lines = str(found).splitlines()
    assert title == "Regret of DPKLUCB after 200 rounds, 40 runs"
    assert [line.split()[0] for line in lines] == list(found)
    assert f"± {2 * found['error']:.2g} (two standard errors)" in lines[0]
    assert lines[3].endswith("of few runs: about 0.4 lie above")
    assert repr(found) == str(found)
    plain = dict(found)
    assert found == plain
    assert json.loads(json.dumps(found)) == plain
    assert pickle.loads(pickle.dumps(found)) == copy.copy(found) == plain
    assert found["mean"] == pytest.approx(float(runs.regret().mean()))


def test_of_many_runs_no_quantile_is_rough_and_one_run_has_no_error() -> None:
    figures = {"mean": 1.0, "error": 0.1, "q99": 2.0, "q999": 3.0}
    assert "few" not in str(FigureTable.of_runs(figures, "many", 10_000))
    assert str(FigureTable.of_runs(figures, "many", 9_999)).count("few") == 1
    alone = dpb.simulate(dpb.UCB1(arms=2), PAIR, 100, compiled=False).summary()
    assert np.isnan(alone["error"])
    assert "±" not in str(alone)


def test_estimates_say_what_they_are() -> None:
    rule = dpb.DPExponentialNAS(alpha=0.5, beta=0.05, cap=10**6, epsilon=1)
    found = dpb.estimates(rule, dpb.Bernoulli([0.6]), runs=50, seed=1)
    said = f"Estimates(DPExponentialNAS, runs=50, {found.coverage:.1%} right, "
    assert repr(found).startswith(said)
    assert "array" not in repr(found)


def test_policies_print_as_a_table() -> None:
    found = dpb.list_policies()
    head, *lines = str(found).splitlines()
    assert head.split() == ["name", "privacy", "feedback", "releases", "paper"]
    assert [line.split()[0] for line in lines] == [row.name for row in found]
    assert isinstance(found, tuple)
    assert repr(found) == str(found)


def test_a_campaign_in_numbers_prints_as_lines() -> None:
    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1)) as store:
        trial = store.create("trial", dpb.DPKLUCB(arms=["a", "b"], epsilon=1), segments=["DE"])  # type: ignore[arg-type]
        trial.ask(3, segment="DE")
        trial.close("end")
        assert str(trial.summary()).splitlines() == [
            "trial: DPKLUCB, 3 asked, 0 told, 0 waiting, 3 void, 0 policy updates",
            "ε = 1 per round (replace-one), central trust, simulated noise",
            "arms: a (active), b (active)",
            "segments: DE",
            "over: end",
        ]
