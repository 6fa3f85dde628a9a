"""Hashes by which stored results are found: of the code, of an environment, of plain data."""

import hashlib
import json
from functools import cache
from inspect import getfile
from pathlib import Path
from typing import Any

import numpy as np

from dpbandits.environments import Environment
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy


def digest_of(data: Any) -> str:
    """A hash of plain data."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


@cache
def code_digest() -> str:
    """A hash of the whole package's code: within one version, too, an edited formula must not find
    old results.
    """
    return tree_digest(Path(__file__).parents[1])


def tree_digest(folder: Path) -> str:
    """A hash of a folder's Python files. Each goes in with its name and both lengths, so that code
    which moves from file to file, or a file that is renamed, gives another hash.
    """
    whole = hashlib.sha256()
    named = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.py")}
    for name in sorted(named):
        for part in (name.encode(), named[name].read_bytes()):
            whole.update(len(part).to_bytes(8))
            whole.update(part)
    return whole.hexdigest()


@cache
def own_digest(cls: type[Policy]) -> str:
    """A hash of the file that a policy of the user's own is written in; empty for ours."""
    if POLICIES.get(cls.__name__) is cls:
        return ""
    try:
        return hashlib.sha256(Path(getfile(cls)).read_bytes()).hexdigest()
    except (TypeError, OSError):  # made where there is no file
        return "no file"


def fingerprint(environment: Environment) -> dict[str, Any]:
    """The environment's class and its public data; arrays by their hash."""
    public = {name: value for name, value in vars(environment).items() if not name.startswith("_")}
    return {"class": type(environment).__name__} | {
        name: hashed(value) for name, value in sorted(public.items())
    }


def hashed(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [
            str(value.dtype),
            list(value.shape),
            hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest(),
        ]
    return value if isinstance(value, (bool, int, float, str)) else repr(value)
