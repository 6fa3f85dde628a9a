"""What can be done with an object of a class: its public methods and properties, wherever among its
bases they are defined.
"""

import inspect
from typing import Any

from docs.generator.docstrings import docstring, escaped, signature

ITEM = "__getitem__"
"""The only name with underscores that is shown: `store["trial"]` has no other."""


def members(kind: type, shown: dict[int, str]) -> str:
    """Every public method and property that is explained. Those of a base with a section of its
    own, which `shown` names, are listed and not explained again.
    """
    text, known = "", set[str]()
    for base in inspect.getmro(kind):
        if not base.__module__.startswith("dpbandits"):
            continue
        own = {
            name: thing
            for name, thing in vars(base).items()
            if name not in known and explained(name, thing)
        }
        known |= set(vars(base))
        if base is not kind and id(base) in shown:
            names = ", ".join(f"`{name}`" for name in own)
            text += f"As in `{shown[id(base)]}`: {names}.\n\n" if names else ""
        else:
            text += "".join(member(name, thing) for name, thing in own.items())
    return text


def function_of(thing: Any) -> Any:
    """The function behind a method or a property."""
    found = getattr(thing, "fget", None) or getattr(thing, "func", None) or thing
    return getattr(found, "__func__", found)


def explained(name: str, thing: Any) -> bool:
    """Whether it is public, a method or a property, and has a docstring."""
    function = function_of(thing)
    public = name == ITEM or not name.startswith("_")
    return public and inspect.isfunction(function) and bool(function.__doc__)


def member(name: str, thing: Any) -> str:
    function = function_of(thing)
    is_value = function is not thing and not isinstance(thing, classmethod | staticmethod)
    head = "" if is_value else f"`{name}{signature(function)}`\n\n"
    return f"### {escaped(name)}\n\n" + head + docstring(function)
