"""Results as tables of polars or pandas, which are imported only when a table is requested; and
tables as text.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from importlib import import_module
from types import UnionType
from typing import (
    Any,
    ClassVar,
    Generic,
    Literal,
    TypeVar,
    Union,
    final,
    get_args,
    get_origin,
    get_type_hints,
)

from dpbandits.core.inputs import shown

INSTALL = {
    "polars": "pip install 'dpbandits[experiments]'",
    "pandas": "pip install pandas, or use to_polars()",
}


class Tabular(ABC):
    """Base class of results that can be converted to a table."""

    heads: ClassVar[Mapping[str, str]] = {"people": "rounds"}
    """What is shown in place of a column's name: people who come back have several rounds."""

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

    def _repr_html_(self) -> str:
        """Return the table for a notebook: its first rows, and what its text says below."""
        columns = self._columns()
        many = max(map(len, columns.values()), default=0)
        rows = zip(*(column[:SHOWN_ROWS] for column in columns.values()), strict=True)
        more = f"<p>{many:,} rows, of which the first {SHOWN_ROWS} are shown.</p>"
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._notes())
        heads = [self.heads.get(name, name) for name in columns]
        return html_table(heads, rows) + (more if many > SHOWN_ROWS else "") + notes

    def _notes(self) -> Sequence[str]:
        """Return what is said beside the table."""
        return ()


Row = TypeVar("Row")


class Rows(Tabular, Generic[Row]):
    """A table whose rows are named tuples of one kind, of an arm each; iterate over it.

    kind: the class of a row.
    """

    rows: tuple[Row, ...]
    kind: ClassVar[Any]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, label: str | int) -> Row:
        """A row, by its label or its place."""
        if not isinstance(label, str):
            return self.rows[label]
        known: dict[str, Row] = {getattr(row, "label", ""): row for row in self.rows}
        if label not in known:
            raise KeyError(f"Expected the label of {self._arms(list(known))}; got {shown(label)}.")
        return known[label]

    def _arms(self, labels: Sequence[str]) -> str:
        return f"an arm, of {', '.join(map(repr, labels[:10]))}"

    def _columns(self) -> "Columns":
        return in_columns(self.rows, self.kind)


NONE = type(None)

SHOWN_ROWS = 20
"""Rows of a table in a notebook."""


def html_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as HTML.

    >>> html_table(["arm", "mean"], [("<b>", 0.123456), ("c", None)])
    '<table><tr><th>arm</th><th>mean</th></tr><tr><td>&lt;b&gt;</td><td>0.1235</td></tr><tr><td>c</td><td></td></tr></table>'
    """
    cells = ["".join(f"<th>{escape(head)}</th>" for head in heads)]
    cells += ["".join(f"<td>{escape(cell_text(value))}</td>" for value in row) for row in rows]
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in cells)}</table>"


def cell_text(value: object) -> str:
    """Return a figure with four digits, and nothing for None."""
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


@final
class Columns(dict[str, list[Any]]):
    """Columns by name. types: what may stand in each, the likeliest first."""

    types: Mapping[str, tuple[type, ...]]


def in_columns(rows: Iterable[Any], row: Any) -> Columns:
    """Return named tuples as columns. `row` is their class, which names the columns even without
    rows, and types them.

    >>> from typing import NamedTuple
    >>> class Pair(NamedTuple):
    ...     x: int
    ...     y: int
    >>> in_columns([Pair(1, 2), Pair(3, 4)], Pair), in_columns([], Pair)
    ({'x': [1, 3], 'y': [2, 4]}, {'x': [], 'y': []})
    """
    listed = list(rows)
    found = Columns({name: [each[at] for each in listed] for at, name in enumerate(row._fields)})
    found.types = types_of(row)
    return found


def types_of(row: Any) -> dict[str, tuple[type, ...]]:
    """Return which types the fields of a class may have, the likeliest first.

    >>> from typing import NamedTuple
    >>> class Pair(NamedTuple):
    ...     x: int
    ...     y: float | None
    >>> types_of(Pair)
    {'x': (<class 'int'>,), 'y': (<class 'float'>, <class 'NoneType'>)}
    """
    return {name: plain_types(hint) for name, hint in get_type_hints(row).items()}


def plain_types(hint: Any) -> tuple[type, ...]:
    if get_origin(hint) in (Union, UnionType):
        return tuple(kind for each in get_args(hint) for kind in plain_types(each))
    kind = get_origin(hint) or hint
    return (kind,) if kind in (bool, int, float, str, tuple, NONE) else ()


def type_of(values: Sequence[Any], types: Sequence[type]) -> type | None:
    """Return the first of these types that all values have which are not None; None: none has."""
    known = [value for value in values if value is not None]
    for kind in types:
        allowed = (int, float) if kind is float else kind
        fits = (isinstance(value, allowed) for value in known)
        if kind not in (tuple, NONE) and all(fits):
            return kind
    return None


def frame_of(columns: Mapping[str, Any], library: Literal["polars", "pandas"]) -> Any:
    """Return a `DataFrame` of polars or pandas from columns by name.

    Raises:
        ImportError: the library is not installed; the message says how to install it.
    """
    try:
        module = import_module(library)
    except ImportError:
        raise ImportError(f"This table needs {library}: {INSTALL[library]}.") from None
    types: Mapping[str, tuple[type, ...]] = getattr(columns, "types", {})
    kinds = {name: type_of(columns[name], known) for name, known in types.items()}
    if library == "polars":
        kinds_there = {bool: "Boolean", int: "Int64", float: "Float64", str: "String"}
        fixed = {name: getattr(module, kinds_there[kind]) for name, kind in kinds.items() if kind}
        return module.DataFrame(dict(columns), schema_overrides=fixed)
    plain = {bool: ("bool", "boolean"), int: ("int64", "Int64")}
    other: dict[type, tuple[str, str]] = {float: ("float64",) * 2, str: ("object",) * 2}
    dtypes = {
        name: {**plain, **other}[kind][NONE in types[name]] for name, kind in kinds.items() if kind
    }
    return module.DataFrame(dict(columns)).astype(dtypes)


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
