"""Networks of nodes and edges, whose edges are the arms: roads in the TNTP format of
"Transportation Networks for Research" (Stabler, Bar-Gera and Sall), RocketFuel's maps of internet
providers, and social networks as SNAP has them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.errors import DataError
from dpbandits.core.inputs import Floats
from dpbandits.datasets.tables import PathLike, existing, is_whole, placed_lines
from dpbandits.environments.laws import Bernoulli

Fields = list[tuple[str, list[str]]]
"""Of each line: where it is, file and number, and its fields."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Network:
    """Nodes by name, edges as pairs of node numbers (from, to), and what passing each edge costs.

    directed: an edge leads one way only. An undirected edge is listed once.
    cost: free-flow time, latency, or 1, in the file's unit; finite and at least 0; shape (edges,).
    ends_only: nodes where a trip may begin or end, but which no trip passes through (the zones of
        road networks).
    dropped: how many nodes of the file were left out.

    Raises:
        ValueError: no edges, an end that is no node, or a cost that is none.
    """

    nodes: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    directed: bool
    cost: Floats
    ends_only: tuple[int, ...] = ()
    dropped: int = 0

    def __post_init__(self) -> None:
        if not self.edges or self.cost.shape != (len(self.edges),):
            raise ValueError(
                f"Expected at least one edge and a cost for each; got {len(self.edges)} edges "
                f"and costs {self.cost.shape}."
            )
        if self.pairs.min() < 0 or self.pairs.max() >= len(self.nodes):
            raise ValueError(
                f"Expected every edge to join two of the nodes 0 to {len(self.nodes) - 1}."
            )
        bad = np.flatnonzero(~((self.cost >= 0) & np.isfinite(self.cost)))
        if len(bad):
            raise ValueError(
                f"Expected finite costs of at least 0; that of edge {bad[0]} is "
                f"{self.cost[bad[0]]}."
            )

    def __repr__(self) -> str:
        return (
            f"Network(nodes={len(self.nodes)}, edges={len(self.edges)}, directed={self.directed})"
        )

    @cached_property
    def pairs(self) -> NDArray[np.int64]:
        """The edges as an array, shape (edges, 2)."""
        return np.array(self.edges, np.int64)

    def scaled_costs(self) -> Floats:
        """Costs divided by the largest, in [0, 1], shape (edges,); all 0 if nothing costs
        anything.
        """
        return np.asarray(self.cost / (self.cost.max() or 1.0))

    def rewards(self) -> Bernoulli:
        """Every edge as an arm with mean reward 1 - scaled cost, so that a cheap edge is a good
        one.

        Mind that only super arms of equal size (spanning trees, not paths) rank the same by reward
        and by cost.
        """
        return Bernoulli(1 - self.scaled_costs())

    def indegree_probabilities(self) -> Floats:
        """For independent cascades: 1/(number of edges into the node the edge leads to), shape
        (edges,).

        Raises:
            ValueError: the network is undirected.
        """
        if not self.directed:
            raise ValueError(
                "Expected a directed network: take both_ways() of it, where every edge leads "
                "there and back."
            )
        heads = self.pairs[:, 1]
        return np.asarray(1 / np.bincount(heads)[heads])

    def both_ways(self) -> Network:
        """A directed network with every undirected edge there (in the same order) and then, in the
        second half, back.
        """
        if self.directed:
            return self
        back = tuple((v, u) for u, v in self.edges)
        return replace(self, edges=self.edges + back, directed=True, cost=np.tile(self.cost, 2))

    def simple(self) -> Network:
        """Without loops, and of edges that join the same nodes (the same way, if directed) only the
        cheapest.
        """
        kept: dict[tuple[int, int], int] = {}
        for edge, (u, v) in enumerate(self.edges):
            key = (u, v) if self.directed or u < v else (v, u)
            if u != v and (key not in kept or self.cost[edge] < self.cost[kept[key]]):
                kept[key] = edge
        return self.only(kept.values())

    def connected(self) -> Network:
        """The largest part in which every node can be reached (edges taken both ways); the first of
        the largest on a tie.
        """
        part = parts(len(self.nodes), self.edges)
        mine = part == np.bincount(part).argmax()
        numbers = np.cumsum(mine) - 1
        inside = [edge for edge, (u, _) in enumerate(self.edges) if mine[u]]
        return replace(
            self,
            nodes=tuple(name for name, stays in zip(self.nodes, mine, strict=True) if stays),
            edges=tuple(
                (int(numbers[u]), int(numbers[v])) for u, v in (self.edges[edge] for edge in inside)
            ),
            cost=self.cost[inside],
            ends_only=tuple(int(numbers[node]) for node in self.ends_only if mine[node]),
            dropped=self.dropped + int((~mine).sum()),
        )

    def trip(self, source: str, target: str) -> Network:
        """Without the edges of `ends_only` nodes at which a trip from source to target neither
        begins nor ends.

        Args:
            source: name of a node.
            target: name of another one.
        """
        closed = {node for node in self.ends_only if self.nodes[node] not in (source, target)}
        return self.only(e for e, edge in enumerate(self.edges) if closed.isdisjoint(edge))

    def only(self, edges: Iterable[int]) -> Network:
        """All nodes, and some edges.

        Args:
            edges: their numbers, in the order in which they are kept.
        """
        chosen = list(edges)
        return replace(self, edges=tuple(self.edges[e] for e in chosen), cost=self.cost[chosen])


