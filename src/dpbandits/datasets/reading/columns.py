"""Named columns of a data file, every value checked; an error names the file, the place and the
column.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.errors import DataError
from dpbandits.datasets.files import PathLike, existing, is_parquet, is_whole, rows


class ColumnKind(NamedTuple):
    """What a column's values must be. holds: whether a field is such a value (where it raises
    ValueError, it is none).
    """

    what: str
    dtype: type
    holds: Callable[[str], bool]
    read: Callable[[str], Any]


TEXT = ColumnKind("some text", np.object_, lambda field: bool(field.strip()), str)
WHOLE_NUMBER = ColumnKind("a whole number of at least 0", np.int64, is_whole, int)
REWARD = ColumnKind("a number in [0, 1]", np.float64, lambda field: 0 <= float(field) <= 1, float)
POSITIVE = ColumnKind(
    "a finite number above 0", np.float64, lambda field: 0 < float(field) < math.inf, float
)


class Columns:
    """Checked columns of equal length, by name."""

    def __init__(
        self, file: str, unit: str, places: list[int], arrays: dict[str, NDArray[Any]]
    ) -> None:
        self._file, self._unit, self._places, self._arrays = file, unit, places, arrays

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._arrays[name]

    def require(self, fine: NDArray[np.bool_], expected: str) -> None:
        """Raise for the first row that is not fine."""
        bad = np.flatnonzero(~fine)
        if len(bad):
            raise DataError(
                f"{self._file}, {self._unit} {self._places[bad[0]]}: expected {expected}. "
                "Correct or drop the row."
            )


def read_columns(path: PathLike, kinds: Mapping[str, ColumnKind]) -> Columns:
    """The named columns of a CSV or Parquet file with a header; other columns are ignored."""
    return read_chosen(path, lambda header: kinds)


def read_chosen(path: PathLike, choose: Callable[[list[str]], Mapping[str, ColumnKind]]) -> Columns:
    """`read_columns`, if the header decides which columns there are."""
    file = existing(path)
    unit = "row" if is_parquet(file) else "line"
    source = rows(file)
    header = next(source, (0, []))[1]
    if not header:
        raise DataError(
            f"{file.name} is empty: expected a header line that names the columns, then one line "
            "a row."
        )
    kinds = choose(header)
    at = column_places(file.name, header, kinds)
    lists: dict[str, list[Any]] = {name: [] for name in kinds}
    places: list[int] = []
    for place, fields in source:
        parse_row(f"{file.name}, {unit} {place}", fields, len(header), kinds, at, lists)
        places.append(place)
    if not places:
        raise DataError(f"{file.name} has a header and no rows.")
    return Columns(
        file.name,
        unit,
        places,
        {name: np.array(lists[name], dtype=kind.dtype) for name, kind in kinds.items()},
    )


def column_places(file: str, header: list[str], kinds: Mapping[str, ColumnKind]) -> dict[str, int]:
    """The place of each wanted column."""
    missing = [name for name in kinds if name not in header]
    if missing:
        found = ", ".join(name or "(no name)" for name in header[:20]) + (
            ", …" if len(header) > 20 else ""
        )
        raise DataError(
            f"{file} lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)}; it has "
            f"{found}."
        )
    twice = [name for name in kinds if header.count(name) > 1]
    if twice:
        raise DataError(f"{file} names the column {twice[0]} twice; rename one of them.")
    return {name: header.index(name) for name in kinds}


def parse_row(
    place: str,
    fields: list[str],
    width: int,
    kinds: Mapping[str, ColumnKind],
    at: Mapping[str, int],
    lists: dict[str, list[Any]],
) -> None:
    """Append one row's wanted values to the lists."""
    if len(fields) != width:
        raise DataError(f"{place}: expected {width} fields, as in the header; found {len(fields)}.")
    for name, kind in kinds.items():
        try:
            field = fields[at[name]]
            if not kind.holds(field):
                raise ValueError
            lists[name].append(kind.read(field))
        except ValueError:
            raise DataError(
                f"{place}, column {name}: expected {kind.what}; what stands there (not shown) is "
                "not. Correct or drop it."
            ) from None
