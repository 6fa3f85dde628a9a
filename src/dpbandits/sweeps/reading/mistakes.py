"""What is wrong with a sweep file: every mistake, each in a line of its own."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ValidationError

from dpbandits.core.errors import ConfigError, MissingDataError
from dpbandits.core.inputs import shown
from dpbandits.policies.named import close_to
from dpbandits.sweeps.reading.laws import LAWS

PLACEHOLDERS = {"name": "file", "title": "a file", "rounds": 1_000, "runs": 1}
"""Stand for fields that are wrong, so that what else is wrong is found at once."""


def all_of(faults: Iterable[ConfigError]) -> ConfigError | None:
    """One error that says them all, each once; None where there are none."""
    found = {str(fault): fault for fault in faults}
    if len(found) < 2:
        return next(iter(found.values()), None)
    missing = all(isinstance(each, MissingDataError) for each in found.values())
    kind = MissingDataError if missing else ConfigError
    return kind("\n".join([f"{len(found)} mistakes:", *(f"  {said}" for said in found)]))


def explained(error: ValidationError, model: type[BaseModel]) -> list[ConfigError]:
    """Every mistake of its fields. Keys that are missing or not known are one of them.

    model: of the whole file.
    """
    mistakes = error.errors()
    missing, unknown = (
        [place_of(m["loc"]) for m in mistakes if m["type"] == kind]
        for kind in ("missing", "extra_forbidden")
    )
    if not missing:
        return [ConfigError(said) for each in mistakes for said in in_words(each, model)]
    others = f"; not known: {', '.join(unknown)}" if unknown else ""
    keys = f"missing: {', '.join(missing)}{others}; `dpbandits run --help` shows a file"
    rest = [each for each in mistakes if each["type"] not in ("missing", "extra_forbidden")]
    return [
        ConfigError(said) for said in (keys, *(w for each in rest for w in in_words(each, model)))
    ]


def in_words(mistake: Any, model: type[BaseModel]) -> list[str]:
    """A mistake of pydantic's, or several of one of our checks, a line each."""
    place, text = place_of(mistake["loc"]), mistake["msg"].removeprefix("Value error, ")
    if mistake["type"] == "extra_forbidden":
        text = f"there is no such field here{meant(mistake['loc'], model)}"
    elif mistake["type"].startswith("union_tag"):
        law = mistake["input"].get("law") if isinstance(mistake["input"], dict) else None
        text = (
            f"expected law = one of {', '.join(LAWS)}, got {'none' if law is None else shown(law)}"
        )
    elif mistake["type"] != "value_error":
        text += f", got {shown(mistake['input'])}"
    return [f"{place}: {line}" if place else line for line in text.split("\n")]


def meant(loc: tuple[Any, ...], whole: type[BaseModel]) -> str:
    """Which field stands close to one that there is not."""
    law = LAWS.get(loc[2]) if len(loc) == 4 and loc[0] == "environments" else None
    model = whole if len(loc) == 1 else law
    return "" if model is None else close_to(str(loc[-1]), model.model_fields)


def place_of(loc: tuple[Any, ...]) -> str:
    """Where a mistake is, as the file's reader would write it: environments[0].means."""
    parts = [
        p for i, p in enumerate(loc) if not (i == 2 and loc[0] == "environments" and p in LAWS)
    ]
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in parts).lstrip(".")


def twins_in(what: str, names: list[str], cure: str) -> list[ConfigError]:
    """Names that occur more than once."""
    twins = [name for name, count in Counter(names).items() if count > 1]
    return [ConfigError(f"{what}: {name!r} occurs twice; {cure}") for name in twins]


def without_mistakes(
    data: dict[str, Any], error: ValidationError
) -> tuple[dict[str, Any], dict[str, list[int]]] | None:
    """What a file says without what is wrong in it, and where the rest of its tables stood; None
    where too little is left to look further.
    """
    wrong = [mistake["loc"] for mistake in error.errors()]
    left, places = {**data}, dict[str, list[int]]()
    for tables in ("environments", "policies"):
        rows = data.get(tables)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            return None
        faulty = {loc[1] for loc in wrong if len(loc) > 1 and loc[0] == tables}
        places[tables] = [at for at in range(len(rows)) if at not in faulty]
        left[tables] = [rows[at] for at in places[tables]]
    for name in {str(loc[0]) for loc in wrong if loc} - places.keys():
        left.pop(name, None)
        left |= {name: PLACEHOLDERS[name]} if name in PLACEHOLDERS else {}
    names = {row.get("name") for row in data["environments"]}
    known = {row.get("name") for row in left["environments"]}
    kept = [known_to(row, names - known) for row in left["policies"]]
    left["policies"] = [row for row in kept if row is not None]
    places["policies"] = [at for at, row in zip(places["policies"], kept, strict=True) if row]
    return (left, places) if left["policies"] and left["environments"] else None


def known_to(row: dict[str, Any], gone: set[Any]) -> dict[str, Any] | None:
    """A policy's table without environments that are wrong themselves; None: it has no other."""
    given = row.get("environments")
    if not isinstance(given, list):
        return row
    rest = [name for name in given if name not in gone]
    return {**row, "environments": rest} if rest else None
