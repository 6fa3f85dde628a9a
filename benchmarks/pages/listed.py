"""Everything that is measured: the benchmark that writes it, at which sizes, and at which sizes one
sees in minutes that it still runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

RESULTS, PAGES_OF, FIGURES = "benchmarks/results", "docs/measured", "docs/measured/figures"
"""Folders of tables in CSV, of pages in Markdown, of figures."""


class Page(NamedTuple):
    """A table of numbers, a page or a figure.

    module: what writes it. file: its name; "": it writes a figure alone. whole: arguments for what
    is committed. small: for a look. figure: its file's name, if it draws one. server: needs a
    PostgreSQL server that it may start. reads: the table whose numbers it draws.
    """

    module: str
    file: str
    whole: tuple[str, ...] = ()
    small: tuple[str, ...] = ()
    figure: str = ""
    server: bool = False
    reads: str = ""

    @property
    def name(self) -> str:
        return Path(self.file or self.figure).stem

    @property
    def path(self) -> str:
        """Within the repository; empty if it writes a figure alone."""
        folder = PAGES_OF if self.file.endswith(".md") else RESULTS
        return f"{folder}/{self.file}" if self.file else ""

    def command(self, folder: Path, small: bool) -> list[str]:
        """What to run, after `python`. folder: the repository, or another one of its form."""
        found = ["-m", f"benchmarks.{self.module}", *(self.small if small else self.whole)]
        if self.path:
            found += ["--out", str(folder / self.path)]
        if self.figure:
            found += ["--figure", str(folder / FIGURES / self.figure)]
        if self.reads:
            found += ["--results", str(folder / RESULTS / self.reads)]
        return found


def runs(number: int) -> tuple[str, ...]:
    return "--runs", str(number)


PAGES = (
    Page("speed", "speed.csv"),
    Page(
        "scale",
        "scale.csv",
        small=("--parts", "together", "million", "sessions"),
        figure="scale.png",
    ),
    Page("tails", "tails.csv", small=runs(200)),
    Page("guesses", "guesses.csv", small=runs(20)),
    Page("worst_gaps", "worst_gaps.csv", small=runs(2)),
    Page("counters", "counters.csv", small=runs(1)),
    Page(
        "rate",
        "rate.csv",
        small=(*runs(50), "--safe-runs", "200", "--tuning-runs", "10"),
    ),
    Page("rate.safe", "rate_safe.csv", small=(*runs(200), "--mean-runs", "10")),
    Page("instances", "instances.csv", small=runs(40)),
    Page("matroid", "matroid.csv", runs(60), runs(2)),
    Page("matroid.growth", "matroid_growth.csv", small=runs(2)),
    Page("joint", "joint.csv", small=runs(20)),
    Page("joint.costs", "joint_costs.csv"),
    Page("joint.networks", "joint_networks.csv", small=("--rounds", "2000", *runs(1))),
    Page("joint.constants", "joint_constants.csv", runs(200), runs(4)),
    Page("joint.growth_fixed", "joint_growth_fixed.csv", runs(12), runs(2)),
    Page("joint.headline", "", figure="headline.png", reads="joint.csv"),
    Page("joint.growth", "joint_growth.csv", runs(12), runs(2), "joint_growth.png"),
    Page("local", "local.csv", small=runs(2)),
    Page("local.growth", "local_growth.csv", small=runs(4)),
    Page(
        "delays",
        "delays.csv",
        small=(*runs(2), "--policies", "DPRateIMED", "DPJointMAT", "--settings", "0", "2"),
    ),
    Page("silence", "silence.csv", runs(40), runs(1)),
    Page("naming", "naming.csv", small=(*runs(2), "--few", "2")),
    Page("changing", "changing.csv", small=("--rounds", "2000", "--instances", "2")),
    Page("answering", "answering.csv", small=(*runs(30), "--few", "4")),
    Page("contexts", "contexts.csv", small=("--rounds", "2000", *runs(2))),
    Page(
        "contexts_estimates",
        "contexts_estimates.csv",
        small=("--rounds", "1000", *runs(2)),
    ),
    Page(
        "contexts_segments",
        "contexts_segments.csv",
        small=("--rounds", "2000", *runs(2)),
        figure="contexts.png",
        reads="contexts.csv",
    ),
    Page("private_contexts", "private_contexts.csv", small=("--rounds", "2000", *runs(2))),
    Page("eligible", "eligible.csv", small=("--rounds", "2000", *runs(4))),
    Page("auditors", "auditors.csv", small=("--seeds", "1", "--most", "1000")),
    Page("forecasts", "forecast.csv", small=("--repetitions", "1")),
    Page(
        "service",
        "service.csv",
        ("--past", "10000000"),
        ("--past", "100000", "--pending", "10000"),
    ),
    Page("service.compared", "service_compared.csv"),
    Page("service.over_http", "service_http.csv"),
    Page(
        "service.over_http", "service_http_postgresql.csv", *2 * (("--postgresql",),), server=True
    ),
)
"""In the order in which they are written: the headline reads the table of joint releases."""
