"""Contexts: what is known of a visitor before anything is decided. They are public data.

A context is a vector of `features` numbers whose Euclidean norm is at most 1. It is kept in whole
steps of 2^−20, rounded towards zero, so sums of contexts are exact and its norm stays at most 1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np

from dpbandits.core.errors import coded
from dpbandits.core.inputs import Floats, numbers, numbers_in, shown, whole_number

FINE = 2.0**20
"""Steps of a context's entry per unit."""

TOUCHES = 1e-9
"""A norm may be above 1 by so much: what rounding makes of a norm of 1."""

CONSTANT = 1e-12
"""A measured feature that varies by less than this share of its largest value is constant."""

MOST_FEATURES = 1_000

OUTCOMES = re.compile(
    r"(click|convert|conversion|purchas|bought|reward|outcome|response|answered|revenue|rating|"
    r"label|target|respon|success|subscri|sign_?up|feedback|engage|churn|ordered|opened|paid|sale|"
    r"sold|(^|_)(ctr|won|wins|liked)(_|$))",
    re.IGNORECASE,
)
"""Words in names of features that may carry recorded outcomes."""


def checked_features(features: object) -> tuple[int, tuple[str, ...] | None]:
    """How many features a context has, and their names if they have any.

    Raises:
        ValueError: neither a whole number nor names, each once.
    """
    if hasattr(features, "tolist"):  # an array, or a frame's columns
        features = features.tolist()
    if isinstance(features, (list, tuple)):
        fits = all(isinstance(n, str) and n.isprintable() and 0 < len(n) <= 200 for n in features)
        if not fits or not features or len(set(features)) < len(features):
            raise ValueError(
                f"Expected features={shown(features)} to be names of features, at least one and "
                "each once, or their number."
            )
        return whole_number(len(features), "features", 1, MOST_FEATURES), tuple(features)
    return whole_number(features, "features", 1, MOST_FEATURES), None


def names_of_outcomes(names: Sequence[str]) -> list[str]:
    """The names that sound like outcomes of earlier decisions.

    >>> names_of_outcomes(["age", "clicked_last_time"])
    ['clicked_last_time']
    """
    return [name for name in names if OUTCOMES.search(name)]


def refused_context(text: str) -> ValueError:
    return coded("context", ValueError, f"{text} No decision was made.")


def labels_of(table: Any) -> list[str] | None:
    """The names of a data frame's columns, or of a labelled row's numbers (a named tuple's fields);
    None without any.
    """
    found = getattr(table, "_fields" if isinstance(table, tuple) else "columns", None)
    found = getattr(table, "index", None) if found is None else found
    labels = [] if found is None or callable(found) else list(found)
    return labels if labels and all(isinstance(each, str) for each in labels) else None


def may_be_shown(column: str) -> bool:
    """Whether no word of a column's name begins with a digit: else it may stand in a first row, of
    a file without a header or with other separators.
    """
    return re.search(r"\b\d", column) is None


class TableRow(dict[str, float]):
    """A row of a table on its way to a campaign, by the columns' names. Whether the policy's
    features have names is known only there; without names it is read by place.
    """


def by_name(table: Any, names: Sequence[str] | None) -> Any:
    """An array of a data frame or of a labelled row, or arrays of a list of them, in the order of
    the features' names; anything else as it is. Features without names, and columns without them,
    are taken by their places.

    Raises:
        ValueError: other names.
    """
    if isinstance(table, (list, tuple)) and any(map(labels_of, table)):
        return [by_name(row, names) for row in table]
    labels = labels_of(table)
    if labels is None:
        return np.asarray(table) if hasattr(table, "columns") else table
    if names is not None and sorted(labels) != sorted(names):
        said = shown([each for each in labels[:8] if may_be_shown(each)])
        raise refused_context(f"Expected the columns {list(names[:8])}, each once, got {said}.")
    if names is None:
        return np.asarray(table)
    if isinstance(table, tuple):
        return np.asarray([getattr(table, name) for name in names])
    return np.asarray(table[list(names)])


