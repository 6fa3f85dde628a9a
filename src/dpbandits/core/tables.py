"""Tables of a library that need not be installed: it is imported when a table is asked for, and by
its name, so that no import of ours needs it.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, Literal

INSTALL = {
    "polars": "pip install 'dpbandits[experiments]'",
    "pandas": "pip install pandas, or use to_polars()",
}


class Tabular(ABC):
    """What can be had as a table."""

    @abstractmethod
    def _columns(self) -> Mapping[str, Any]:
        """Names of columns, and a value a row each."""

    def to_polars(self) -> Any:
        """As a `polars.DataFrame`.

        Raises:
            ImportError: polars is not installed.
        """
        return frame_of(self._columns(), "polars")

    def to_pandas(self) -> Any:
        """As a `pandas.DataFrame`.

        Raises:
            ImportError: pandas is not installed.
        """
        return frame_of(self._columns(), "pandas")


def in_columns(rows: Iterable[Any], row: Any) -> dict[str, list[Any]]:
    """Named tuples as columns. row: their class, whose names stand there without a row, too.

    >>> from typing import NamedTuple
    >>> class Pair(NamedTuple):
    ...     x: int
    ...     y: int
    >>> in_columns([Pair(1, 2), Pair(3, 4)], Pair), in_columns([], Pair)
    ({'x': [1, 3], 'y': [2, 4]}, {'x': [], 'y': []})
    """
    listed = list(rows)
    return {name: [each[at] for each in listed] for at, name in enumerate(row._fields)}


def frame_of(columns: Mapping[str, Any], library: Literal["polars", "pandas"]) -> Any:
    """A `DataFrame` of polars or pandas. columns: names, and a value a row each.

    Raises:
        ImportError: the library is not installed; the message says how to install it.
    """
    try:
        module = import_module(library)
    except ImportError:
        raise ImportError(f"This table needs {library}: {INSTALL[library]}.") from None
    return module.DataFrame(dict(columns))
