"""The reference: every public name, from its own docstring and parameter texts."""

import inspect
import re
from dataclasses import MISSING, fields
from importlib import import_module
from typing import Any

import dpbandits as dpb
from dpbandits.core.signatures import argument_texts
from dpbandits.policies import POLICIES

ROOMS = {
    "dpbandits": "What `import dpbandits as dpb` gives",
    "dpbandits.sweeps": "Sweeps (extra `experiments`)",
    "dpbandits.datasets": "Data sets",
    "dpbandits.checks": "Checks of policies, mechanisms and environments",
    "dpbandits.auditing": "Audits",
    "dpbandits.mechanisms": "Mechanisms",
    "dpbandits.noise": "Noise",
    "dpbandits.oracles": "Decision sets and their oracles",
    "dpbandits.environments": "Environments",
    "dpbandits.theory": "Bounds",
    "dpbandits.session": "Sessions",
    "dpbandits.simulation": "Simulation",
}
"""The rooms whose `__all__` is public. A name is explained where it comes first."""


def public_names() -> dict[str, dict[str, Any]]:
    """By room, every public name with what it stands for; each once."""
    found: dict[str, dict[str, Any]] = {}
    known: set[int] = set()
    for room in ROOMS:
        module = import_module(room)
        found[room] = {}
        for name in sorted(module.__all__, key=str.lower):
            thing = getattr(module, name)
            if id(thing) not in known or not callable(thing):
                found[room][name] = thing
            known.add(id(thing))
    return found


def reference_pages() -> dict[str, str]:
    """Markdown by page name: one for the policies, one a room."""
    pages = {}
    for room, names in public_names().items():
        policies = {n: t for n, t in names.items() if POLICIES.get(n) is t}
        if policies:
            pages["policies"] = "# Policies\n\n" + "".join(
                section(f"dpbandits.{n}", t) for n, t in policies.items()
            )
        others = {n: t for n, t in names.items() if n not in policies}
        if others:
            text = "".join(section(f"{room}.{name}", thing) for name, thing in others.items())
            pages[room.removeprefix("dpbandits.")] = f"# {ROOMS[room]}\n\n{text}"
    return pages


def section(path: str, thing: Any) -> str:
    """A name: how it is called, what its docstring says, its parameters and its own methods."""
    head = f"## {path.removeprefix('dpbandits.')}\n\n"
    if inspect.isclass(thing) or inspect.isroutine(thing):
        text = head + f"```python\n{path}{signature(thing)}\n```\n\n" + docstring(thing)
        if inspect.isclass(thing):
            text += parameters(thing) if issubclass(thing, dpb.Policy) else methods(thing)
        return text
    shown = " ".join(sorted(thing)) if isinstance(thing, dict | set | frozenset) else repr(thing)
    return head + f"A value: `{shown[:500]}`\n\n"


def signature(thing: Any) -> str:
    """How it is called, in a line if it fits, else a line a parameter. Types go by their last
    names.
    """
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    text = shortened(str(found))
    if len(text) < 80:
        return text
    lines, keyword_only = [], False
    for parameter in found.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            lines.append("*")
        lines.append(shortened(str(parameter)))
    back = found.return_annotation
    end = "" if back is found.empty else shortened(f" -> {inspect.formatannotation(back)}")
    return "(\n" + "".join(f"    {line},\n" for line in lines) + f"){end}"


def shortened(text: str) -> str:
    return re.sub(r"\b(?:[A-Za-z_]\w*\.)+(\w+)", r"\1", text)


def docstring(thing: Any) -> str:
    """Its own docstring: prose as it stands, arguments and errors as a list, examples as code."""
    text = (
        inspect.cleandoc(thing.__dict__.get("__doc__") or "") if hasattr(thing, "__dict__") else ""
    )
    text = text or inspect.cleandoc(getattr(thing, "__doc__", None) or "")
    return "".join(paragraph(part) for part in text.split("\n\n") if part.strip())


def paragraph(part: str) -> str:
    if part.lstrip().startswith(">>>"):
        return f"```python\n{part}\n```\n\n"
    if part.startswith(("Args:", "Raises:", "Returns:", "Yields:")):
        head, _, rest = part.partition("\n")
        return f"**{head}**\n\n{entries(inspect.cleandoc(rest))}\n"
    if part.startswith("|"):
        return part + "\n\n"
    prose, mark, example = part.partition("\n>>>")
    return escaped(prose) + "\n\n" + (f"```python\n>>>{example}\n```\n\n" if mark else "")


def entries(text: str) -> str:
    """name: text, a list entry each; further lines of an entry are indented."""
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith(" ") and lines:
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    return "".join(f"* {escaped(line)}\n" for line in lines if line.strip())


def escaped(text: str) -> str:
    """Text that is no Markdown but for its code marks: stars, underscores and brackets stand for
    themselves, outside of `code`.
    """
    parts = text.split("`")
    for i in range(0, len(parts), 2):
        for mark in "*_<[]|#":
            parts[i] = parts[i].replace(mark, "\\" + mark)
    return "`".join(parts)


def parameters(kind: type[dpb.Policy]) -> str:
    """A policy's hyper-parameters, with their defaults and what its docstring says of them."""
    meanings = argument_texts(kind)
    lines = ["| parameter | default | meaning |", "|---|---|---|"]
    for field in (f for f in fields(kind) if f.init):
        default = "required" if field.default is MISSING else f"`{field.default!r}`"
        meaning = escaped(meanings.get(field.name, "").replace("|", "∣"))
        lines.append(f"| `{field.name}` | {default} | {meaning} |")
    return "\n".join(lines).replace("|  |", "| |") + "\n\n"


def methods(kind: type) -> str:
    """The public methods and properties that the class itself defines and explains."""
    text = ""
    for name, thing in vars(kind).items():
        function = getattr(thing, "fget", None) or getattr(thing, "func", None) or thing
        function = getattr(function, "__func__", function)
        explained = inspect.cleandoc(getattr(function, "__doc__", None) or "")
        if name.startswith("_") or not inspect.isfunction(function) or not explained:
            continue
        is_value = function is not thing and not isinstance(thing, classmethod | staticmethod)
        head = f"`{name}`" if is_value else f"`{name}{signature(function)}`"
        text += f"### {escaped(name)}\n\n" + ("" if is_value else head + "\n\n")
        text += docstring(function)
    return text