def checked_context(
    context: object, features: int, names: Sequence[str] | None = None, clip: bool = False
) -> Floats:
    """One context, shape (features,), in whole steps of 2^−20.

    Args:
        context: numbers in a list or an array; or, where features have names, by their names.
        features: how many numbers are expected.
        names: the features' names.
        clip: whether a longer context is shortened to norm 1 instead of refused.

    Raises:
        ValueError: not so many finite numbers, or a norm above 1.
    """
    if type(context) is np.ndarray and context.dtype == np.float64 and context.ndim == 1:
        array = context
    else:
        array = _as_numbers(context, features, names)
    if array.shape != (features,):
        named = "" if names is None else f" ({', '.join(names[:8])}{', …' if features > 8 else ''})"
        raise refused_context(
            f"Expected context= to be a vector of {features} numbers{named}, one for each feature, "
            f"got shape {array.shape}."
        )
    square = float(np.vdot(array, array))
    if not square <= 1.0:
        array = _shortened(array, square, clip)
    steps = array * FINE
    np.trunc(steps, out=steps)
    steps /= FINE
    return steps


def _as_numbers(context: object, features: int, names: Sequence[str] | None) -> Floats:
    if context is None:
        raise refused_context(
            "Expected context=: this policy decides by what is known of each visitor, "
            f"ask(context=[…]) with {features} numbers."
        )
    if names is None and isinstance(context, TableRow):
        context = list(context.values())
    if isinstance(context, Mapping):
        if names is None:
            raise refused_context(
                "Expected context= to be a list of numbers: the policy's features have no names. "
                "Make it with features=['age', …] to give contexts by name. Of a data frame, send "
                "the numbers alone: frame.to_numpy()."
            )
        missing = [name for name in names if name not in context]
        unknown = [name for name in context if name not in names]
        if missing or unknown:
            error = refused_context(
                f"Expected context= to name each feature once; missing {missing[:8]}, unknown "
                f"{shown(unknown[:8])}."
            )
            error.missing = missing[:8]  # type: ignore[attr-defined]  # a server may send them
            raise error
        context = [context[name] for name in names]
    if type(context) not in (list, tuple):
        context = by_name(context, names)
    try:
        return numbers(context)
    except (TypeError, ValueError, OverflowError):
        pass
    raise refused_context(
        f"Expected context= to be {features} numbers in a list or an array, got an "
        f"object of type {type(context).__name__}: text, or with text or missing entries. Turn "
        "categories into 0 and 1, and fill in what is missing."
    )


def _shortened(array: Floats, square: float, clip: bool) -> Floats:
    """A context of norm 1 in place of a longer one."""
    if square < 1.0 + TOUCHES:
        return array * ((1.0 - 2.0**-40) / math.sqrt(square))
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        raise refused_context(
            f"Expected context= to be finite numbers; entry {bad[0]} (counted from 0) is "
            f"{array[bad[0]]}. Fill in what is missing before you ask."
        )
    norm = math.hypot(*array.tolist())
    if norm > 1.0 + TOUCHES and not clip:
        raise refused_context(
            f"Expected context= to have a Euclidean norm of at most 1, got {norm:.9g}. Scale all "
            "contexts by one public constant (dpbandits.UnitContexts does it), or make the policy "
            "with clip=True, which shortens longer ones."
        )
    largest = float(np.abs(array).max())  # its square may be too large for a float
    scaled = array / largest
    return scaled * ((1.0 - 2.0**-40) / float(np.linalg.norm(scaled)))


def checked_rows(
    contexts: object,
    features: int,
    what: str = "public_contexts",
    clip: bool = False,
    names: Sequence[str] | None = None,
) -> Floats:
    """Several contexts, shape (rows, features), each as `checked_context` has it.

    Raises:
        ValueError: not such rows.
    """
    if isinstance(contexts, Mapping):
        contexts = [contexts]
    if isinstance(contexts, (list, tuple)) and any(isinstance(row, Mapping) for row in contexts):
        contexts = [_as_numbers(row, features, names) for row in contexts]
    rows = numbers_in(by_name(contexts, names), what, secret=True)
    if rows.ndim != 2 or rows.shape[1] != features or len(rows) == 0:
        raise ValueError(
            f"Expected {what} to be rows of {features} numbers, one for each feature, got shape "
            f"{rows.shape}."
        )
    found = np.empty_like(rows)
    for at, row in enumerate(rows):
        try:
            found[at] = checked_context(row, features, None, clip)
        except ValueError as error:
            raise ValueError(f"Row {at} (counted from 0) of {what}: {error}") from None
    return found


