"""Docstrings and signatures as Markdown."""

import inspect
import re
from textwrap import dedent
from typing import Any

ENTRY = re.compile(r"\**\w+(, \**\w+)*: ")
"""How an entry of an `Args:` or `Raises:` section begins: with a name, or several."""


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
    """Types by their last names, and functions by theirs: an address in memory is no default."""
    text = re.sub(r"<(?:built-in )?function ([\w.]+)(?: at 0x\w+)?>", r"\1", text)
    return re.sub(r"~?\b(?:[A-Za-z_]\w*\.)+(\w+)|~(?=\w)", r"\1", text)


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
        return f"**{head}**\n\n{entries(dedent(rest))}\n"
    if part.startswith("|"):
        return part + "\n\n"
    prose, mark, example = part.partition("\n>>>")
    return escaped(prose) + "\n\n" + (f"```python\n>>>{example}\n```\n\n" if mark else "")


def entries(text: str) -> str:
    """name: text, a list entry each. Lines that begin with no name go on with the entry before."""
    lines: list[str] = []
    for line in filter(str.strip, text.splitlines()):
        if lines and not ENTRY.match(line):
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    return "".join(f"* {escaped(line)}\n" for line in lines)


def escaped(text: str) -> str:
    """Text that is no Markdown but for its code marks: stars, underscores and brackets stand for
    themselves, outside of `code`.
    """
    parts = text.split("`")
    for i in range(0, len(parts), 2):
        for mark in "*_<[]|#":
            parts[i] = parts[i].replace(mark, "\\" + mark)
    return "`".join(parts)
