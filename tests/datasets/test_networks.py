"""Networks: small files in each format, every way they can be broken, and the known sizes of the
real ones.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dpbandits.core.errors import DataError
from dpbandits.datasets.networks import Network, isp, roads, social
from tests.datasets import refuses, written

ROADS = """<NUMBER OF ZONES> 1\t\t
<NUMBER OF NODES> 4
<FIRST THRU NODE> 2
<NUMBER OF LINKS> 4
<ORIGINAL HEADER>~ \tTail\tHead\tFree Flow Time (min)\t;
<END OF METADATA>\t\t

~\tinit_node\tterm_node\tcapacity\tfree_flow_time\t;
\t1\t2\t9000\t1.5\t;
 \t2   \t3 \t9000.00 \t 0.0000 \t; 
\t2\t4\t9000\t6\t;
\t4\t1\t9000\t3\t;
"""  # noqa: W291
ISP = """New+York,+NY1 Paris2 7
Paris2 New+York,+NY1 7
Paris2 Lyon3 2
Lyon3 Paris2 1
Far1 Far2 5
Far2 Far1 5
"""
SOCIAL = "# a comment\n10 9\n9 2\n2 9\n2 2\n"
WEIGHTED = "4 5\n0 1 0.333333\n0 1 0.333333\n2 1 0.333333\n1 2 0.5\n2 2 0.5\n"


def net(where: Path, text: str, name: str = "net.txt") -> Path:
    return written(where, text, name)


def test_roads(tmp_path: Path) -> None:
    network = roads(net(tmp_path, ROADS))
    assert network.nodes == ("1", "2", "3", "4")
    assert network.edges == ((0, 1), (1, 2), (1, 3), (3, 0))
    assert network.directed
    assert network.cost.tolist() == [1.5, 0, 6, 3]
    assert network.ends_only == (0,)
    assert network.scaled_costs().tolist() == [0.25, 0, 1, 0.5]
    assert network.rewards().means.tolist() == [0.75, 1, 0, 0.5]
    assert repr(network) == "Network(nodes=4, edges=4, directed=True)"


def test_roads_may_be_compressed_and_lack_the_first_thru_node(tmp_path: Path) -> None:
    network = roads(net(tmp_path, ROADS.replace("<FIRST THRU NODE> 2\n", ""), "net.tntp.gz"))
    assert (network.ends_only, len(network.edges)) == ((), 4)


def test_isp_merges_directions_and_keeps_the_largest_piece(tmp_path: Path) -> None:
    network = isp(net(tmp_path, ISP))
    assert network.nodes == ("New+York,+NY1", "Paris2", "Lyon3")
    assert network.edges in (((0, 1), (1, 2)), ((0, 1), (2, 1)))
    assert network.cost.tolist() == [7, 1]  # of two latencies of one link the smaller
    assert (network.directed, network.dropped) == (False, 2)


def test_social_undirected(tmp_path: Path) -> None:
    network = social(net(tmp_path, SOCIAL))
    assert network.nodes == ("2", "9", "10")  # by number
    assert network.edges == ((2, 1), (1, 0))  # an edge once, no loop
    assert (network.directed, network.cost.tolist()) == (False, [1, 1])
    # names that are no numbers: as they come
    assert social(net(tmp_path, "b a\na c\n")).nodes == ("b", "a", "c")
    assert social(net(tmp_path, SOCIAL, "net.gz")).edges == network.edges


def test_social_directed_is_as_listed(tmp_path: Path) -> None:
    network = social(net(tmp_path, SOCIAL), directed=True)
    assert network.edges == ((2, 1), (1, 0), (0, 1), (0, 0))
    assert network.simple().edges == ((2, 1), (1, 0), (0, 1))


def test_social_with_probabilities(tmp_path: Path) -> None:
    network = social(net(tmp_path, WEIGHTED, "net.txt.gz"))
    # node 3 has no edge; the first line says it is there
    assert network.nodes == ("0", "1", "2", "3")
    assert network.directed
    assert network.indegree_probabilities().tolist() == [1 / 3, 1 / 3, 1 / 3, 1 / 2, 1 / 2]
    assert network.simple().edges == ((0, 1), (2, 1), (1, 2))
    assert network.simple().indegree_probabilities().tolist() == [1 / 2, 1 / 2, 1]
    assert network.connected().dropped == 1
    assert social(net(tmp_path, WEIGHTED), directed=False).edges == ((0, 1), (2, 1))


LINK = "\t2\t4\t9000\t6\t;"
BROKEN: list[tuple[Callable[[Path], Network], str, str, list[str]]] = [
    (
        roads,
        ROADS,
        LINK,
        [
            *("\t2\t4\t9000\t;", "\t2\t5\t9000\t6\t;", "\t0\t4\t9000\t6\t;", "\t2\tx\t9000\t6\t;"),
            *(LINK.replace("6", cost) for cost in ("-6", "nan", "inf", "fast")),
        ],
    ),
    (isp, ISP, "Paris2 Lyon3 2", ["Paris2 Lyon3", "Paris2 Lyon3 -2", "Paris2 Lyon3 ms"]),
    (social, SOCIAL, "2 9", ["2", "2 9 1"]),
    (social, SOCIAL, SOCIAL, ["a\nb\n"]),
    (social, WEIGHTED, "4 5", ["4 6", "four 5", "2 5"]),
]


@pytest.mark.parametrize(("read", "text", "old", "news"), BROKEN)
def test_a_broken_line_is_named(
    read: Callable[[Path], Network], text: str, old: str, news: list[str], tmp_path: Path
) -> None:
    path, line = net(tmp_path, text), text[: text.index(old)].count("\n") + 1
    for new in news:
        refuses(lambda: read(path), path, old, new, rf"net\.txt, line {line}: expected")


def test_a_network_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    path = net(tmp_path, ROADS)
    for old, new in (
        (LINK, ""),
        ("<NUMBER OF NODES> 4\n", ""),
        ("LINKS> 4", "LINKS> 0"),
        ("free_flow_time", "time"),
    ):
        refuses(lambda: roads(path), path, old, new, r"net\.txt: expected")
    for read, text in ((isp, ""), (isp, "a a 1\n"), (social, ""), (social, "# nothing\n")):
        with pytest.raises(DataError, match=r"net\.txt holds no edge"):
            read(net(tmp_path, text))


def test_a_network_of_ones_own_is_checked() -> None:
    def network(edges: tuple[tuple[int, int], ...], cost: tuple[float, ...]) -> Network:
        return Network(("a", "b"), edges, True, np.array(cost))

    assert network(((0, 1),), (0,)).scaled_costs().tolist() == [0]  # nothing costs anything
    for edges, cost, words in (
        ((), (), "at least one edge and a cost for each; got 0 edges"),
        (((0, 1),), (1, 2), r"got 1 edges and costs \(2,\)"),
        (((0, 2),), (1,), "two of the nodes 0 to 1"),
        (((-1, 0),), (1,), "two of the nodes 0 to 1"),
        (((0, 1),), (-1,), "that of edge 0 is -1"),
        (((0, 1),), (np.nan,), "that of edge 0 is nan"),
    ):
        with pytest.raises(ValueError, match=words):
            network(edges, cost)