@final
class UnitContexts:
    """Makes contexts of norm at most 1 out of features as they are measured, by public constants.

    Features are centred and scaled, turned to their main axes and evened out, and rows longer than
    nine in ten are shortened. A constant is put last, so that a linear law has an intercept. Fit it
    on public data: on rows without outcomes, never on recorded rewards.

    Args:
        features: rows of measured features, shape (rows, measured); at least 2 rows.
        keep: how many main axes are kept; by default all.

    >>> rows = np.random.default_rng(1).normal(size=(200, 6)) * [1, 2, 3, 4, 5, 6]
    >>> units = UnitContexts(rows, keep=4)
    >>> units(rows).shape, bool(np.linalg.norm(units(rows), axis=1).max() <= 1)
    ((200, 5), True)
    """

    def __init__(self, features: Any, keep: int | None = None) -> None:
        self.names = labels_of(features)
        rows = _measured(features)
        if len(rows) < 2:
            raise ValueError(
                f"Expected at least 2 rows of features to fit on, got shape {np.shape(features)}."
            )
        measured = rows.shape[1]
        kept = measured if keep is None else whole_number(keep, "keep", 1, measured)
        self.centre, spread = rows.mean(axis=0), rows.std(axis=0)
        # not by the spread: over many rows a mean is rounded, so that of a constant is not 0
        varies = np.ptp(rows, axis=0) > CONSTANT * np.abs(rows).max(axis=0)
        self.scale = np.where(varies, spread, 1.0)
        plain = (rows - self.centre) / self.scale
        values, axes = np.linalg.eigh(plain.T @ plain / len(plain))
        order = np.argsort(-values)[:kept]
        even = np.sqrt(values[order] + 0.05 * max(float(values.max()), 1e-12))
        self.axes = axes[:, order] / even
        self.length = max(float(np.quantile(np.linalg.norm(plain @ self.axes, axis=1), 0.9)), 1e-12)

    def __repr__(self) -> str:
        return f"UnitContexts(measured={len(self.centre)}, features={self.features})"

    @property
    def features(self) -> int:
        """Numbers in a context, the constant included."""
        return int(self.axes.shape[1]) + 1

    def __call__(self, features: Any) -> Floats:
        """Contexts of measured features: shape (rows, features), or (features,) of one row.

        Raises:
            ValueError: rows of another length, columns of other names than those it was fitted on,
                or numbers that are not finite.
        """
        features = by_name(features, getattr(self, "names", None))  # an older pickle has none
        rows = _measured(features)
        if rows.shape[1] != len(self.centre):
            raise ValueError(
                f"Expected rows of {len(self.centre)} measured features, as it was fitted on, got "
                f"{rows.shape[1]}."
            )
        turned = ((rows - self.centre) / self.scale) @ self.axes
        norms = np.linalg.norm(turned, axis=1)
        turned = turned / np.maximum(norms, self.length)[:, None]
        constant = np.full((len(rows), 1), math.sqrt(0.5))
        found = np.hstack((turned * math.sqrt(0.5), constant))
        found = np.trunc(found * (1.0 - 2.0**-40) * FINE) / FINE
        return found[0] if np.ndim(features) == 1 else found


def _measured(features: Any) -> Floats:
    rows = np.atleast_2d(numbers_in(features, "features", secret=True))
    if rows.ndim != 2 or 0 in rows.shape or not np.all(np.isfinite(rows)):
        raise ValueError(
            f"Expected features to be rows of finite numbers, got shape {rows.shape}"
            + ("" if np.all(np.isfinite(rows)) else " with numbers that are not finite")
            + "."
        )
    return rows