def parts(nodes: int, edges: Iterable[tuple[int, int]]) -> NDArray[np.int64]:
    """Number of the connected part each node is in, counted from 0 by the parts' first nodes, shape
    (nodes,).
    """
    from scipy.sparse import coo_array  # slow to import, rarely needed
    from scipy.sparse.csgraph import connected_components

    ends = np.array(list(edges), np.int64).reshape(-1, 2)
    graph = coo_array((np.ones(len(ends)), ends.T), shape=(nodes, nodes))
    _, found = connected_components(graph, directed=False)
    return np.asarray(found, np.int64)


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
    rows = fields_of(path)
    require_width(rows, 3, "two router names and a latency")
    costs = np.array([cost(fields[2], place) for place, fields in rows])
    return undirected(path, node_numbers(rows), rows, costs).connected()


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
    rows = [row for row in fields_of(path) if row[1][0][0] not in "#%"]
    width = len(rows[-1][1]) if rows else 2
    if width == 3 and len(rows[0][1]) == 2:
        (place, head), *rows = rows
        count, lines = (int(field) if is_whole(field) else 0 for field in head)
        nodes = {str(node): node for node in range(count)}
        if lines != len(rows) or not all(f in nodes for _, row in rows for f in row[:2]):
            raise DataError(
                f"{place}: expected the numbers of nodes and of lines; {len(rows)} lines follow, "
                "whose nodes are numbered from 0."
            )
    else:
        nodes = node_numbers(rows)
        if all(map(is_whole, nodes)):
            nodes = {name: at for at, name in enumerate(sorted(nodes, key=int))}
    require_width(rows, 3 if width == 3 else 2, "two node names")
    if rows and (width == 3 if directed is None else directed):
        return Network(tuple(nodes), ends(nodes, rows), True, np.ones(len(rows)))
    return undirected(path, nodes, rows, np.ones(len(rows)))


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
    name, lines = existing(path).name, placed_lines(path)
    notes = dict(text[1:].split(">", 1) for _, text in lines if text[0] == "<" and ">" in text)
    counts = {tag: notes.get(f"NUMBER OF {tag}", "").strip() for tag in ("NODES", "LINKS")}
    heads = [text.lstrip("~").rstrip("; ").split() for _, text in lines if text[0] == "~"]
    wanted = ("init_node", "term_node", "free_flow_time")
    if not (all(map(is_whole, counts.values())) and heads and {*wanted} <= {*heads[0]}):
        raise DataError(
            f"{name}: expected lines <NUMBER OF NODES> and <NUMBER OF LINKS> with whole numbers, "
            f"and a line ~ with the columns {', '.join(wanted)}. Is this the *_net.tntp file?"
        )
    rows = [(place, text.split(";")[0].split()) for place, text in lines if text[0] not in "<~"]
    require_width(rows, len(heads[0]), "a link ended by a semicolon")
    if len(rows) != int(counts["LINKS"]):
        raise DataError(
            f"{name}: expected {counts['LINKS']} links, as <NUMBER OF LINKS> says; found "
            f"{len(rows)}. Fetch the file again."
        )
    start, end, time = (heads[0].index(column) for column in wanted)
    nodes = {str(node + 1): node for node in range(int(counts["NODES"]))}
    for place, fields in rows:
        if fields[start] not in nodes or fields[end] not in nodes:
            raise DataError(f"{place}: expected nodes from 1 to {len(nodes)}. Correct the line.")
    first = notes.get("FIRST THRU NODE", "1").strip()
    zones = int(first) - 1 if is_whole(first) else 0
    return Network(
        nodes=tuple(nodes),
        edges=tuple((nodes[fields[start]], nodes[fields[end]]) for _, fields in rows),
        directed=True,
        cost=np.array([cost(fields[time], place) for place, fields in rows]),
        ends_only=tuple(range(min(zones, len(nodes)))),
    )


def fields_of(path: PathLike) -> Fields:
    """The fields of every line, which blanks separate."""
    return [(place, text.split()) for place, text in placed_lines(path)]


def require_width(rows: Fields, width: int, what: str) -> None:
    """Every line has so many fields."""
    for place, fields in rows:
        if len(fields) != width:
            raise DataError(
                f"{place}: expected {what}, {width} fields; found {len(fields)}. Correct the line."
            )


def node_numbers(rows: Fields) -> dict[str, int]:
    """The names in the first two fields, in the order they come, numbered from 0."""
    names = dict.fromkeys(field for _, fields in rows for field in fields[:2])
    return {name: number for number, name in enumerate(names)}


def ends(nodes: dict[str, int], rows: Fields) -> tuple[tuple[int, int], ...]:
    """Edges as pairs of node numbers."""
    return tuple((nodes[fields[0]], nodes[fields[1]]) for _, fields in rows)


def undirected(path: PathLike, nodes: dict[str, int], rows: Fields, costs: Floats) -> Network:
    """A network without loops, each edge once."""
    edges = ends(nodes, rows)
    if all(u == v for u, v in edges):
        raise DataError(f"{existing(path).name} holds no edge between two nodes.")
    return Network(tuple(nodes), edges, False, costs).simple()


def cost(field: str, place: str) -> float:
    """A number in a file that can be a cost. place: file and line."""
    try:
        number = float(field)
    except ValueError:
        number = float("nan")
    if not 0 <= number < float("inf"):
        raise DataError(f"{place}: expected the cost to be a finite number of at least 0.")
    return number
