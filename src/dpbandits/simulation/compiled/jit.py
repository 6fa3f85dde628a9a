"""Compilation of the simulator: the policies' scalar formulas as they are, and a cache that cannot
become stale.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numba

from dpbandits.policies.formulas import indices, joint, stopping

ROOM = 2**22
"""Bytes that the compiled functions of a simulation may take."""


def cache_folder() -> str:
    """Return a cache folder named after the text of every file that holds compiled functions.

    numba looks at a function's own file only, so an edited formula would leave its callers'
    compiled code stale.
    """
    package = Path(__file__).parents[2]
    compiled = "policies/formulas", "simulation/compiled"
    files = sorted(file for folder in compiled for file in (package / folder).rglob("*.py"))
    digest = hashlib.sha256(
        b"".join(f.read_bytes() for f in files) + numba.__version__.encode()
    ).hexdigest()[:16]
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dpbandits"
    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or home) / f"numba-{digest}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(bytes(ROOM))
    except OSError:  # no home to write to, or no more, or its disk is full
        folder = Path(tempfile.mkdtemp(prefix="dpbandits-numba-"))
    return str(folder)


CACHE = cache_folder()


def jit(function: Callable[..., Any], **options: Any) -> Any:
    """Compile to machine code that releases the interpreter (so threads run in parallel) and is
    cached on disk, in our folder only.
    """
    # numba's types leave its configuration out
    others, config = numba.config.CACHE_DIR, numba.config  # type: ignore[attr-defined]
    config.CACHE_DIR = CACHE  # type: ignore[attr-defined]
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function)
    finally:
        config.CACHE_DIR = others  # type: ignore[attr-defined]


def inline(function: Callable[..., Any]) -> Any:
    """Like `jit`, for functions that run once a round: inlined into the caller, which saves
    reference counting on every call.
    """
    return jit(function, inline="always")


def pasted(function: Callable[..., Any]) -> Any:
    """Like `inline`, but inlined by LLVM and not by numba: for functions with loops and several
    returns.
    """
    return jit(function, forceinline=True)


def specialised(
    template: Callable[..., Any], name: str, compiler: Callable[..., Any] = jit, **parts: Any
) -> Any:
    """Compile the template with these parts in place of its globals of the same names.

    The parts are constants to the compiler, so calls are inlined and branches on them vanish. The
    name separates its cached machine code from that of the template's other forms.
    """
    function = FunctionType(template.__code__, template.__globals__ | parts, template.__name__)
    function.__qualname__ = f"{template.__qualname__}_{name}"
    function.__module__ = template.__module__
    return compiler(function)


def compiled_formulas(*modules: ModuleType) -> dict[str, Any]:
    """Compile every function of these modules, by its name.

    They call each other's compiled forms: numba looks names up when a function is first called, and
    all functions share one table. No two modules use one name for two functions.
    """
    names: dict[str, Any] = {}
    for module in modules:
        names |= vars(module)
    functions = [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__
    ]
    for function in functions:
        copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
        copy.__module__ = function.__module__
        names[function.__name__] = jit(copy)
    return {function.__name__: names[function.__name__] for function in functions}


FORMULAS = compiled_formulas(indices, joint, stopping)


def __getattr__(name: str) -> Any:
    """Return a compiled formula, for `from dpbandits.simulation.compiled.jit import ucb1`."""
    if name not in FORMULAS:
        raise AttributeError(f"There is no formula {name!r} in policies/formulas/.")
    return FORMULAS[name]
