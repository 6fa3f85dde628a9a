"""How the simulator compiles: the policies' own scalar formulas, jitted as they stand, and a cache
that cannot go stale.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numba

from dpbandits.policies.bandit import cumulative, noise_aware
from dpbandits.policies.experts import leaders as experts
from dpbandits.policies.formulas import bars, divergences, indices, pooling, thresholds, top_two
from dpbandits.policies.identification import elimination


def cache_folder() -> str:
    """A cache folder named after the text of everything that may be compiled.

    numba looks at a function's own file only, so an edited formula would leave its callers'
    compiled code stale.
    """
    package = Path(__file__).parents[2]
    files = sorted(
        file for room in ("policies", "simulation") for file in (package / room).rglob("*.py")
    )
    digest = hashlib.sha256(
        b"".join(f.read_bytes() for f in files) + numba.__version__.encode()
    ).hexdigest()[:16]
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = home / "dpbandits" / f"numba-{digest}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:  # no home to write to
        folder = Path(tempfile.mkdtemp(prefix="dpbandits-numba-"))
    return str(folder)


CACHE = os.environ.get("NUMBA_CACHE_DIR") or cache_folder()


def jit(function: Callable[..., Any], **options: Any) -> Any:
    """Compile to machine code that needs no interpreter (threads run side by side) and is kept on
    disk, in our folder only.
    """
    others, config = numba.config.CACHE_DIR, numba.config  # type: ignore[attr-defined]
    config.CACHE_DIR = CACHE  # type: ignore[attr-defined]
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function)
    finally:
        config.CACHE_DIR = others  # type: ignore[attr-defined]


def inline(function: Callable[..., Any]) -> Any:
    """Like `jit`, for what runs once a round: pasted into its caller, which saves counting
    references on every call.
    """
    return jit(function, inline="always")


def compiled_copy(module: ModuleType, **replaced: Any) -> SimpleNamespace:
    """The module's functions, compiled: they are run a second time as a module of their own whose
    globals are compiled too.
    """
    spec = importlib.util.find_spec(module.__name__)
    assert spec is not None
    assert spec.loader is not None
    copy = importlib.util.module_from_spec(spec)
    sys.modules[copy.__name__], original = copy, sys.modules[copy.__name__]
    try:
        spec.loader.exec_module(copy)
    finally:
        sys.modules[copy.__name__] = original
    found = {
        n: f
        for n, f in vars(copy).items()
        if isinstance(f, FunctionType) and f.__module__ == module.__name__
    }
    compiled = {name: jit(function) for name, function in found.items()}
    vars(copy).update(compiled | replaced)
    return SimpleNamespace(**compiled)


divergence = compiled_copy(divergences)
index = compiled_copy(
    indices,
    **{name: getattr(divergence, name) for name in ("clip01", "d_eps", "d_eps_upper", "kl_upper")},
)
threshold = compiled_copy(thresholds, kl=divergence.kl)
posterior = compiled_copy(pooling)
duel = compiled_copy(top_two, **vars(threshold))
growing_batch = jit(cumulative.growing_batch)
elimination_width = jit(elimination.elimination_width)
epoch = jit(elimination.epoch)
hedge_rate, ftrl_rate = jit(experts.hedge_rate), jit(experts.ftrl_rate)
posterior_sd = jit(noise_aware.posterior_sd)
nas_bar, private_bar = jit(bars.nas_bar), jit(bars.private_bar)
