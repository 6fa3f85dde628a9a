"""What Chen et al. 2020 prove, drawn: regret as K grows, as ε shrinks, and in the central model.
The paper has no figures of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import polars as pl
from matplotlib.figure import Figure

from dpbandits.core.privacy import printed_epsilon
from dpbandits.plots import Panel, looks
from dpbandits.sweeps.results import Results
from dpbandits.theory import private_paths_lower_bound, semi_bandit_lower_order
from papers.drawing import DOTTED, Drawing, Lines, line_grid, regret_grid

Order = Callable[[int, float], float]

WIDTHS = (1, 2, 4, 8)
SHOWN = {"4 choices": "K = {}", "24 choices": "K = {}, 24 choices"}
OURS = "DP-KLCUCB (ours, central)"
LABELS = ["CUCB-LDP1 (published)", "CUCB-LDP2 (published, any K)", OURS]
CENTRAL = "Linear rewards, ε-DP:"
UNKNOWN = "Under local privacy no lower bound is known for an instance"
CENTRAL_BOUND = {
    2.0: ["lazy CUCB (ours)", "DP-KLCUCB (ours)", "DP-JointCUCB (ours, ln t)"],
    32.0: ["CUCB-DP (tight)"],
}
SHARES = ["DP-KLCUCB, equal shares (ours)", "DP-KLCUCB, balanced shares (ours)"]
LOCAL_BOUND = {4.0: ["CUCB-LDP1 (published)", "CUCB-LDP2 (published)", OURS]}


def drawings(results: Mapping[str, Results]) -> Iterator[Drawing]:
    if "cucb2020" in results:
        caption = (
            "Local privacy: CUCB-LDP1's regret grows about as K², CUCB-LDP2's far slower. Shared "
            f"arms, ε = 8; dashed: K² from K = 1. DP-KLCUCB has a trusted curator. {UNKNOWN}"
        )
        yield Drawing("super-arm-size", caption, against_width(results["cucb2020"]))
    if "cucb2020-central" in results:
        central = results["cucb2020-central"]
        for number, name in enumerate(("shared arms", "K-path"), start=1):
            row = [Panel(name, epsilon) for epsilon in (4.0, 8.0, 32.0)]
            figure = regret_grid(central, [row], ends=name)
            yield Drawing(
                f"central-{number}",
                f"{CENTRAL} {name} instance. {DOTTED}",
                figure,
                shown=number == 1,
            )
    if "cucb2020-apart" in results:
        yield Drawing(
            "lower-bound-central",
            "Theorem 9's instance, 24 wrong super arms: regret against K; dashed the theorem's "
            "order, which has no constant",
            beside_orders(
                results["cucb2020-apart"], "theorem 9, K = {}", CENTRAL_BOUND, public_order, "mK"
            ),
        )
    if "cucb2020-theorem9" in results:
        yield Drawing(
            "lower-bound-free",
            "Theorem 9's instance without privacy: CUCB's regret against K; dashed in proportion "
            "to K",
            in_proportion(results["cucb2020-theorem9"], ["CUCB"], "theorem 9, K = {}"),
            shown=False,
        )
    if "cucb2020-many-sets" in results:
        yield Drawing(
            "shares",
            "Theorem 9's shape, 200 wrong super arms, ε = 0.05, T = 10¹³: regret against K with "
            "equal and with balanced shares of ε; dashed in proportion to K. Public arms share a "
            "coin: no lower bound is known",
            in_proportion(results["cucb2020-many-sets"], SHARES, "200 sets, K = {}"),
        )
    if "cucb2020-largest-error" in results:
        yield Drawing(
            "largest-error",
            "Local privacy, a super arm is worth its least mean (B∞ = 1), ε = 8: regret against K; "
            "dashed K². No lower bound is known there",
            bottleneck(results["cucb2020-largest-error"]),
        )
    if "cucb2020-local-bounds" in results:
        yield Drawing(
            "lower-bound-local",
            "Theorem 6's instance, three paths of identical arms: regret against K; dashed the "
            "theorem's order. With its constant the bound is far below",
            beside_orders(
                results["cucb2020-local-bounds"], "path of {}", LOCAL_BOUND, paths_order, "(m − K)K"
            ),
        )


def against_width(results: Results) -> Figure:
    """Final regret against the size of super arms, a panel for each number of choices."""
    panels = []
    for title, pattern in SHOWN.items():
        frame = by_width(results, LABELS, pattern, WIDTHS)
        start = frame.filter(pl.col("label") == LABELS[0])["mean"][0]
        at = sorted(set(frame["x"].to_list()))
        panels.append(Lines(title, frame, {"K²": [start * k**2 for k in at]}, at))
    return grid_of(results, LABELS, panels)


def by_width(
    results: Results, labels: Sequence[str], pattern: str, widths: Sequence[int]
) -> pl.DataFrame:
    """Final regrets, where the pattern with a K in it names an environment."""
    names = {pattern.format(k): k for k in widths}
    frame = results.summary.filter(
        pl.col("label").is_in(labels) & pl.col("environment").is_in(list(names))
    )
    return frame.with_columns(
        x=pl.col("environment").replace_strict(names, return_dtype=pl.Int64), y=pl.col("mean")
    ).sort("x")


def grid_of(results: Results, labels: Sequence[str], panels: list[Lines]) -> Figure:
    return line_grid(
        [panels],
        looks([c for c in results.cells if c.label in labels]),
        x="K (log scale)",
        y="final regret",
    )


def beside_orders(
    results: Results, pattern: str, chosen: Mapping[float, Sequence[str]], order: Order, name: str
) -> Figure:
    """Final regret against K, a panel for each ε with its policies, and a lower bound's order in
    K, scaled to the first policy's regret at K = 2.
    """
    panels, labels = [], [label for row in chosen.values() for label in row]
    for epsilon, shown in chosen.items():
        frame = by_width(results, shown, pattern, WIDTHS[1:]).filter(pl.col("epsilon") == epsilon)
        start = frame.filter(pl.col("label") == shown[0])["mean"][0]
        at = sorted(set(frame["x"].to_list()))
        line = [start * order(k, epsilon) / order(at[0], epsilon) for k in at]
        panels.append(Lines(f"ε = {printed_epsilon(epsilon)}", frame, {name: line}, at))
    return grid_of(results, labels, panels)


def in_proportion(results: Results, labels: Sequence[str], pattern: str) -> Figure:
    """Final regret against K from 2 to 16 in one panel, beside growth with K."""
    frame = by_width(results, labels, pattern, (2, 4, 8, 16))
    at = sorted(set(frame["x"].to_list()))
    start = frame.filter(pl.col("label") == labels[0])["mean"][0]
    return grid_of(results, labels, [Lines("", frame, {"K": [start * k / at[0] for k in at]}, at)])


def bottleneck(results: Results) -> Figure:
    """Final regret against K where one error counts, beside growth with K²."""
    labels = ["CUCB-LDP1 (B∞ = 1)", "CUCB-LDP2 (B∞ = 1)"]
    frame = by_width(results, labels, "bottleneck, K = {}", WIDTHS[:3])
    at = sorted(set(frame["x"].to_list()))
    start = frame.filter(pl.col("label") == labels[0])["mean"][0]
    return grid_of(results, labels, [Lines("", frame, {"K²": [start * k**2 for k in at]}, at)])


def public_order(k: int, epsilon: float) -> float:
    return semi_bandit_lower_order(23 + 2 * k, k, 0.6, 200_000, epsilon)


def paths_order(k: int, epsilon: float) -> float:
    return private_paths_lower_bound(3 * k, k, 0.6, 200_000, epsilon)
