"""Pairs of reward tables that differ in one record: backgrounds, the record that is replaced, and
what it is replaced by.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dpbandits.checks.tape import in_turn
from dpbandits.core.inputs import Floats

# The order of pairs mixes all kinds, so that any first part of the list holds some of each.


MOVES = {
    "falls": (1.0, 0.0),
    "falls from 1 to 1/2": (1.0, 0.5),
    "falls from 1/2 to 1/4": (0.5, 0.25),
    "falls from .97 to .02": (0.97, 0.02),
}
"""What a replaced reward was and becomes. Code that heeds only 0 and 1, only what lies between, or
only what is no fraction of two cannot hide all of these. On the usual grid .97 is odd, .02 even.
"""


class Neighbours(NamedTuple):
    """Two reward tables that differ in one record: shape (rounds, arms), or (blocks, records of a
    block, arms) where a mechanism is handed the sums of several records at once.

    They are a table and what its row becomes on either side. Hundreds of pairs share a table: each
    is made when it is asked for, since many arms would not fit into memory otherwise.
    """

    table: Floats
    row: int
    before: Floats
    after: Floats
    label: str
    block: int = 1

    @property
    def a(self) -> Floats:
        return self._with(self.before)

    @property
    def b(self) -> Floats:
        return self._with(self.after)

    @property
    def rounds(self) -> int:
        return len(self.table)

    def _with(self, row: Floats) -> Floats:
        table = self.table.copy()
        table[self.row] = np.where(np.isnan(row), table[self.row], row)
        return table.reshape(-1, self.block, table.shape[1]) if self.block > 1 else table


def backgrounds(arms: int, rounds: int) -> dict[str, Floats]:
    """Shape (rounds, arms) each: all rewards alike, one good arm, good arms in turn, and rewards of
    all sizes as they fall.
    """
    rng = np.random.default_rng([arms, rounds])
    good = np.eye(arms)[0] if arms > 1 else np.array([0.5])
    return {
        "0": np.zeros((rounds, arms)),
        "1": np.ones((rounds, arms)),
        "1/2": np.full((rounds, arms), 0.5),
        "one good arm": np.tile(good, (rounds, 1)),
        "a last good arm": np.tile(good[::-1], (rounds, 1)),
        "0 and 1 at random": rng.integers(0, 2, (rounds, arms)).astype(float),
        "rewards of all sizes": rng.integers(0, 101, (rounds, arms)) / 100,
    }


def turns(arms: int, whole: bool, apart: bool = False) -> dict[str, tuple[Floats, Floats]]:
    """A row before and after. whole: several of its rewards are read, so that one may rise while
    the others fall. apart: each of its rewards is a record; NaN stands for those that stay.
    """
    if apart:
        return {
            f"{verb} at arm {at + 1}": (only(at, arms, high), only(at, arms, low))
            for at in sorted({0, arms - 1})
            for verb, (high, low) in MOVES.items()
        }
    ones = np.ones(arms)
    found = {verb: (high * ones, low * ones) for verb, (high, low) in MOVES.items()}
    if whole and arms > 1:
        for at in range(min(arms, 3)):
            good = np.eye(arms)[at]
            found[f"turns from arm {at + 1}"] = (good, 1 - good)
    return found


def only(at: int, arms: int, reward: float) -> Floats:
    return np.where(np.arange(arms) == at, reward, np.nan)


def neighbouring(
    arms: int,
    rounds: int,
    whole: bool,
    *,
    block: int = 1,
    rows: Sequence[int] | None = None,
    apart: bool = False,
) -> list[Neighbours]:
    """Every background with every row replaced in every way.

    apart: every reward is a record of its own: a mechanism is handed those of several arms at once.
    rows: of those, at most; by default all of a short table, of a longer one those at either end
        and the middle. block: records that a mechanism is handed at once; `rounds` is a multiple of
        it.
    """
    tables, blocks = backgrounds(arms, rounds), f", {block} a block" if block > 1 else ""
    return [
        Neighbours(
            table,
            row,
            before,
            after,
            f"{rounds} rounds of {name}{blocks}, round {row + 1} {verb}",
            block,
        )
        for row in rows or rows_of(rounds)
        for name, table in tables.items()
        for verb, (before, after) in turns(arms, whole, apart).items()
    ]


def counts_of_ones(arms: int, rounds: int) -> list[Neighbours]:
    """Every number of ones against one less: what is told of a count from some number on only, or
    up to it, shows at that number alone.
    """
    return [
        Neighbours(
            np.repeat(np.arange(rounds) < ones, arms).reshape(rounds, arms).astype(float),
            ones,
            np.ones(arms),
            np.zeros(arms),
            f"{rounds} rounds of 0 but {ones} of 1, round {ones + 1} falls",
            1,
        )
        for ones in rows_of(rounds)
    ]


def in_turn_with_another(arms: int, rounds: int) -> list[Neighbours]:
    """Pairs for two objects, one after the other, shape (2, rounds, arms): a record of the first
    one is replaced, and the second one sees rewards of 0. What code keeps from one object to the
    next shows in the second one's decisions. In an order without pattern.
    """
    after = np.zeros((rounds, arms))
    tables = {
        name: np.concatenate([table, after]) for name, table in backgrounds(arms, rounds).items()
    }
    found = [
        Neighbours(
            table,
            row,
            np.full(arms, high),
            np.full(arms, low),
            f"two objects in turn, {rounds} rounds of {name}, round {row + 1} {verb}",
            rounds,
        )
        for row in rows_of(rounds)
        for name, table in tables.items()
        for verb, (high, low) in MOVES.items()
    ]
    return [found[at] for at in np.random.default_rng(0).permutation(len(found))]


ALL_ROWS = 8


def rows_of(rounds: int) -> list[int]:
    if rounds <= ALL_ROWS:
        return list(range(rounds))
    return sorted({0, 1, 2, 3, rounds // 4, rounds // 2, rounds - 4, rounds - 2, rounds - 1})


SELDOM = 40
"""Short tapes that are tried for each long one of a length."""


def mixed(
    kinds: Sequence[Sequence[Neighbours]], late: Sequence[Sequence[Neighbours]] = ()
) -> list[Neighbours]:
    """All of them: one of each kind in turn, each kind in an order without pattern, of which two in
    three are whole moves.

    late: lists of longer tapes, the longest last; of each list one comes after every few others.
    """
    rng = np.random.default_rng(0)
    shuffled = [[kind[at] for at in rng.permutation(len(kind))] for kind in kinds]
    short, late = list(in_turn(*map(woven, shuffled))), [each for each in late if each]
    often = SELDOM // max(1, len(late))
    long = list(in_turn(*late))
    return [
        pair
        for at in range(max(len(short), often * len(long)))
        for pair in (
            *short[at : at + 1],
            *(long[at // often : at // often + 1] if at % often == often - 1 else ()),
        )
    ]


def late_tapes(arms: int, rounds: int, whole: bool, apart: bool = False) -> list[Neighbours]:
    """Few of them, long: whole moves of a record near the end, and of the first one."""
    wanted = ("of 0, ", "of rewards of all sizes, ")
    found = neighbouring(arms, rounds, whole, rows=[rounds - 8, 0], apart=apart)
    return [
        pair
        for pair in found
        if is_whole_table(pair.label)
        and "turns" not in pair.label
        and any(text in pair.label for text in wanted)
    ]


def woven(kind: list[Neighbours]) -> list[Neighbours]:
    whole = [is_whole_table(pair.label) for pair in kind]
    some, others = (
        [pair for pair, yes in zip(kind, whole, strict=True) if yes is wanted]
        for wanted in (True, False)
    )
    return list(in_turn(some[::2], some[1::2], others))


def is_whole_table(label: str) -> bool:
    """Whether a whole reward moves."""
    return label.split(" at arm ")[0].endswith("falls") or "turns" in label


# Pairs of tables whose record moves between two rewards drawn by the seed. Code that heeds only a
# narrow band of rewards hides from fixed ones.


OFTEN = 8
"""After so many pairs one of them comes again with rewards that were drawn."""

GRID = 100
"""Steps of the grid of these rewards."""

GOLDEN = (5**0.5 - 1) / 2
"""Steps of this length around a circle leave no part of it out for long."""


def with_drawn_levels(pairs: Sequence[Neighbours], seed: int) -> list[Neighbours]:
    """All of them and some more, each with two rewards of its own."""
    rng = np.random.default_rng([seed, 345])
    falls = [pair for pair in pairs if "falls" in pair.label]
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


def between_levels(pair: Neighbours, one: float, other: float) -> Neighbours:
    """The same record, between two rewards of which the higher comes first."""
    high, low = max(one, other), min(one, other)
    before, after = (
        np.where(np.isnan(row), row, reward)
        for row, reward in ((pair.before, high), (pair.after, low))
    )
    verb, at, arm = pair.label.partition(" at arm ")
    label = f"{verb.partition(' falls')[0]} falls from {high:g} to {low:g}{at}{arm}"
    return pair._replace(before=before, after=after, label=label)
