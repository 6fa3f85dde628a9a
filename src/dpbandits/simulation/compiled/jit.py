"""How the simulator compiles: the policies' own scalar formulas, jitted as they stand, and a cache
that cannot go stale.
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
    except OSError:  # no home to write to
        folder = Path(tempfile.mkdtemp(prefix="dpbandits-numba-"))
    return str(folder)


CACHE = cache_folder()


def jit(function: Callable[..., Any], **options: Any) -> Any:
    """Compile to machine code that needs no interpreter (threads run side by side) and is kept on
    disk, in our folder only.
    """
    # numba's types leave its configuration out
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


def pasted(function: Callable[..., Any]) -> Any:
    """Like `inline`, by the machine's compiler and not by numba: for functions with loops and
    several returns.
    """
    return jit(function, forceinline=True)


def specialised(
    template: Callable[..., Any], name: str, compiler: Callable[..., Any] = jit, **parts: Any
) -> Any:
    """The template compiled with these parts in place of its globals of the same names.

    The parts are constants to the compiler, so calls are pasted in and branches on them vanish. The
    name sets its machine code on disk apart from that of the template's other forms.
    """
    own = FunctionType(template.__code__, template.__globals__ | parts, template.__name__)
    own.__qualname__, own.__module__ = f"{template.__qualname__}_{name}", template.__module__
    return compiler(own)


def compiled_formulas(*modules: ModuleType) -> dict[str, Any]:
    """Every function of these modules, compiled as it stands, by its name.

    They call each other's compiled forms: numba looks names up when a function is first called, and
    all of them look them up in one table. No two modules give one name two meanings.
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
        own = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
        own.__module__ = function.__module__
        names[function.__name__] = jit(own)
    return {function.__name__: names[function.__name__] for function in functions}


FORMULAS = compiled_formulas(indices, joint, stopping)


def __getattr__(name: str) -> Any:
    """A compiled formula, so that `from dpbandits.simulation.compiled.jit import ucb1` finds it."""
    if name not in FORMULAS:
        raise AttributeError(f"There is no formula {name!r} in policies/formulas/.")
    return FORMULAS[name]
