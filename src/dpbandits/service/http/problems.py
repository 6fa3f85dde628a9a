"""Errors as problem documents (RFC 9457). None repeats what was sent."""

import re
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

MEDIA = "application/problem+json"


class Problem(BaseModel):
    """What went wrong. errors: of a body of another shape, where and what."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[dict[str, str]] | None = None


PROBLEMS: dict[int | str, dict[str, Any]] = {
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


async def ours(request: Request, error: Exception) -> JSONResponse:
    """Errors whose words were chosen here."""
    status, title = status_of(error)
    said = error.args[0] if error.args and isinstance(error.args[0], str) else title
    return problem(status, title, said)


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
