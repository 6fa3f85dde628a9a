"""Pairs of tables whose record moves between two rewards drawn by the seed. Code that heeds only a
narrow band of rewards hides from fixed ones.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from dpbandits.auditing.statistical.counting.tables import Neighbours, Replaced

OFTEN = 8
"""After so many pairs one of them comes again with rewards that were drawn."""

GRID = 100
"""Steps of the grid of these rewards."""

GOLDEN = (5**0.5 - 1) / 2
"""Steps of this length around a circle leave no part of it out for long."""


def with_drawn_levels(pairs: Sequence[Neighbours], seed: int) -> list[Neighbours]:
    """All of them and some more, each with two rewards of its own."""
    rng = np.random.default_rng([seed, 345])
    falls = [pair for pair in pairs if isinstance(pair, Replaced) and "falls" in pair.label]
    some = [falls[at] for at in rng.permutation(len(falls))]
    levels, found = drawn_levels(rng.random()), list[Neighbours]()
    for at, pair in enumerate(pairs, start=1):
        found.append(pair)
        if at % OFTEN == 0 and some:
            found.append(between_levels(some.pop(), next(levels), next(levels)))
    return found


def drawn_levels(at: float) -> Iterator[float]:
    """Rewards on the grid from this place on; two in turn are never the same."""
    while True:
        yield int(at * (GRID + 1)) / GRID
        at = (at + GOLDEN) % 1


def between_levels(pair: Replaced, one: float, other: float) -> Replaced:
    """The same record, between two rewards of which the higher comes first."""
    high, low = max(one, other), min(one, other)
    before, after = (
        np.where(np.isnan(row), row, reward)
        for row, reward in ((pair.before, high), (pair.after, low))
    )
    verb, at, arm = pair.label.partition(" at arm ")
    label = f"{verb.partition(' falls')[0]} falls from {high:g} to {low:g}{at}{arm}"
    return pair._replace(before=before, after=after, label=label)
