"""Every page that is measured: the benchmark that writes it, at which sizes, and at which sizes one
sees in minutes that it still runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

FIGURES = "figures"


class Page(NamedTuple):
    """A page under a folder of measured pages.

    module: what writes it. path: within the folder; "": it writes a figure alone. whole: arguments
    for the page that is committed. small: for a look. figure: its file's name, if it draws one.
    server: needs a PostgreSQL server that it may start. reads: the page whose figures it draws.
    """

    module: str
    path: str
    whole: tuple[str, ...] = ()
    small: tuple[str, ...] = ()
    figure: str = ""
    server: bool = False
    reads: str = ""

    @property
    def name(self) -> str:
        return Path(self.path or self.figure).stem

    def command(self, folder: Path, small: bool) -> list[str]:
        """What to run, after `python`."""
        found = ["-m", f"benchmarks.{self.module}", *(self.small if small else self.whole)]
        if self.path:
            found += ["--out", str(folder / self.path)]
        if self.figure:
            found += ["--figure", str(folder / FIGURES / self.figure)]
        if self.reads:
            found += ["--page", str(folder / self.reads)]
        return found


def runs(number: int) -> tuple[str, ...]:
    return "--runs", str(number)


PAGES = (
    Page("speed", "speed.md"),
    Page("scale", "scale.md", figure="scale.png"),
    Page("tails", "regret/tails.md", small=runs(200)),
    Page("guesses", "regret/guesses.md", small=runs(20)),
    Page("worst_gaps", "regret/worst_gaps.md", small=runs(2)),
    Page("counters", "regret/counters.md", small=runs(1)),
    Page(
        "rate",
        "regret/rate.md",
        small=(*runs(50), "--safe-runs", "200", "--tuning-runs", "10"),
    ),
    Page("rate.safe", "regret/rate_safe.md", small=(*runs(200), "--mean-runs", "10")),
    Page("instances", "regret/instances.md", small=runs(40)),
    Page("matroid", "regret/matroid.md", runs(60), runs(2)),
    Page("matroid.growth", "regret/matroid_growth.md", small=runs(2)),
    Page("joint", "regret/joint.md", small=runs(20)),
    Page("joint.costs", "joint_costs.md"),
    Page("joint.networks", "regret/joint_networks.md", small=runs(2)),
    Page("joint.constants", "regret/joint_constants.md", runs(200), runs(4)),
    Page("joint.growth_fixed", "regret/joint_growth_fixed.md", runs(12), runs(2)),
    Page("joint.headline", "", figure="headline.png", reads="regret/joint.md"),
    Page("joint.growth", "regret/joint_growth.md", runs(12), runs(2), "joint_growth.png"),
    Page("local", "regret/local.md", small=runs(2)),
    Page("local.growth", "regret/local_growth.md", small=runs(4)),
    Page("delays", "regret/delays.md", small=runs(2)),
    Page("silence", "regret/silence.md", runs(40), runs(1)),
    Page("naming", "naming.md", small=(*runs(4), "--few", "4")),
    Page("contexts", "contexts.md", small=("--rounds", "2000", *runs(2))),
    Page("eligible", "regret/eligible.md", small=("--rounds", "2000", *runs(4))),
    Page("auditors", "auditors.md", small=("--seeds", "1", "--most", "1000")),
    Page("forecasts", "forecast.md", small=("--repetitions", "1")),
    Page(
        "service",
        "service.md",
        ("--past", "10000000"),
        ("--past", "100000", "--pending", "10000"),
    ),
    Page("service.compared", "service_compared.md"),
    Page("service.over_http", "service_http.md"),
    Page("service.over_http", "service_http_postgresql.md", *2 * (("--postgresql",),), server=True),
)
"""In the order in which they are written: the headline reads the page of joint releases."""
