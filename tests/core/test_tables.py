"""Tables: what is a table can be had in both libraries, and this is written once."""

import sys
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.core.tables import Tabular
from dpbandits.forecasting.outcome import Forecast, Foreseen


def session() -> dpb.Session:
    made = dpb.Session(dpb.DPKLUCB(arms=2, epsilon=1), noise=dpb.SimulatedNoise(1), seed=1)
    for _ in range(40):
        made.tell(made.ask(), 1)
    return made


def by_segment() -> Any:
    policy = dpb.DPKLUCB(arms=2, epsilon=1)
    return dpb.SegmentedSession(policy, noise=dpb.SimulatedNoise(1), segments=["DE", "FR"])


def foreseen() -> Forecast:
    row = Foreseen("DPKLUCB", 1.0, 5.0, 0.1, 1.0, 9.0, 6.0, 7.0, 8.0, 0.9, None, 0.1, 0.1)
    return Forecast((row, row._replace(epsilon=None)), 1000, 10, 2, 0, "clicks")


def runs() -> dpb.Runs:
    return dpb.simulate(
        dpb.KLUCB(arms=2), dpb.Bernoulli([0.6, 0.4]), 50, runs=2, at=[10], compiled=False
    )


TABLES = {
    "beliefs": lambda: session().beliefs(),
    "decisions": lambda: session().decisions(),
    "sample ratio": lambda: session().sample_ratio(),
    "beliefs by segment": lambda: by_segment().beliefs(),
    "no decisions by segment": lambda: by_segment().decisions(),
    "forecast": foreseen,
    "runs": runs,
}


@pytest.mark.parametrize("name", TABLES)
def test_both_libraries_show_the_same(name: str) -> None:
    table = TABLES[name]()
    assert isinstance(table, Tabular)
    polars, pandas = table.to_polars(), table.to_pandas()
    assert polars.columns == list(pandas.columns)
    assert len(polars.columns) > 2
    shown = pandas.astype(object).where(pandas.notna(), None)  # where polars has null, it has NaN
    assert polars.rows() == [tuple(row) for row in shown.to_numpy().tolist()]


@pytest.mark.parametrize("name", TABLES)
def test_it_says_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = TABLES[name]()
    for library, words in (("polars", r"dpbandits\[experiments\]"), ("pandas", "to_polars")):
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(ImportError, match=f"This table needs {library}: pip install .*{words}"):
            getattr(table, f"to_{library}")()
