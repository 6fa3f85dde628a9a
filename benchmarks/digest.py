"""A hash of code, so that what was found by the same code is not looked for again."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path

import grimp


def digest_of(modules: Sequence[str]) -> str:
    """Of these modules and of all that they import, directly or through others, and no more: a
    changed page or store keeps what was found.
    """
    graph = grimp.build_graph("dpbandits", "benchmarks", cache_dir=None)
    whole = hashlib.sha256()
    for module in sorted(set(modules).union(*map(graph.find_upstream_modules, modules))):
        spec = importlib.util.find_spec(module)
        file = Path(str(spec and spec.origin))
        whole.update(module.encode() + b"\n" + file.read_bytes())
    return whole.hexdigest()[:16]
