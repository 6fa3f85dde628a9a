"""Look policies up by name: built-in policies, or user-defined objects written module:object."""

import importlib
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any

from dpbandits.policies import CONTEXTUAL, POLICIES
from dpbandits.policies.contract import Policy

EVERY_POLICY: dict[str, type[Policy]] = POLICIES | CONTEXTUAL
"""All built-in policies by name, those that decide by contexts last."""

NO_ABOUT = (
    "Expected the class of a policy to have a field about: ClassVar[About] = "
    "About(paper=…, algorithm=…, bound=…, baseline=…) of dpbandits.policies.contract;"
)


def close_to(name: str, known: Iterable[str]) -> str:
    """Return " (did you mean …?)" if a known name is close, else an empty text."""
    lower = {k.lower(): k for k in known}
    close = get_close_matches(name.lower(), lower, n=3, cutoff=0.5)
    return f" (did you mean {' or '.join(lower[c] for c in close)}?)" if close else ""


def named_object(text: str, folder: Path | None = None) -> Any:
    """Return the object that module:object names; `folder` contains the user's modules.

    Raises:
        ValueError: no such module or object, or the module fails; the message has its error.
    """
    module, _, attribute = text.partition(":")
    if not all(part.isidentifier() for part in (*module.split("."), *attribute.split("."))):
        raise ValueError(
            f"Expected {text!r} to be module:object, for example mypolicies:MyPolicy for a class "
            "MyPolicy in mypolicies.py."
        )
    import_from(folder)
    try:
        named: Any = importlib.import_module(module)
        require_here(named, folder)
        for part in attribute.split("."):
            named = getattr(named, part)
    except (Exception, SystemExit) as error:
        # the file is the user's and may raise any error
        reason = f"{type(error).__name__}: {error}{line_in(module, error)}"
        raise ValueError(
            f"Expected {text!r} to be module:object, importable from here: {reason}."
        ) from error
    return named


def require_here(module: ModuleType, folder: Path | None) -> None:
    """Raise if the folder has a module of that name with another text.

    Raises:
        ImportError: it has.
    """
    if folder is None:
        return
    here, found = folder / f"{module.__name__.replace('.', '/')}.py", Path(module.__file__ or "")
    if here.is_file() and not (found.is_file() and here.read_bytes() == found.read_bytes()):
        raise ImportError(f"this process has another module of that name, {found}; rename yours")


def line_in(module: str, error: BaseException) -> str:
    """Return " (mypolicies.py, line 7)" if a module of this name raised the error, else an empty
    text.
    """
    file = f"{module.rpartition('.')[2]}.py"
    lines = [
        frame.lineno or 0
        for frame in extract_tb(error.__traceback__)
        if Path(frame.filename).name == file
    ]
    return f" ({file}, line {lines[-1]})" if lines else ""


def import_from(folder: Path | None) -> None:
    """Make modules in this folder importable from now on, after all others: a file scipy.py in it
    never hides the real one.
    """
    if folder is not None and str(folder.resolve()) not in sys.path:
        sys.path.append(str(folder.resolve()))


def policy_class(name: str, folder: Path | None = None) -> Any:
    """Return the class of a built-in policy by its name, or a user-defined one by module:object.

    Raises:
        ValueError: there is no policy of that name.
    """
    if name in EVERY_POLICY:
        return EVERY_POLICY[name]
    if ":" in name:
        return named_object(name, folder)
    raise ValueError(
        f"There is no policy {name!r}{close_to(name, EVERY_POLICY)}. See `dpbandits list`; write "
        "your own as module:object."
    )
