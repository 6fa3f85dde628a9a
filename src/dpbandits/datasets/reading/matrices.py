"""Any matrix of rewards from a file as a `Table`: CSV, Parquet or NumPy."""

import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.errors import DataError
from dpbandits.core.inputs import LARGEST_SEED, shown, whole_number
from dpbandits.datasets.files import PathLike, existing, zip_plausible
from dpbandits.datasets.reading.columns import REWARD, ColumnKind, read_chosen
from dpbandits.environments.tables import Table

FORMATS = (".csv", ".csv.gz", ".parquet", ".npy", ".npz")


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
                f"Expected no arms= for {file.name}: a NumPy matrix has no column names. Choose "
                "columns before saving it."
            )
        matrix = numpy_matrix(file)
    else:
        matrix = named_matrix(file, arms)
    try:
        return Table(shuffled(matrix, seed), resample=resample)
    except ValueError as error:
        raise DataError(f"{file.name}: {error}") from None


def shuffled(matrix: NDArray[Any], seed: int | None) -> NDArray[Any]:
    """The rows in an order drawn from the seed; None: as they are."""
    if seed is None:
        return matrix
    return np.random.default_rng(whole_number(seed, "seed", 0, LARGEST_SEED)).permutation(matrix)


def named_matrix(file: Path, arms: Sequence[str] | None) -> NDArray[np.float64]:
    names: list[str] = []
    if arms is not None and (isinstance(arms, str) or not arms or len(set(arms)) < len(arms)):
        raise ValueError(
            f"Expected arms={shown(arms)} to be a list of different column names, at least one; "
            "or leave it out for all."
        )

    def choose(header: list[str]) -> Mapping[str, ColumnKind]:
        if all(is_number(name) for name in header):
            raise DataError(
                f"Expected the first line of {file.name} to name the arms; it holds numbers. Add "
                "a header line."
            )
        names.extend(header if arms is None else arms)
        return dict.fromkeys(names, REWARD)

    rows = read_chosen(file, choose)
    return np.stack([rows[name] for name in names], axis=1)


def numpy_matrix(file: Path) -> NDArray[Any]:
    try:
        if zipfile.is_zipfile(file):
            zip_plausible(file)
        with file.open("rb") as stream:
            loaded = np.load(stream, allow_pickle=False)
            arrays = (
                [loaded[name] for name in loaded.files]
                if isinstance(loaded, np.lib.npyio.NpzFile)
                else [loaded]
            )
    except DataError:
        raise
    except (
        ValueError,
        EOFError,
        OSError,
        OverflowError,
        MemoryError,
        zipfile.BadZipFile,
        zlib.error,
    ):
        raise DataError(
            f"{file.name} is no NumPy file of numbers that can be read: it is damaged, cut "
            "short, or holds objects."
        ) from None
    if len(arrays) != 1:
        raise DataError(
            f"Expected one array in {file.name}, found {len(arrays)}. Save the reward matrix alone."
        )
    if arrays[0].dtype.kind not in "biuf":
        raise DataError(f"Expected {file.name} to hold numbers, found dtype {arrays[0].dtype}.")
    return arrays[0]


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
