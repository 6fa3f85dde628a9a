"""Pairs of tables whose record moves between two rewards drawn by the seed. Code that heeds only a
narrow band of rewards hides from fixed ones.
"""

from collections.abc import Sequence

import numpy as np

from dpbandits.auditing.statistical.counting.tables import Neighbours, Replaced

OFTEN = 8
"""After so many pairs one of them comes again with rewards that were drawn."""

GRID = 100
"""Steps of the grid of these rewards."""


def with_drawn_levels(pairs: Sequence[Neighbours], seed: int) -> list[Neighbours]:
    """All of them and some more, each with two rewards of its own."""
    rng = np.random.default_rng([seed, 345])
    falls = [pair for pair in pairs if isinstance(pair, Replaced) and "falls" in pair.label]
    falls = [falls[at] for at in rng.permutation(len(falls))[: len(pairs) // OFTEN]]
    return [
        one
        for at, pair in enumerate(pairs, start=1)
        for one in (
            pair,
            *(moved(more, rng) for more in falls[at // OFTEN - 1 :][: at % OFTEN == 0]),
        )
    ]


def moved(pair: Replaced, rng: np.random.Generator) -> Replaced:
    """The same record, between two rewards that were drawn."""
    low, high = sorted((rng.choice(GRID + 1, 2, replace=False) / GRID).tolist())
    before, after = (
        np.where(np.isnan(row), row, reward)
        for row, reward in ((pair.before, high), (pair.after, low))
    )
    verb, at, arm = pair.label.partition(" at arm ")
    label = f"{verb.partition(' falls')[0]} falls from {high:g} to {low:g}{at}{arm}"
    return pair._replace(before=before, after=after, label=label)
