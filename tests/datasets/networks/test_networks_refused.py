"""Networks that are broken are refused in words."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dpbandits.core.errors import DataError
from dpbandits.datasets.networks.files import isp, roads, social
from dpbandits.datasets.networks.networks import Network
from tests.datasets.networks.test_networks import ISP, ROADS, SOCIAL, WEIGHTED, written

BROKEN: list[tuple[Callable[[Path], Network], str, str, str, str]] = [
    (
        roads,
        ROADS,
        "\t2\t4\t9000\t6\t;",
        "\t2\t4\t9000\t;",
        r"net\.txt, line 11: expected 4 fields and a semicolon; found 3 fields",
    ),
    (
        roads,
        ROADS,
        "\t2\t4\t9000\t6\t;",
        "\t2\t4\t9000\t6",
        "line 11: expected 4 fields and a semicolon",
    ),
    (
        roads,
        ROADS,
        "\t2\t4\t9000\t6\t;",
        "\t2\t5\t9000\t6\t;",
        "line 11: expected a node from 1 to 4",
    ),
    (
        roads,
        ROADS,
        "\t2\t4\t9000\t6\t;",
        "\t0\t4\t9000\t6\t;",
        "line 11: expected a node from 1 to 4",
    ),
    (roads, ROADS, "\t2\t4\t9000\t6\t;", "\t2\tx\t9000\t6\t;", "line 11: expected a node"),
    (
        roads,
        ROADS,
        "\t2\t4\t9000\t6\t;",
        "\t2\t4\t9000\t-6\t;",
        "line 11: expected the cost to be a finite number of at least 0",
    ),
    (roads, ROADS, "\t2\t4\t9000\t6\t;", "\t2\t4\t9000\tnan\t;", "line 11: expected the cost"),
    (roads, ROADS, "\t2\t4\t9000\t6\t;", "\t2\t4\t9000\tinf\t;", "line 11: expected the cost"),
    (roads, ROADS, "\t2\t4\t9000\t6\t;", "\t2\t4\t9000\tfast\t;", "line 11: expected the cost"),
    (
        roads,
        ROADS,
        "\t2\t4\t9000\t6\t;",
        "",
        "expected 4 links, as <NUMBER OF LINKS> says; found 3",
    ),
    (
        roads,
        ROADS,
        "<END OF METADATA>",
        "",
        r"expected a line <END OF METADATA>; there is none.*_net\.tntp",
    ),
    (
        roads,
        ROADS,
        "<NUMBER OF NODES> 4\n",
        "",
        "expected a line <NUMBER OF NODES> with a whole number",
    ),
    (
        roads,
        ROADS,
        "LINKS> 4",
        "LINKS> 0",
        "expected a line <NUMBER OF LINKS> with a whole number of at least 1",
    ),
    (
        roads,
        ROADS,
        "free_flow_time",
        "time",
        "expected a line ~ that names the columns, init_node, term_node, free_flow_time",
    ),
    (
        isp,
        ISP,
        "Paris2 Lyon3 2",
        "Paris2 Lyon3",
        r"net\.txt, line 3: expected two router names and a latency; found 2 fields",
    ),
    (
        isp,
        ISP,
        "Paris2 Lyon3 2",
        "Paris2 Lyon3 -2",
        "line 3: expected the cost to be a finite number of at least 0",
    ),
    (isp, ISP, "Paris2 Lyon3 2", "Paris2 Lyon3 ms", "line 3: expected the cost"),
    (isp, ISP, ISP, "", r"net\.txt holds no edge between two nodes"),
    (isp, ISP, ISP, "a a 1\n", "holds no edge between two nodes"),
    (social, SOCIAL, SOCIAL, "", r"net\.txt holds no edge between two nodes"),
    (social, SOCIAL, SOCIAL, "# nothing\n", "holds no edge"),
    (social, SOCIAL, "2 9", "2", "line 4: expected two node names"),
    (
        social,
        SOCIAL,
        "2 9",
        "2 9 1",
        "line 4: expected two node names, and on every line the same number of fields",
    ),
    (social, SOCIAL, SOCIAL, "a\nb\n", "line 1: expected two node names"),
    (
        social,
        WEIGHTED,
        "4 5",
        "4 6",
        "line 1: expected the numbers of nodes and of lines; 5 lines follow",
    ),
    (social, WEIGHTED, "4 5", "four 5", "line 1: expected the numbers"),
    (
        social,
        WEIGHTED,
        "4 5",
        "2 5",
        "line 4: expected two nodes from 0 to 1, as the first line says",
    ),
]


@pytest.mark.parametrize(("read", "text", "old", "new", "words"), BROKEN)
def test_broken_networks_are_refused_in_words(
    read: Callable[[Path], Network], text: str, old: str, new: str, words: str, tmp_path: Path
) -> None:
    assert text.count(old) == 1
    with pytest.raises(DataError, match=words):
        read(written(tmp_path, text.replace(old, new)))


def test_broken_files_are_refused_in_words(tmp_path: Path) -> None:
    whole = gzip.compress("".join(f"{i} {i * i % 997}\n" for i in range(1, 5_000)).encode())
    path = tmp_path / "net.gz"
    for content, words in (
        (whole[: len(whole) // 2], r"breaks off after line \d\d+"),
        (b"1 2\n", "no gzip file"),
    ):
        path.write_bytes(content)
        with pytest.raises(DataError, match=words):
            social(path)
    with pytest.raises(FileNotFoundError, match=r"Expected a file at .*nowhere"):
        roads(tmp_path / "nowhere")


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
