"""Road networks in the TNTP format of "Transportation Networks for Research" (Stabler, Bar-Gera and
Sall): files *_net.tntp.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpbandits.core.errors import DataError
from dpbandits.datasets.files import PathLike, existing
from dpbandits.datasets.networks.networks import Network, cost
from dpbandits.datasets.reading.text_lines import Line, is_whole, numbered_lines

COLUMNS = ("init_node", "term_node", "free_flow_time")


class Road(NamedTuple):
    """A one-way link between two nodes, counted from 0, and its free-flow time in the file's
    unit.
    """

    start: int
    end: int
    time: float


def roads(path: PathLike) -> Network:
    """A road network, directed; the cost is the free-flow time (its unit is said in the data's own
    notes).

    The networks are published "for academic research purposes only": name the source.

    Args:
        path: metadata as `<NUMBER OF NODES> 24` up to `<END OF METADATA>`, a line `~ init_node
            term_node … ;` that names the columns, then one link a line, ended by a semicolon.

    Raises:
        DataError: the file is not such a network; the message says where.
    """
    name, content = existing(path).name, list(numbered_lines(path))
    notes, table = metadata(name, content)
    nodes, links = (
        whole_note(name, notes, "NUMBER OF NODES"),
        whole_note(name, notes, "NUMBER OF LINKS"),
    )
    zones = whole_note(name, notes, "FIRST THRU NODE") - 1 if "FIRST THRU NODE" in notes else 0
    found = link_rows(name, table, nodes)
    if len(found) != links:
        raise DataError(
            f"{name}: expected {links} links, as <NUMBER OF LINKS> says; found {len(found)}. "
            "Fetch the file again."
        )
    return Network(
        nodes=tuple(str(node) for node in range(1, nodes + 1)),
        edges=tuple((road.start, road.end) for road in found),
        directed=True,
        cost=np.array([road.time for road in found]),
        ends_only=tuple(range(min(zones, nodes))),
    )


def metadata(name: str, content: list[Line]) -> tuple[dict[str, str], list[Line]]:
    """The notes by name, and the lines after them."""
    notes: dict[str, str] = {}
    for at, (_, text) in enumerate(content):
        if text.startswith("<"):
            tag, _, value = text[1:].partition(">")
            if tag == "END OF METADATA":
                return notes, content[at + 1 :]
            notes[tag] = value.strip()
    raise DataError(
        f"{name}: expected a line <END OF METADATA>; there is none. Is this the *_net.tntp file?"
    )


def whole_note(name: str, notes: dict[str, str], tag: str) -> int:
    value = notes.get(tag, "")
    if not (is_whole(value) and int(value) >= 1):
        raise DataError(f"{name}: expected a line <{tag}> with a whole number of at least 1.")
    return int(value)


def link_rows(name: str, table: list[Line], nodes: int) -> list[Road]:
    """Every link, checked; the columns are where the line that begins with ~ says."""
    headers = [text for _, text in table if text.startswith("~")]
    columns = headers[0].lstrip("~").rstrip(";").split() if headers else []
    if not set(COLUMNS) <= set(columns):
        raise DataError(
            f"{name}: expected a line ~ that names the columns, {', '.join(COLUMNS)} among them."
        )
    start, end, time = (columns.index(column) for column in COLUMNS)
    found = []
    for line, text in table:
        if text.startswith("~"):
            continue
        place, fields = f"{name}, line {line}", text.split(";")[0].split()
        if not text.endswith(";") or len(fields) != len(columns):
            raise DataError(
                f"{place}: expected {len(columns)} fields and a semicolon; found {len(fields)} "
                "fields. Correct the line."
            )
        found.append(
            Road(
                node(fields[start], nodes, place),
                node(fields[end], nodes, place),
                cost(fields[time], place),
            )
        )
    return found


def node(field: str, nodes: int, place: str) -> int:
    if not (is_whole(field) and 1 <= int(field) <= nodes):
        raise DataError(f"{place}: expected a node from 1 to {nodes}. Correct the line.")
    return int(field) - 1
