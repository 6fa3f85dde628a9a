"""How oracles read their arguments: weights, whole numbers, exact numbers and labels."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbandits.core.arrays import Floats, Places
from dpbandits.core.inputs import as_int, instead, numbers_in, shown
from dpbandits.core.privacy import LARGEST, read_exactly

SuperArm: TypeAlias = tuple[int, ...]  # a super arm: its base arms, sorted
Label: TypeAlias = int | str  # the name of a node
Edge: TypeAlias = tuple[Label, Label]


def checked_weights(weights: ArrayLike, arms: int, what: str = "weights") -> Floats:
    """One finite number an arm, shape (arms,).

    >>> checked_weights([1, 2, float("nan")], 3)
    Traceback (most recent call last):
    ValueError: Expected weights[2]=nan to be a finite number.
    """
    array = numbers_in(weights, what)
    if array.shape != (arms,):
        raise ValueError(
            f"Expected {what} of shape ({arms},), one number an arm; got shape {array.shape}."
        )
    if not np.isfinite(array).all():
        bad = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(f"Expected {what}[{bad}]={array[bad]} to be a finite number.")
    return array


def checked_probabilities(means: Floats) -> Floats:
    """Means that are probabilities: if the value of a super arm is a probability, no other means
    make sense.
    """
    bad = np.flatnonzero((means < 0) | (means > 1))
    if len(bad):
        raise ValueError(
            f"Expected means[{bad[0]}]={means[bad[0]]} to lie in [0, 1]: it is a probability here."
        )
    return means


def bounded_whole(value: SupportsIndex, what: str, least: int, most: int | None = None) -> int:
    """A whole number within bounds.

    >>> bounded_whole(-1, "capacity[2]", 0)
    Traceback (most recent call last):
    ValueError: Expected capacity[2]=-1 to be >= 0.
    """
    number = as_int(value)
    if number is None:
        raise ValueError(
            f"Expected {what}={shown(value)} to be a whole number{instead(value, what)}."
        )
    if number < least:
        raise ValueError(f"Expected {what}={number} to be >= {least}.")
    if most is not None and number > most:
        raise ValueError(f"Expected {what}={number} to be <= {most}.")
    return number


def checked_label(value: Any, what: str = "node") -> Label:
    """The name of a node or an element: a whole number or a string, so that it can be written to
    JSON and read again.
    """
    if isinstance(value, str):
        return str(value)
    if not isinstance(value, bool | np.bool_):
        try:
            return operator.index(value)
        except TypeError:
            pass
    raise ValueError(f"Expected {what} {value!r} to be a whole number or a string.")


def checked_edges(edges: Iterable[Sequence[Any]]) -> list[Edge]:
    """At least one edge, each a pair of node labels. The arm number of an edge is its place in the
    list.
    """
    rows: list[Any] = (
        edges.tolist()
        if isinstance(edges, np.ndarray)
        else listed(edges, "edges", "pairs of nodes")
    )
    for arm, row in enumerate(rows):
        if isinstance(row, str) or not isinstance(row, Sequence | np.ndarray) or len(row) != 2:
            raise ValueError(f"Expected edges[{arm}]={shown(row)} to be a pair of nodes.")
    if not rows:
        raise ValueError("Expected at least one edge, got none.")
    return [(checked_label(u), checked_label(v)) for u, v in rows]


def numbered(edges: Sequence[Edge], nodes: Sequence[Label] | None) -> dict[Label, int]:
    """Every node's number: its place in `nodes`, or in the order of first appearance in the edges.

    Raises:
        ValueError: `nodes` repeats a label, or an edge ends in a node that is not among them.
    """
    if nodes is None:
        return {
            node: i for i, node in enumerate(dict.fromkeys(node for edge in edges for node in edge))
        }
    index = {node: i for i, node in enumerate(nodes)}
    if len(index) < len(nodes):
        twice = next(node for i, node in enumerate(nodes) if index[node] != i)
        raise ValueError(f"Expected nodes to be distinct; {twice!r} comes twice.")
    for arm, edge in enumerate(edges):
        for node in edge:
            if node not in index:
                raise ValueError(
                    f"Expected edges[{arm}]={edge!r} to join known nodes; {node!r} is not in nodes."
                )
    return index


def checked_labels(nodes: Iterable[Any] | None) -> list[Label] | None:
    """The optional list of node labels."""
    return (
        None
        if nodes is None
        else [checked_label(node) for node in listed(nodes, "nodes", "whole numbers or strings")]
    )


def listed(values: Any, what: str, of: str) -> list[Any]:
    """The entries of a list, a tuple or anything else that can be gone through; text is no list.

    >>> listed(5, "blocks", "lists of arms")
    Traceback (most recent call last):
    ValueError: Expected blocks=5 to be a list of lists of arms.
    """
    if isinstance(values, Iterable) and not isinstance(values, str | bytes):
        return list(values)
    raise ValueError(f"Expected {what}={shown(values)} to be a list of {of}.")


def arms_of(rows: Any, what: str, arms: int | None = None) -> list[list[int]]:
    """Lists of arms, each below `arms` where that is given.

    >>> arms_of([[0, 1], 2], "blocks")
    Traceback (most recent call last):
    ValueError: Expected blocks[1]=2 to be a list of arms.
    """
    most = None if arms is None else arms - 1
    return [
        [
            bounded_whole(arm, f"arm in {what}[{i}]", 0, most)
            for arm in listed(row, f"{what}[{i}]", "arms")
        ]
        for i, row in enumerate(listed(rows, what, "lists of arms"))
    ]


def exact_number(value: Any, what: str = "value") -> Fraction:
    """A number read exactly, of at most 100 digits above and below the line; a float as the decimal
    it is written as.

    Exact arithmetic with much longer numbers takes minutes, and a few characters can spell them.

    >>> exact_number(0.1), exact_number("0.25"), exact_number("1/3"), exact_number(2)
    (Fraction(1, 10), Fraction(1, 4), Fraction(1, 3), Fraction(2, 1))
    """
    if isinstance(value, bool | np.bool_):  # an entry of a 0/1 matrix
        return Fraction(int(value))
    try:
        plain = repr(float(value)) if isinstance(value, float | np.floating) else value
        number = (
            read_exactly(plain)
            if isinstance(plain, int | Fraction) or short_exponent(str(plain))
            else None
        )
    except (ValueError, ZeroDivisionError, OverflowError):  # the last one of Decimal("Infinity")
        raise ValueError(f"Expected {what}={shown(value)} to be a finite number.") from None
    if number is None or max(abs(number.numerator), number.denominator) > LARGEST:
        raise ValueError(
            f"Expected {what} to be a number of at most 100 digits, and so its denominator. "
            "Round it, or scale all of them."
        )
    return number


def short_exponent(text: str) -> bool:
    """Whether a number's exponent has at most three digits: a few characters can spell a number of
    millions of digits.
    """
    return len(text.lower().partition("e")[2].lstrip("+-0")) <= 3


def sorted_arms(arms: Iterable[int] | NDArray[Any]) -> SuperArm:
    """A super arm as plain, sorted ints."""
    return tuple(np.sort(arms).tolist()) if isinstance(arms, np.ndarray) else tuple(sorted(arms))


def largest_first(weights: Floats) -> Places:
    """Arms from the heaviest to the lightest; equal weights in order of their numbers."""
    return np.argsort(-weights, kind="stable")


def shortened(value: Any) -> str:
    """Text for reprs and errors, with long lists cut."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]}...{text[-1]}"


def chunks(arms: int, k: int) -> tuple[SuperArm, ...]:
    """What the greedy cover is here: k arms after k, the last few filled up with the first ones."""
    starts = range(0, arms, k)
    return tuple(
        tuple(range(i, i + k)) if i + k <= arms else (*range(k - arms + i), *range(i, arms))
        for i in starts
    )
