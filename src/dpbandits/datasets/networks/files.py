"""Networks from files: RocketFuel's maps of internet providers and social networks as SNAP has
them, one edge a line, and roads in the TNTP format of "Transportation Networks for Research"
(Stabler, Bar-Gera and Sall), files *_net.tntp.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dpbandits.core.errors import DataError
from dpbandits.core.inputs import Floats
from dpbandits.datasets.files import Line, PathLike, existing, is_whole, numbered_lines
from dpbandits.datasets.networks.networks import Network, cost

NumberedFields = list[tuple[int, list[str]]]


def isp(path: PathLike) -> Network:
    """An internet provider's routers and links (RocketFuel; Mahajan, Spring, Wetherall and Anderson
    2002), undirected.

    The cost is the inferred latency in milliseconds. The file lists a link in both directions;
    should they differ, the smaller latency counts. Of a map in several pieces the largest is kept,
    and `dropped` says how many nodes went.

    Args:
        path: a file ASN.latencies.intra: two router names (blanks are written as +) and the latency
            a line.

    Raises:
        DataError: the file is not such a map; the message says where.
    """
    name, rows = existing(path).name, split_fields(numbered_lines(path))
    for line, fields in rows:
        if len(fields) != 3:
            raise DataError(
                f"{name}, line {line}: expected two router names and a latency; found "
                f"{len(fields)} fields. Correct the line."
            )
    nodes = node_numbers(field for _, fields in rows for field in fields[:2])
    return undirected(
        name,
        nodes,
        rows,
        np.array([cost(fields[2], f"{name}, line {line}") for line, fields in rows]),
    ).connected()


def social(path: PathLike, directed: bool | None = None) -> Network:
    """A social network as SNAP and its followers write it; every cost is 1.

    Undirected, an edge listed twice counts once and loops are left out. Directed, the network is as
    listed, parallel edges and loops included, since the usual 1/indegree counts them; `simple()`
    leaves them out.

    Args:
        path: two node names a line; lines that begin with # or % are passed over. Where lines have
            a third field (NetHEPT's probabilities 1/indegree, which `indegree_probabilities`
            computes), a first line of two whole numbers says how many nodes, counted from 0, and
            how many lines there are.
        directed: by default only where lines have a third field.

    Raises:
        DataError: the file is not such a list; the message says where.
    """
    name = existing(path).name
    rows = split_fields((line, text) for line, text in numbered_lines(path) if text[0] not in "#%")
    width = len(rows[-1][1]) if rows else 0
    count = header(name, rows) if width == 3 and len(rows[0][1]) == 2 else None
    rows = rows if count is None else rows[1:]
    for line, fields in rows:
        if len(fields) != width or width not in (2, 3):
            raise DataError(
                f"{name}, line {line}: expected two node names, and on every line the same "
                "number of fields. Correct the line."
            )
    nodes = social_nodes(name, rows, count)
    ones = np.ones(len(rows))
    if directed is None:
        directed = width == 3
    return (
        Network(tuple(nodes), ends(nodes, rows), True, ones)
        if directed and rows
        else undirected(name, nodes, rows, ones)
    )


def header(name: str, rows: NumberedFields) -> int:
    """The number of nodes, from the first line."""
    line, fields = rows[0]
    if not all(is_whole(field) for field in fields) or int(fields[1]) != len(rows) - 1:
        raise DataError(
            f"{name}, line {line}: expected the numbers of nodes and of lines; {len(rows) - 1} "
            "lines follow. Fetch it again."
        )
    return int(fields[0])


def social_nodes(name: str, rows: NumberedFields, count: int | None) -> dict[str, int]:
    """Nodes by name: in the order of their numbers where all have one, else as they come."""
    if count is None:
        found = node_numbers(field for _, fields in rows for field in fields[:2])
        return (
            node_numbers(sorted(found, key=int))
            if all(is_whole(field) for field in found)
            else found
        )
    for line, fields in rows:
        if not all(is_whole(field) and int(field) < count for field in fields[:2]):
            raise DataError(
                f"{name}, line {line}: expected two nodes from 0 to {count - 1}, as the first "
                "line says. Correct the line."
            )
    return node_numbers(str(node) for node in range(count))


def undirected(name: str, nodes: dict[str, int], rows: NumberedFields, costs: Floats) -> Network:
    edges = ends(nodes, rows)
    if all(u == v for u, v in edges):
        raise DataError(f"{name} holds no edge between two nodes: expected one a line.")
    return Network(tuple(nodes), edges, False, costs).simple()


def ends(nodes: dict[str, int], rows: NumberedFields) -> tuple[tuple[int, int], ...]:
    return tuple((nodes[fields[0]], nodes[fields[1]]) for _, fields in rows)


def split_fields(content: Iterable[Line]) -> NumberedFields:
    return [(line, text.split()) for line, text in content]


def node_numbers(names: Iterable[str]) -> dict[str, int]:
    """Different names in the order they come, numbered from 0."""
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


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
    notes, table = split_notes(name, content)
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


def split_notes(name: str, content: list[Line]) -> tuple[dict[str, str], list[Line]]:
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
