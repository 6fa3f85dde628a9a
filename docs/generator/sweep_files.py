"""The page on sweep files: every key of every table, from the models that read them."""

import inspect
import types
import typing
from typing import Any, Literal

from docs.generator.law_examples import EXAMPLES
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from dpbandits.sweeps.config import Config, Quick
from dpbandits.sweeps.reading.entries import PolicyEntry
from dpbandits.sweeps.reading.laws import LAWS

MEANINGS = {
    "name": "what it is called: of a sweep letters, digits, `_`, `.` and `-`",
    "title": "the headline of table, figures and page",
    "about": "a paragraph for the page",
    "unit": "what regret counts, as in “it loses 12 responses”",
    "each": "what a round is, as in “over 1,000 patients”",
    "rounds": "T, rounds of each run",
    "runs": "independent runs of each cell",
    "seed": "of all runs; a run's numbers depend on it and on the cell alone",
    "epsilons": 'budgets; a string such as "1/3" is a fraction',
    "rhos": "budgets of policies under zCDP, in place of epsilons",
    "at": "rounds at which regret is kept; about fifty by default",
    "quick": "the table `[quick]`",
    "environments": "the tables `[[environments]]`; of a policy, the names of those it plays",
    "policies": "the tables `[[policies]]`",
    "class": "a name that `dpbandits list` shows, or `module:object` in a file beside this one",
    "label": "its name in tables and figures",
    "law": "which law this table is",
}
"""What a key means, where the model's docstring does not say."""


def type_text(annotation: Any) -> str:
    """An annotation in a reader's words."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Literal:
        return " or ".join(f'"{value}"' for value in arguments)
    if origin is typing.Annotated:
        return type_text(arguments[0])
    if origin in (typing.Union, types.UnionType):
        kinds = [type_text(a) for a in arguments if a is not type(None)]
        return " or ".join(dict.fromkeys(kinds))
    if origin is list:
        inner = arguments[0]
        if inspect.isclass(inner) and issubclass(inner, BaseModel):
            return "tables"
        return f"list of {type_text(inner)}"
    words = {
        int: "whole number",
        float: "number",
        str: "text",
        bool: "true or false",
        dict: "table",
    }
    named = {"Path": "path", "Quick": "table", "dict": "table", "PolicyEntry": "table"}
    return words.get(annotation) or named.get(getattr(annotation, "__name__", ""), "table")


def limits(field: FieldInfo) -> str:
    """What a value has to be beyond its type."""
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
    found = [
        f"{sign} {value:g}"
        for rule in field.metadata
        for attribute, sign in signs.items()
        if (value := getattr(rule, attribute, None)) is not None and value < 10**15
    ]
    return (", " + ", ".join(found)) if found else ""


def default_text(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.default
    if value is PydanticUndefined or value is None or isinstance(value, BaseModel) or value == "":
        return "—"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def key_table(model: type[BaseModel], *, without: tuple[str, ...] = ()) -> str:
    """Every key of a table."""
    lines = ["| key | value | default | meaning |", "|---|---|---|---|"]
    for name, field in model.model_fields.items():
        key = field.alias or name
        if key not in without:
            value = type_text(field.annotation) + limits(field)
            lines.append(f"| `{key}` | {value} | {default_text(field)} | {MEANINGS.get(key, '')} |")
    return "\n".join(line.replace("|  |", "| |") for line in lines) + "\n"


def described(model: type[BaseModel]) -> str:
    """The model's own docstring, if it has one."""
    text = inspect.cleandoc(model.__dict__.get("__doc__") or "")
    return " ".join(text.replace("\n\n", " ").split()) + "\n\n" if text else ""


def law_section(name: str) -> str:
    model = LAWS[name]
    return (
        f'### law = "{name}"\n\n{described(model)}{key_table(model, without=("name", "law"))}\n'
        f"```toml\n{EXAMPLES[name].strip()}\n```\n\n"
    )


def sweep_file_page() -> str:
    """The page as Markdown."""
    return (
        "# What a sweep file holds\n\n"
        "Written by `python -m docs.generator` from the models that read such files; do not edit. "
        "`dpbandits run FILE.toml` plays it;\n`dpbandits run --help` shows a small one, and "
        "`papers/*/sweep.toml` are larger ones. A key that is not known is an error.\n\n"
        f"## The file\n\n{key_table(Config)}\n"
        "## [quick]\n\nWhat `--quick` plays instead; without this table, at most 10 runs of "
        f"10,000 rounds.\n\n{key_table(Quick)}\n"
        "## [[policies]]\n\n" + described(PolicyEntry) + key_table(PolicyEntry) + "\n"
        "All other keys are hyper-parameters of the policy, as `dpbandits explain NAME` lists "
        "them.\n\n"
        f"```toml\n{EXAMPLES['a policy'].strip()}\n```\n\n"
        "## [[environments]]\n\nEvery such table has a `name` and a `law`; the other keys are the "
        "law's. Relative paths start where the sweep file lies.\n\n"
        + "".join(map(law_section, LAWS)).rstrip()
        + "\n"
    )
