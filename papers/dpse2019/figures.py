"""Figures 1 to 12 of Sajed and Sheffet 2019, and one of their first attempts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dpbandits.core.privacy import printed_epsilon
from dpbandits.plots import Panel
from dpbandits.sweeps.results import Results
from papers.drawing import DOTTED, Drawing, regret_grid

BUDGETS = (0.1, 0.25, 0.5, 1.0)
ARMS = (3, 5, 10, 20)
PAIRS = ((0.5, 1.0), (0.1, 0.25))
COVERED = (
    "Of the three sparse vectors that for arms is seen at K = 3 and 5, ε = 0.1; elsewhere they lie "
    "on each other",
)
"""What a caption says of curves that cannot be seen."""


def drawings(results: Mapping[str, Results]) -> Iterator[Drawing]:
    sweep = results["dpse2019"]
    settings = ("C1", "C2", "C3", "C4")
    for number, name in enumerate(settings, start=1):
        row = [Panel(f"{name}, K = 5", epsilon) for epsilon in BUDGETS]
        yield Drawing(
            f"figure-{number:02}",
            f"Figure {number}: {name} with K = 5, every ε. {DOTTED}",
            regret_grid(sweep, [row]),
        )
    pairs = [(name, pair) for name in settings for pair in PAIRS]
    for number, (name, pair) in enumerate(pairs, start=5):
        rows = [[Panel(f"{name}, K = {arms}", epsilon) for arms in ARMS] for epsilon in pair]
        budgets = " and ".join(map(printed_epsilon, pair))
        caption = f"Figure {number}: {name} with ε = {budgets}, every K. {DOTTED}"
        yield Drawing(f"figure-{number:02}", caption, regret_grid(sweep, rows))
    panels = [[Panel(f"K = {arms}, gap 0.25", epsilon) for arms in ARMS] for epsilon in (0.1, 1.0)]
    yield Drawing(
        "attempts",
        "The first attempts of section 4 (no figure in the paper): sparse vectors that never "
        f"forget. {COVERED[0]}. {DOTTED}",
        regret_grid(results["dpse2019-attempts"], panels),
    )
