"""Known values of the real data, recomputed from the published files. Skipped where the data is not
there.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

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
