"""Tables from files, read by polars and checked: named columns, and matrices of rewards.

Errors name the file, the row and the column, and show no value: it may be a reward.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.contexts import may_be_shown
from dpbandits.core.errors import DataError
from dpbandits.core.inputs import LARGEST_SEED, shown, whole_number
from dpbandits.environments.tables import Table

if TYPE_CHECKING:
    import polars as pl

PathLike = str | os.PathLike[str]
Kind = Literal["text", "whole", "reward", "positive"]
EXPECTED: dict[Kind, str] = {
    "text": "some text",
    "whole": "a whole number of at least 0",
    "reward": "a number in [0, 1]",
    "positive": "a finite number above 0",
}
FORMATS = (".csv", ".csv.gz", ".parquet", ".npy", ".npz")


def existing(path: PathLike, what: str = "file") -> Path:
    """The path of a file, or of a folder, that exists.

    Raises:
        TypeError: it is no path.
        FileNotFoundError: there is nothing.
        DataError: it is a file where a folder was expected, or the other way round.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"Expected a path such as 'data/rewards.csv', got {shown(path)}.")
    found = Path(path)
    if not found.exists():
        raise FileNotFoundError(f"Expected a {what} at {found}; there is none. Check the path.")
    if found.is_dir() is not (what == "folder"):
        other = "folder" if found.is_dir() else "file"
        raise DataError(f"Expected {found} to be a {what}; it is a {other}.")
    return found


def placed_lines(path: PathLike) -> list[tuple[str, str]]:
    """The lines that are not blank, each after its place, such as "a.txt, line 3". A file named .gz
    is unpacked; text that is not UTF-8 is read as Latin-1.
    """
    file = existing(path)
    data = file.read_bytes()
    try:
        data = gzip.decompress(data) if file.suffix == ".gz" else data
    except (OSError, EOFError):
        raise DataError(f"{file.name} is no gzip file that can be read. Fetch it again.") from None
    lines = enumerate(decoded(data).splitlines(), start=1)
    return [(f"{file.name}, line {at}", line.strip()) for at, line in lines if line.strip()]


