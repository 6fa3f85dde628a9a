"""Small pieces of HTML. Every text is escaped here and nowhere else."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from dpbandits.reports.comparison import Column


def paragraph(text: str, kind: str = "") -> str:
    return f"<p{css(kind)}>{escape(text)}</p>" if text else ""


class Picture(NamedTuple):
    """One figure as SVG files: wide for a desk, narrow for a phone."""

    wide: Path
    narrow: Path
    caption: str


def figure(picture: Picture, alt: str) -> str:
    """The pictures themselves are in the page: one file to keep or to send. The browser takes the
    one that its screen has room for.
    """
    return (
        f'<figure><picture><source media="(max-width: 40rem)" srcset="{data_uri(picture.narrow)}">'
        f'<img alt="{escape(alt)}" '
        f'src="{data_uri(picture.wide)}"></picture>\n<figcaption>{escape(picture.caption)}</figcaption></figure>'
    )


def data_uri(svg: Path) -> str:
    return f"data:image/svg+xml;base64,{b64encode(svg.read_bytes()).decode()}"


def html_table(
    columns: Sequence[Column], rows: Iterable[Sequence[str]], plain: Sequence[bool] = ()
) -> str:
    """A table whose first column is its rows' heading. plain: rows to set back (policies without
    privacy).
    """
    head = "".join(
        f'<th scope="col"{css(kind(c))} title="{escape(c.meaning)}">{escape(c.title)}</th>'
        for c in columns
    )
    lines = [f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>"]
    for i, row in enumerate(rows):
        cells = "".join(
            f"<td{css(kind(c))}>{escape(text)}</td>"
            for c, text in zip(columns[1:], row[1:], strict=True)
        )
        back = css("plain") if i < len(plain) and plain[i] else ""
        lines.append(f'<tr{back}><th scope="row">{escape(row[0])}</th>{cells}</tr>')
    return "\n".join([*lines, "</tbody>\n</table>"])


def details(summary: str, body: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>\n{body}\n</details>"


def items(texts: Iterable[str]) -> str:
    return "\n".join(f"<li>{escape(text)}</li>" for text in texts)


def definitions(columns: Iterable[Column]) -> str:
    return "\n".join(f"<dt>{escape(c.title)}</dt><dd>{escape(c.meaning)}</dd>" for c in columns)


def kind(column: Column) -> str:
    return "number" if column.number else ""


def css(name: str) -> str:
    return f' class="{name}"' if name else ""
