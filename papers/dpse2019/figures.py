"""Figures 1 to 12 of Sajed and Sheffet 2019, and one of their first attempts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dpbandits.core.privacy import printed_epsilon
from dpbandits.plots import Panel
from dpbandits.sweeps.results import Results
from papers.drawing import DOTTED, Drawing, regret_grid

BUDGETS = (0.1, 0.25, 0.5, 1.0)
ARMS = (3, 5, 10, 20)
ROUNDS, QUICK = 50_000_000, "; 10,000,000 of 50,000,000 rounds"  # of sweep.toml
PAIRS = ((0.5, 1.0), (0.1, 0.25))


def drawings(results: Mapping[str, Results]) -> Iterator[Drawing]:
    settings = ("C1", "C2", "C3", "C4")
    if "dpse2019" in results:
        sweep = results["dpse2019"]
        size = QUICK if sweep.config.rounds < ROUNDS else ""
        for number, name in enumerate(settings, start=1):
            row = [Panel(f"{name}, K = 5", epsilon) for epsilon in BUDGETS]
            caption = f"Figure {number}: {name} with K = 5, every ε{size}. {DOTTED}"
            if number == 2:
                caption = f"DP-SE loses far less than DP-UCB, DP-RateIMED least. {caption}"
            figure = regret_grid(sweep, [row])
            yield Drawing(f"figure-{number:02}", caption, figure, shown=number == 2)
        pairs = [(name, pair) for name in settings for pair in PAIRS]
        for number, (name, pair) in enumerate(pairs, start=5):
            rows = [[Panel(f"{name}, K = {arms}", epsilon) for arms in ARMS] for epsilon in pair]
            budgets = " and ".join(map(printed_epsilon, pair))
            caption = f"Figure {number}: {name} with ε = {budgets}, every K{size}. {DOTTED}"
            yield Drawing(f"figure-{number:02}", caption, regret_grid(sweep, rows), shown=False)
    if "dpse2019-attempts" in results:
        panels = [
            [Panel(f"K = {arms}, gap 0.25", epsilon) for arms in ARMS] for epsilon in (0.1, 1.0)
        ]
        yield Drawing(
            "attempts",
            "The first attempts of section 4, sparse vectors that never forget; mostly they lie on "
            f"each other. {DOTTED}",
            regret_grid(results["dpse2019-attempts"], panels),
        )