def decoded(data: bytes) -> str:
    """Text as UTF-8; if it is not, as Latin-1, like files of the 1990s."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def is_whole(field: str) -> bool:
    """Whether it is a whole number of at least 0, of up to 18 digits."""
    return field.isascii() and field.isdigit() and len(field) <= 18


class Columns:
    """Checked columns of equal length, by name."""

    def __init__(self, file: str, arrays: dict[str, NDArray[Any]]) -> None:
        self.file, self.arrays = file, arrays

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values())))

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.arrays[name]

    def require(self, fine: NDArray[np.bool_], expected: str) -> None:
        """Raise for the first row that is not fine."""
        if not fine.all():
            raise DataError(
                f"{self.file}, row {int(fine.argmin()) + 1}: expected {expected}. Correct or drop "
                "the row."
            )


def read_columns(path: PathLike, kinds: Mapping[str, Kind]) -> Columns:
    """The named columns of a CSV or Parquet file with a header; other columns are ignored.

    Raises:
        DataError: the file is no such table, a column is missing, or a value is not of its kind.
    """
    file = existing(path)
    frame = read_frame(file)
    missing = [name for name in kinds if name not in frame.columns]
    if missing:
        names = [name for name in frame.columns if may_be_shown(name)]
        raise DataError(
            f"{file.name} lacks the columns {', '.join(missing)}; it has {', '.join(names[:20])}."
        )
    if frame.is_empty():
        raise DataError(f"{file.name} has a header and no rows.")
    arrays = {name: checked(frame, name, kind, file.name) for name, kind in kinds.items()}
    return Columns(file.name, arrays)


def read_frame(file: Path) -> pl.DataFrame:
    """A Parquet file, or a CSV file (also gzipped) all of whose columns are text."""
    import polars as pl

    try:
        if file.suffix == ".parquet":
            return pl.read_parquet(file)
        frame = pl.read_csv(file, infer_schema=False)
    except (pl.exceptions.PolarsError, OSError):
        raise DataError(
            f"{file.name} is no table that can be read: it is empty, damaged, cut short, not "
            "UTF-8, not parted by commas, or a row has more fields than the header."
        ) from None
    if any(name.endswith("_duplicated_0") for name in frame.columns):  # polars renames them
        raise DataError(f"{file.name} names a column twice; rename one of them.")
    return frame


def checked(frame: pl.DataFrame, name: str, kind: Kind, file: str) -> NDArray[Any]:
    """The column of this name as an array, if every value is of this kind."""
    import polars as pl

    dtype = {"text": pl.String(), "whole": pl.Int64()}.get(kind, pl.Float64())
    values = frame[name].cast(dtype, strict=False)
    if kind == "text":
        fine = values.str.strip_chars().str.len_chars() > 0
    elif kind == "positive":
        fine = (values > 0) & values.is_finite()
    else:
        fine = values.is_between(0, 1 if kind == "reward" else 2**62)
    wrong = (~fine.fill_null(False)).arg_true()
    if len(wrong):
        column = name if name and may_be_shown(name) else frame.get_column_index(name) + 1
        raise DataError(
            f"{file}, row {wrong[0] + 1}, column {column}: expected {EXPECTED[kind]}; what "
            "stands there (not shown) is not. Correct or drop it."
        )
    return values.to_numpy()


def table(
    path: PathLike,
    *,
    arms: Sequence[str] | None = None,
    seed: int | None = None,
    resample: bool = False,
) -> Table:
    """A matrix of rewards in [0, 1], one row a round (one person, say) and one column an arm.

    Args:
        path: .csv, .csv.gz or .parquet with a header that names the arms; .npy, or .npz with one
            array in it.
        arms: the columns to take, by name, where there is a header; all of them if not given.
        seed: shuffles the rows; by default they keep the file's order.
        resample: each round plays a random row (with replacement), for as long as you like.

    Raises:
        DataError: the file is not such a matrix; the message says where.
    """
    file = existing(path)
    if not file.name.endswith(FORMATS):
        raise DataError(f"Expected a file named {', '.join(FORMATS)}; got {file.name}.")
    if file.suffix in (".npy", ".npz"):
        if arms is not None:
            raise ValueError(
                f"Expected no arms= for {file.name}: a NumPy matrix has no column names."
            )
        names, matrix = None, numpy_matrix(file)
    else:
        names, matrix = named_matrix(file, arms)
    try:
        found = Table(shuffled(matrix, seed), resample=resample)
    except ValueError as error:
        raise DataError(f"{file.name}: {error}") from None
    found.columns = names
    return found


def shuffled(matrix: NDArray[Any], seed: int | None) -> NDArray[Any]:
    """The rows in an order drawn from the seed; None: as they are."""
    if seed is None:
        return matrix
    return np.random.default_rng(whole_number(seed, "seed", 0, LARGEST_SEED)).permutation(matrix)


def is_value(name: str) -> bool:
    """Whether this stands where a column's name should and is a number, or nothing."""
    try:
        float(name or 0)
    except ValueError:
        return False
    return True


def named_matrix(
    file: Path, arms: Sequence[str] | None
) -> tuple[list[str] | None, NDArray[np.float64]]:
    """The columns of a table: their names, and a matrix of them."""
    if arms is not None and (isinstance(arms, str) or not arms or len(set(arms)) < len(arms)):
        raise ValueError(
            f"Expected arms={shown(arms)} to be a list of different column names, at least one; "
            "or leave it out for all."
        )
    names = read_frame(file).columns
    if all(map(is_value, names)):
        raise DataError(f"Expected the first line of {file.name} to name the arms; it has numbers.")
    rows = read_columns(file, dict.fromkeys(arms or names, "reward"))
    return list(rows.arrays), np.stack(list(rows.arrays.values()), axis=1)


def numpy_matrix(file: Path) -> NDArray[Any]:
    """The one array of a NumPy file."""
    try:
        with file.open("rb") as stream:
            loaded = np.load(stream, allow_pickle=False)
            whole = isinstance(loaded, np.ndarray)
            arrays: list[NDArray[Any]] = (
                [loaded] if whole else [loaded[name] for name in loaded.files]
            )
    except Exception:  # of several libraries, and none says more than this
        raise DataError(
            f"{file.name} is no NumPy file of numbers that can be read: it is damaged, cut short, "
            "or holds objects."
        ) from None
    if len(arrays) != 1 or arrays[0].dtype.kind not in "biuf":
        raise DataError(f"Expected one array of numbers in {file.name}, the reward matrix alone.")
    return arrays[0]
