"""Results as tables of polars or pandas, which are imported only when a table is requested; and
tables as text.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, Literal, final

INSTALL = {
    "polars": "pip install 'dpbandits[experiments]'",
    "pandas": "pip install pandas, or use to_polars()",
}


class Tabular(ABC):
    """Base class of results that can be converted to a table."""

    @abstractmethod
    def _columns(self) -> Mapping[str, Any]:
        """Return the columns by name, one value a row."""

    def to_polars(self) -> Any:
        """Return a `polars.DataFrame`.

        Raises:
            ImportError: polars is not installed.
        """
        return frame_of(self._columns(), "polars")

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame`.

        Raises:
            ImportError: pandas is not installed.
        """
        return frame_of(self._columns(), "pandas")


def in_columns(rows: Iterable[Any], row: Any) -> dict[str, list[Any]]:
    """Return named tuples as columns. `row` is their class, which names the columns even without
    rows.

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
    """Return a `DataFrame` of polars or pandas from columns by name.

    Raises:
        ImportError: the library is not installed; the message says how to install it.
    """
    try:
        module = import_module(library)
    except ImportError:
        raise ImportError(f"This table needs {library}: {INSTALL[library]}.") from None
    return module.DataFrame(dict(columns))


def aligned(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Return rows of cells as text in columns. The first `left` columns are flush left, the others
    flush right.

    >>> print(aligned([("arm", "people"), ("blue", "1,200")]))
    arm   people
    blue   1,200
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            cell.ljust(width) if at < left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "\n".join(map(str.rstrip, lines))


@final
class FigureTable(dict[str, float]):
    """A dict of figures by name that prints as a table, with a note beside each figure.

    >>> FigureTable({"mean": 31.6, "worst": 12_345.6}, "Regret", {"mean": "± 9.2"})
    Regret
    mean     31.6 ± 9.2
    worst  12,346
    """

    def __init__(
        self, figures: Mapping[str, float], title: str = "", notes: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(figures)
        self.title, self.notes = title, dict(notes or {})

    @classmethod
    def of_runs(cls, figures: Mapping[str, float], title: str, runs: int) -> "FigureTable":
        """Return figures over `runs` runs, with notes on how uncertain they are.

        The mean gets two standard errors. A quantile gets a note if fewer than ten runs lie above
        it.
        """
        rough = {
            name: f"of few runs: about {runs * share:g} lie above"
            for name, share in (("q99", 0.01), ("q999", 0.001))
            if runs * share < 10
        }
        mean = {"mean": f"± {2 * figures['error']:.2g} (two standard errors)"}
        return cls(figures, title, rough | (mean if runs > 1 else {}))

    def __repr__(self) -> str:
        table = aligned([(name, short_number(value)) for name, value in self.items()])
        notes = (self.notes.get(name, "") for name in self)
        lines = (
            f"{line} {note}".rstrip() for line, note in zip(table.split("\n"), notes, strict=True)
        )
        return "\n".join((self.title, *lines)) if self.title else "\n".join(lines)

    __str__ = __repr__


def short_number(value: float) -> str:
    """Format a number with four significant digits, or as a whole number from 1000 on.

    >>> short_number(12345.678), short_number(1.0), short_number(0.00012345)
    ('12,346', '1', '0.0001234')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
