"""The README's picture: what private recommendations of films earn beside those without privacy,
from what `python -m benchmarks.joint` wrote.

    python -m benchmarks.joint.headline --figure docs/measured/figures/headline.png
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from benchmarks.table import read

RESULTS = Path("benchmarks/results/joint.csv")
WHAT = re.compile(r"MovieLens 1M, 100 films, ε = ([\d.]+): (\w+)")
MEASURED = re.compile(r"(?:.*return )?([\d.]+)")
BUDGETS = ("0.5", "1", "2")
PRIVATE = {
    "DPJointMAT": ("private: joint releases (ours)", "#1f5fa8", "o"),
    "DPKLMAT": ("private: ε shared out over the arms", "#c2571a", "s"),
}
LINES = {"CTSBeta": "CTS-Beta", "KLOSM": "KL-OSM", "CTSGaussian": "CTS-Gaussian", "OMM": "OMM"}
"""Without privacy."""

PLAIN = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}


def returns(rows: list[dict[str, str]]) -> dict[tuple[str, str], float]:
    """Mean return a round, by budget and policy ("optimum": the best basis at every round)."""
    found = dict[tuple[str, str], float]()
    for row in rows:
        what, measured = WHAT.fullmatch(row["what"]), MEASURED.match(row["measured"])
        if what and measured:
            found[what[1], what[2]] = float(measured[1])
    return found


def drawn(found: dict[tuple[str, str], float]) -> Figure:
    """Points for the private policies at each budget, lines for the others."""
    figure = Figure(figsize=(5.4, 4.2), layout="constrained")  # small, so that a phone can show it
    axes: Any = figure.subplots()
    for policy, (label, colour, marker) in PRIVATE.items():
        heights = [found[budget, policy] for budget in BUDGETS]
        axes.plot(range(len(BUDGETS)), heights, marker, color=colour, label=label, markersize=9)
        for place, height in enumerate(heights):
            at = (place + 0.07, height)
            axes.annotate(f"{height:.2f}", at, va="center", color=colour, bbox=PLAIN)
    lines = {label: found["1", policy] for policy, label in LINES.items()}
    for label, height in (lines | {"the best films": found["1", "optimum"]}).items():
        axes.axhline(height, color="#777777", linewidth=0.9, linestyle=(0, (4, 2)), zorder=0)
        said = f"{label} {height:.2f}"
        axes.text(1.01, height, said, transform=axes.get_yaxis_transform(), va="center", size=10)
    axes.set_xticks(range(len(BUDGETS)), [f"ε = {budget}" for budget in BUDGETS])
    axes.set_xlim(-0.4, 2.4)
    axes.set_ylabel("films liked a round")
    axes.set_title("Dashed: without privacy", size=10, loc="right")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", fontsize=10, frameon=False)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--figure", type=Path, required=True)
    given = parser.parse_args()
    drawn(returns(read(given.results))).savefig(given.figure, dpi=200)


if __name__ == "__main__":
    main()
