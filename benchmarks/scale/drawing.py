"""Growth in K and in T as a figure, from the very times of the tables."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from benchmarks.scale.arms import Times

COLOURS = ("#1b6ca8", "#c8553d", "#4f772d", "#8d5a97", "#b8860b", "#2a9d8f", "#555555")


def draw(in_arms: dict[str, Times], in_rounds: dict[str, Times], file: Path) -> None:
    """in_arms, in_rounds: of each policy the seconds of a run by its arms, or by its rounds."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    lines(left, in_arms)
    first = next(iter(in_arms.values()))
    few, many = sorted(first)[-2:]  # the line goes through the last but one point
    sizes = [few, many]
    linear = [1e3 * first[few] * k * math.log(k) / (few * math.log(few)) for k in sizes]
    left.plot(sizes, linear, ":", color="0.4", label="K log K")
    left.set(xscale="log", yscale="log", xlabel="K, arms", ylabel="ms a run")
    left.set_title("Growth with arms, T = 10⁶")
    left.legend(frameon=False, fontsize=8)
    lines(right, in_rounds)
    right.set(xscale="log", xlabel="T, rounds", ylabel="ms a run", ylim=(0, None))
    right.set_title("Growth with rounds, K = 500")
    right.legend(frameon=False, fontsize=8)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=120, metadata={"Software": None})
    plt.close(figure)


def lines(axes: Any, times: dict[str, Times]) -> None:
    assert len(times) <= len(COLOURS), "a colour for each policy"
    for colour, (name, by_size) in zip(COLOURS, times.items(), strict=False):
        milliseconds = [1e3 * seconds for seconds in by_size.values()]
        axes.plot(list(by_size), milliseconds, "o-", color=colour, label=name, markersize=4)
