"""Sections of the papers' page that are written anew, while the others stay as they are."""

import re
from collections.abc import Mapping

from dpbandits.papers.overview import overview_table

Sections = dict[str, str]
"""Text by the key of its paper."""


def sections_of(page: str) -> tuple[str, Sections]:
    """What stands before the first section, and the sections.

    >>> sections_of("# Head\\n\\n## b2020: B\\n\\nsaid\\n\\n## c2021: C\\n")
    ('# Head\\n\\n', {'b2020': '## b2020: B\\n\\nsaid\\n', 'c2021': '## c2021: C\\n'})
    """
    head, *sections = re.split(r"^(?=## \w+: )", page, flags=re.MULTILINE)
    return head, {each[3 : each.index(":")]: each.rstrip("\n") + "\n" for each in sections}


def renewed_page(page: str, sections: Mapping[str, str], rows: Mapping[str, str]) -> str:
    """The page with these sections, and with these rows in the table of its head, in place of its
    own; the table's sums are made anew. A paper that it did not have gets its place by its key.

    Raises:
        ValueError: it is no page of papers, or its sections are not those of its table.
    """
    head, own = sections_of(page)
    table = re.search(r"^\| paper \|.*\n\|---.*\n((?:\| .*\n)+?)\| all \|.*\n", head, re.MULTILINE)
    known = table[1].splitlines() if table else []
    told = {line.split(" ")[1].rstrip(":"): line for line in known}
    if table is None or set(told) != set(own):
        raise ValueError(
            "Expected a page as `dpbandits papers --docs docs` writes it, whose table has a row "
            "for each section; this one was changed otherwise. Write it anew as a whole. Nothing "
            "was written."
        )
    head = head[: table.start()] + overview_table({**told, **rows}) + head[table.end() :]
    both = {**own, **sections}
    return "\n".join([head.rstrip("\n") + "\n", *(both[key] for key in sorted(both))])
