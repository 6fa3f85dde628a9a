"""Errors as problem documents (RFC 9457). None repeats what was sent."""

import re
from bisect import bisect_left
from dataclasses import fields
from functools import cache
from itertools import chain
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from dpbandits.core.errors import (
    DecisionError,
    Error,
    LedgerError,
    NameTakenError,
    RewardError,
    StoreError,
    UnknownCampaignError,
    WitnessError,
)
from dpbandits.policies import POLICIES
from dpbandits.service.http.bodies import Body, KeyedBody

MEDIA = "application/problem+json"


class Problem(BaseModel):
    """What went wrong. errors: of a body of another shape, where and what."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[dict[str, str]] | None = None


RESPONSES: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "A problem document (RFC 9457); nothing was done.",
        "content": {MEDIA: {"schema": Problem.model_json_schema()}},
    }
}
"""What every route may answer beside what it is for."""


def problem(status: int, title: str, detail: str, **more: Any) -> JSONResponse:
    """A problem document."""
    headers = {"Retry-After": "1"} if status == 503 else {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse(
        {"type": "about:blank", "title": title, "status": status, "detail": detail, **more},
        status,
        headers,
        media_type=MEDIA,
    )


def status_of(error: Exception) -> tuple[int, str]:
    """The status and the title of an error of ours."""
    if isinstance(error, (StoreError, WitnessError)):
        return 503, "The store is away"
    if isinstance(error, LedgerError):
        return 500, "The ledger does not add up"
    if isinstance(error, RewardError):
        return 422, "No reward"
    if isinstance(error, NameTakenError):
        return 409, "The name is taken"
    if isinstance(error, DecisionError):
        return 410, "Gone"
    if isinstance(error, UnknownCampaignError):
        return 404, "Not found"
    if isinstance(error, (ValueError, TypeError)):
        return 422, "Refused"
    return 409, "Not possible now"


def ours(request: Request, error: Exception) -> JSONResponse:
    """Errors whose words were chosen here; in a thread, for a request may be large."""
    status, title = status_of(error)
    said = error.args[0] if error.args and isinstance(error.args[0], str) else title
    body = getattr(request.state, "sent", lambda: None)()
    sent = [body, *request.query_params.values()]
    return problem(status, title, of_campaigns(unrepeated(said, sent)))


def of_campaigns(words: str) -> str:
    """What a session says, for callers who have none: they have a campaign."""
    words = words.replace("`session.pending`", "those that do (…/tell, …/expire)")
    return re.sub(r"\bsession\b", "campaign", words)


HIDDEN = "…"
"""Stands where an error repeats what came."""

QUOTED = re.compile(r"""(?<!\w)(['"])((?:\\.|(?!\1).)*?)(\1(?!\w)|\.\.\.)""")
"""Text as Python writes it, or the beginning of one that is long. An apostrophe begins none."""

VALUES = re.compile(r"(Expected [\w.]+=).+?(?= to (?:be|have|hold) )")
WRITTEN = re.compile(r"(\bwrite \w+=|\bwould take )\S+?(?=[,;.]?(?: |$))")
NUMBERS = re.compile(r"(\bgot )(?:[\[({].*?(?:[\])}]|\.{3})(?=[.;,]|$)|-?\d\S*?(?=[.;,]?(?: |$)))")
"""Where errors repeat a value of any kind."""

MOST_PIECES, MOST_WORDS = 50_000, 2_000
TOO_MUCH = "This request holds too much to say which part of it is refused. Send less at a time."
"""What is said beyond these: texts of a request, and characters of an error. Each text of the one
is looked for in the other, while other requests wait.
"""


def unrepeated(words: str, sent: Any) -> str:
    """What an error says, without what it repeats of a request: which field, and what was expected
    of it, is said still. In Python errors show what came, which helps who wrote it; a server's
    answers are kept in logs of others.
    """
    found = pieces(sent) if len(words) <= MOST_WORDS else None
    if found is None:
        return TOO_MUCH
    texts, names = found

    def kept(quote: re.Match[str]) -> str:
        inside, whole = " ".join(quote[2].split()), quote[3] != "..."
        at = bisect_left(texts, inside)
        next_one = texts[at] if at < len(texts) else ""
        came = next_one == inside if whole else next_one.startswith(inside)
        return HIDDEN if came else quote[0]

    shown = QUOTED.sub(kept, words)
    made_up = [re.escape(name) for name in names if name and name in words]
    if made_up:
        longest_first = "|".join(sorted(made_up, key=len, reverse=True))
        shown = re.sub(rf"(?<!\w)(?:{longest_first})(?!\w)", HIDDEN, shown)
    for repeats in (VALUES, WRITTEN, NUMBERS):
        shown = repeats.sub(rf"\1{HIDDEN}", shown)
    return shown


def pieces(sent: Any) -> tuple[list[str], set[str]] | None:
    """The texts of a request in their order, as an error would write them between quotes, and the
    names of fields that it made up; None: they are too many. Of long texts the beginning is enough.
    """
    texts, names, left, many = set[str](), set[str](), [sent], 0
    while left:
        each = left.pop()
        if isinstance(each, dict):
            names |= each.keys() - known_words()
            left += [*each, *each.values()]
        elif isinstance(each, list):
            left += each
        elif isinstance(each, str):
            many += 1 + each.count(",")
            if many > MOST_PIECES:
                return None
            for part in (each, *each.split(",")):
                forms = part[:MOST_WORDS], part.strip()[:MOST_WORDS]
                texts |= {" ".join(repr(form)[1:-1].split()) for form in forms}
    return sorted(texts), names


@cache
def known_words() -> frozenset[str]:
    """Names of fields that an error may say, whoever sent them: bodies have them, or policies."""
    bodies = [body.model_fields for body in (*Body.__subclasses__(), *KeyedBody.__subclasses__())]
    policies = [[field.name for field in fields(policy)] for policy in POLICIES.values()]
    return frozenset(chain(*bodies, *policies))


async def invalid(request: Request, error: Exception) -> JSONResponse:
    """A body of another shape: where, and what was expected there."""
    assert isinstance(error, RequestValidationError)
    found = [
        {"where": ".".join(map(str, each["loc"][1:])), "what": in_plain_words(str(each["msg"]))}
        for each in error.errors()[:20]
    ]
    detail = "; ".join(f"{each['where'] or 'body'}: {each['what']}" for each in found)
    return problem(
        422,
        "Of another shape",
        f"{detail}. Nothing was done; /docs describes every body.",
        errors=found,
    )


def in_plain_words(words: str) -> str:
    """What a parser says, in the words of JSON and without the names of classes."""
    words = re.sub(r" or instance of \w+", "", words)
    words = words.replace("a valid dictionary", "an object, {…}")
    words = re.sub(r" after validation, not .*", " in one request", words)
    return words.replace("a valid list", "a list, […]")


BY_ITSELF = {
    "Not Found": "There is nothing at this address; /docs describes every route.",
    "Method Not Allowed": "This address takes another method; /docs says which.",
}
"""What the framework says of an address, and what is said instead."""


async def framework_problem(request: Request, error: Exception) -> JSONResponse:
    """What the framework says by itself."""
    assert isinstance(error, HTTPException)
    said = str(error.detail)
    return problem(error.status_code, "Refused", BY_ITSELF.get(said, said))


async def fault(request: Request, error: Exception) -> JSONResponse:
    """A fault of ours. What went wrong is not told to the outside."""
    return problem(500, "A fault of this server", "The request failed. It can be made again.")


def install(app: FastAPI) -> None:
    """Every error of an application becomes a problem document."""
    for kind in (Error, ValueError, TypeError, UnknownCampaignError, RuntimeError):
        app.add_exception_handler(kind, ours)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, framework_problem)
    app.add_exception_handler(Exception, fault)
