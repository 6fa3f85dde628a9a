"""Known values of the real data, recomputed from the published files. Skipped where the data is not
there.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import dpbandits as dpb
from dpbandits import datasets


def needs(folder: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("real", [folder], indirect=True)


@needs("msweb")
def test_msweb(real: Path) -> None:
    everyone = datasets.msweb(real, seed=None)
    assert everyone.rewards.shape == (37_711, 294)
    assert everyone.rewards.sum() == 113_845
    top = datasets.msweb(real, 4, seed=None)
    assert top.means.round(3).tolist() == [0.332, 0.287, 0.26, 0.161]
    areas = datasets.msweb_areas(real)
    assert [area.title for area in areas[:4]] == [
        "Free Downloads",
        "Internet Explorer",
        "Microsoft.com Search",
        "isapi",
    ]
    assert sum(area.visitors == 0 for area in areas) == 8
    np.testing.assert_array_equal(
        datasets.msweb(real, [1008, 1034, 1004, 1018], seed=None).rewards, top.rewards
    )
    # The first person of the file visited areas 1000, 1001 and 1002.
    assert {areas[j].number for j in np.flatnonzero(everyone.rewards[0])} == {1000, 1001, 1002}


@needs("msweb")
def test_msweb_plays_every_person_once(real: Path) -> None:
    table = datasets.msweb(real, 4, seed=1)
    runs = dpb.simulate(
        dpb.DPKLUCB(arms=4, epsilon=1, grid=1), table, rounds=37_711, runs=1, seed=2
    )
    assert runs.plays.sum() == 37_711
    assert runs.plays[0].argmax() == 0  # most people are offered the area most people visit


@needs("upworthy")
def test_upworthy_archive(real: Path) -> None:
    path = real / "upworthy_exploratory_clean.parquet"
    every = datasets.upworthy(path, keep_imbalanced=True)
    assert len(every) == 4_873
    assert sum(len(test.headlines) for test in every.values()) == 22_666
    assert sum(sum(test.impressions) for test in every.values()) == 81_024_151
    assert sum(sum(test.clicks) for test in every.values()) == 1_231_208
    kept = datasets.upworthy(path)
    assert len(kept) == 3_818
    assert not any(201326 <= week <= 201402 for test in kept.values() for week in test.weeks)
    assert {name for name, test in every.items() if test.imbalanced} == set(every) - set(kept)


@needs("upworthy")
def test_upworthy_layouts_agree(real: Path) -> None:
    selected = datasets.upworthy(real / "upworthy_selected_tests.csv")
    archive = datasets.upworthy(real / "upworthy_exploratory_clean.parquet")
    assert len(selected) == 95
    for name, test in selected.items():
        assert sorted(zip(test.impressions, test.clicks, strict=True)) == sorted(
            zip(archive[name].impressions, archive[name].clicks, strict=True)
        )
    profile = pl.read_csv(real / "selected_tests_profile.csv")
    for name, arms, best in profile.select("test", "K", "best").iter_rows():
        assert selected[name].environment.arms == arms
        assert selected[name].environment.means.max() == pytest.approx(best, rel=1e-12)


@needs("obd")
@pytest.mark.parametrize(("campaign", "clicks"), [("all", 38), ("men", 46), ("women", 46)])
def test_obd_random_logs(real: Path, campaign: str, clicks: int) -> None:
    log = datasets.obd(real / f"random_{campaign}_log.csv.gz")
    items = datasets.CAMPAIGNS[campaign]
    assert (log.arms, len(log.actions), log.rewards.sum()) == (items, 10_000, clicks)
    assert log.expected_acceptance == pytest.approx(1 / items, rel=1e-12)
    assert (
        sum(
            len(datasets.obd(real / f"random_{campaign}_log.csv.gz", position=p).actions)
            for p in (1, 2, 3)
        )
        == 10_000
    )


@needs("obd")
def test_obd_is_replayed_at_the_stated_rate(real: Path) -> None:
    log = datasets.obd(real / "random_men_log.csv.gz")
    assert (np.bincount(datasets.obd(real / "random_all_log.csv.gz").actions) > 0).all()
    runs = dpb.simulate(dpb.DPKLUCB(arms=34, epsilon=1, grid=1), log, rounds=10_000, runs=1, seed=3)
    assert runs.acceptance is not None
    # 10,000 entries, each accepted with probability 1/34: Bernstein's radius at a false-alarm rate
    # of 1e-6.
    rate, spread = 1 / 34, np.log(2e6)
    assert abs(runs.acceptance[0] - rate) < np.sqrt(2 * rate * spread / 10_000) + spread / 15_000


@needs("obd")
def test_obd_thompson_logs_are_refused_or_hardly_replayed(real: Path) -> None:
    with pytest.raises(
        datasets.DataError, match=r"would accept about 0.45 of these 10000 decisions.*random policy"
    ):
        datasets.obd(real / "bts_all_log.csv.gz")
    assert datasets.obd(real / "bts_men_log.csv.gz").expected_acceptance < 3e-4


@needs("obd")
def test_obd_rates(real: Path) -> None:
    path = real / "item_click_rates.csv"
    for campaign, items in datasets.CAMPAIGNS.items():
        assert datasets.obd_rates(path, campaign).arms == items
    means = datasets.obd_rates(path, "all").means
    assert means[0] == pytest.approx(47 / (47 + 12_198), rel=1e-12)
    assert 0.002 < np.median(means) < 0.006  # near 0.4 %
    # Why the logs' own rates are not used: 51 of 80 items have no click in 10,000 random decisions.
    assert (datasets.obd(real / "random_all_log.csv.gz").means == 0).sum() == 51
