"""A hash of code, so that what was found by the same code is not looked for again."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import grimp

LOCK = Path(__file__).parents[1] / "requirements.lock"


def digest_of(modules: Sequence[str], tables: Sequence[str] = (), asked: str = "") -> str:
    """Of these modules and of all that they import, directly or through others, and no more: a
    changed page or store keeps what was found. Of Python's version and the lock file, too.

    tables: modules that only list others of their package. Neither they nor what they list count,
    so that a changed policy leaves the others' reports. asked: anything else that was decided.
    """
    whole = hashlib.sha256(f"{asked}\n{sys.version_info[:2]}\n".encode())
    whole.update(LOCK.read_bytes())
    for module in sorted(imported_by(modules, tuple(tables))):
        whole.update(module.encode() + b"\n" + source_of(module))
    return whole.hexdigest()[:16]


def imported_by(modules: Sequence[str], tables: tuple[str, ...]) -> set[str]:
    """The modules themselves and all that they import."""
    upstream = map(graph_without(tables).find_upstream_modules, modules)
    return set(modules).union(*upstream) - set(tables)


def source_of(module: str) -> bytes:
    spec = importlib.util.find_spec(module)
    return Path(str(spec and spec.origin)).read_bytes()


@lru_cache(maxsize=4)
def graph_without(tables: tuple[str, ...]) -> Any:
    """Who imports whom, but for what the tables list."""
    graph = grimp.build_graph("dpbandits", "benchmarks", cache_dir=None)
    for table in tables:
        inside = graph.find_descendants(table)
        for listed in graph.find_modules_directly_imported_by(table) & inside:
            graph.remove_import(importer=table, imported=listed)
    return graph
