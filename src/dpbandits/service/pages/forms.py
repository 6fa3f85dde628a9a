"""Forms that only our own pages can send."""

import secrets
from urllib.parse import parse_qsl

from fastapi import HTTPException, Request, Response

TOKEN = "dpbandits_form"
"""The cookie that a form's hidden field has to repeat. No page of another origin can read it."""

MOST_FIELDS = 50


def token_of(request: Request) -> str:
    """The token of a browser; a new one, if it has none."""
    known = request.cookies.get(TOKEN, "")
    return known if len(known) >= 32 else secrets.token_urlsafe(32)


def keep_cookie(response: Response, request: Request, name: str, value: str) -> None:
    """A cookie that no script reads, and that no other site's page makes a browser send."""
    secure = request.url.scheme == "https"
    response.set_cookie(name, value, httponly=True, samesite="strict", secure=secure)


async def sent_form(request: Request) -> dict[str, str]:
    """The fields of a form that one of our own pages sent.

    Raises:
        HTTPException: 403, another page did; 422, it is no form.
    """
    try:
        text = (await request.body()).decode()
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise HTTPException(422, "Expected a form. Nothing was done.") from None
    said = dict(pairs)
    known = request.cookies.get(TOKEN, "")
    site = request.headers.get("sec-fetch-site", "same-origin")
    given = said.pop("token", "")
    same = secrets.compare_digest(known.encode(), given.encode())
    if not known or not same or site != "same-origin":
        raise HTTPException(
            403, "This form was not sent by a page of this server, or is too old. Nothing was done."
        )
    return said
