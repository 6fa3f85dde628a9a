"""The joint law of the noise that is still inside released totals, as an array with an axis for
each live sum of draws.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, reduce
from typing import Any, NamedTuple

import numpy as np

from dpbandits.auditing.exact.probe import Draws
from dpbandits.core.errors import Unfit
from dpbandits.core.inputs import Floats

CUTS = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
"""Probability left out on each axis, coarse first. Every loss is stated with the error this
makes.
"""
LARGEST = 16_000_000
"""Points of a lattice."""


class Axis(NamedTuple):
    """One arm's noise draws that every answer still to come contains together or not at all.
    active: the newest answer does.
    """

    arm: int
    draws: tuple[int, ...]
    scales: tuple[Fraction, ...]
    active: bool
    cut: float

    @property
    def reach(self) -> int:
        return mass(tuple(sorted(self.scales)), self.cut)[1]


@cache
def single(scale: Fraction) -> Floats:
    """Mass of the discrete Laplace law of this scale (grid steps) on [−n, n], n far out in its
    tails.
    """
    reach = math.ceil(42 * scale) + 1  # e^-42 = 6e-19
    q = math.exp(-1 / scale)
    return np.asarray((1 - q) / (1 + q) * q ** np.abs(np.arange(-reach, reach + 1)))


@cache
def mass(scales: tuple[Fraction, ...], cut: float) -> tuple[Floats, int]:
    """The law of a sum of independent draws on [−n, n] and n, the smallest that leaves out at most
    `cut`.
    """
    law = reduce(np.convolve, [single(s) for s in scales])
    centre = len(law) // 2
    tails = 2 * np.cumsum(law)[:centre]  # both sides
    out = int(np.searchsorted(tails, cut, side="right"))
    return law[out : len(law) - out], centre - out


def axes_of(arm: int, draws: Draws, release: int, last: int, cut: float) -> list[Axis]:
    """The live axes after answer `release`, when answers up to `last` may follow (both counted from
    0).
    """
    rows = draws.inside[release : last + 1]
    groups: dict[tuple[int, ...], list[int]] = {}
    for i in range(draws.made[release]):
        groups.setdefault(tuple(row[i] for row in rows), []).append(i)
    return [
        Axis(arm, tuple(members), tuple(draws.scales[i] for i in members), bool(column[0]), cut)
        for column, members in groups.items()
        if any(column)
    ]


def carry(law: Floats, old: Sequence[Axis], new: Sequence[Axis]) -> Floats:
    """The law on the axes `new`: dead draws are summed out, merging ones added up, fresh ones enter
    independently. What falls off the lattice is missing in the result.
    """
    homes = [next((g for g in new if g.arm == a.arm and a.draws[0] in g.draws), None) for a in old]
    for at in reversed([i for i, home in enumerate(homes) if home is None]):
        law = law.sum(axis=at)
    kept = [(a, home) for a, home in zip(old, homes, strict=True) if home is not None]
    if math.prod([2 * g.reach + 1 for g in new]) > LARGEST:
        raise Unfit("more noise draws are alive at once than a lattice can hold; take fewer rounds")
    for place, group in enumerate(new):  # bring the group's axes to position `place`, as one axis
        members = [i for i, (_, home) in enumerate(kept) if home is group]
        known: set[int] = set()
        if members:
            law = np.moveaxis(law, members[0], place)
            kept.insert(place, kept.pop(members[0]))
            known = set(kept[place][0].draws)
            width = kept[place][0].reach
            for _ in members[1:]:
                at = next(i for i, (_, home) in enumerate(kept) if i > place and home is group)
                other = kept.pop(at)[0]
                law, width, known = (
                    added(law, place, at),
                    width + other.reach,
                    known | set(other.draws),
                )
        else:
            law, width = np.expand_dims(law, place), 0
            kept.insert(place, (group, group))
        fresh = tuple(
            sorted(s for i, s in zip(group.draws, group.scales, strict=True) if i not in known)
        )
        law = with_draws(law, place, width, fresh, group)
    return law


def added(law: Floats, at: int, other: int) -> Floats:
    """The law with axis `other` replaced: its variable is added to that of axis `at` (both centred
    at 0).
    """
    law = np.moveaxis(law, (other, at), (0, 1))
    sums = np.zeros((law.shape[0] + law.shape[1] - 1, *law.shape[2:]))
    for i, part in enumerate(law):
        sums[i : i + law.shape[1]] += part
    return np.moveaxis(sums, 0, at)


def with_draws(law: Floats, at: int, width: int, fresh: tuple[Fraction, ...], axis: Axis) -> Floats:
    """Independent draws added to the axis `at`, which runs over [−width, width] and afterwards over
    the reach of `axis`.
    """
    more = axis.reach - width
    if more < 0:
        law = law[(slice(None),) * at + (slice(-more, more),)]
    elif more:
        law = np.pad(law, [(more, more) if i == at else (0, 0) for i in range(law.ndim)])
    for scale in fresh:
        law = noised(law, at, scale)
    return law


def noised(law: Floats, at: int, scale: Fraction) -> Floats:
    """One draw added. Its law is that of the difference of two geometric ones, each a recursion of
    one term along the axis.
    """
    from scipy.signal import lfilter

    q = math.exp(-1 / scale)
    for _ in ("up", "down"):
        law = np.flip(lfilter([1 - q], [1, -q], law, axis=at), at)
    return law


def totals(axes: Sequence[Axis], exact: Sequence[int]) -> list[Any]:
    """Each arm's released total at every point of the lattice, as arrays that broadcast to its
    shape.
    """
    dims = len(axes)
    found: list[Any] = [np.full((1,) * dims, x) for x in exact]
    for i, axis in enumerate(axes):
        if axis.active:
            line = np.arange(-axis.reach, axis.reach + 1)
            found[axis.arm] = found[axis.arm] + line.reshape(
                [-1 if j == i else 1 for j in range(dims)]
            )
    return found
