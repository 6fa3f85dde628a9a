"""Tables of a paper's section beside its figures."""

from collections.abc import Sequence
from typing import NamedTuple


class PageTable(NamedTuple):
    """caption: what it shows. columns: names. rows: as many cells as columns each."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def table_lines(table: PageTable) -> list[str]:
    """In Markdown, the caption below."""
    lines = [table.columns, ["---"] * len(table.columns), *table.rows]
    texts = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
    return [*texts, "", f"*{table.caption}*", ""]
