"""What is refused before it is read: bodies that are too large, nested too deeply or cut off, hosts
that are not ours, and changes that another site's page asks for.
"""

import json
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, final

from starlette.requests import ClientDisconnect

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

LARGEST_BODY = 4 * 2**20
"""Bytes."""

DEEPEST = 20
"""Brackets within brackets."""

ESCAPED = re.compile(rb"\\.", re.DOTALL)
"""What a backslash stands before, such as a quote within a text."""

LOOKS = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""

OTHERS = bytes(set(range(256)) - set(b"[]{}"))

JSON, FORM = b"application/json", b"application/x-www-form-urlencoded"

FORMS = frozenset({"/new", "/login", "/logout"})
"""Where pages send their forms, which carry a token against other origins. All else takes JSON,
which no page of another origin may send.
"""


@final
class Limits:
    """Around an application. hosts: names under which it may be called; None: any. The check keeps
    a page of another origin from calling a server that asks for no key, as does `is_foreign`.
    """

    def __init__(self, app: App, hosts: frozenset[str] | None = None) -> None:
        self.app, self.hosts = app, hosts

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        host = headers.get(b"host", b"").decode("latin-1").rsplit(":", 1)[0].strip("[]")
        if self.hosts is not None and host not in self.hosts:
            await send_refusal(send, 421, "This server is called by its own name only.")
            return
        if self.hosts is not None and is_foreign(scope, headers):
            await send_refusal(
                send, 403, "A page of another site asked for this. Nothing was done."
            )
            return
        try:
            body = await whole_body(receive)
        except ClientDisconnect:
            return
        if body is None:
            await send_refusal(send, 413, f"Expected a body of at most {LARGEST_BODY:,} bytes.")
            return
        wanted = FORM if scope["path"] in FORMS else JSON
        if body and not headers.get(b"content-type", b"").startswith(wanted):
            await send_refusal(send, 415, f"Expected a body of type {wanted.decode()}.")
            return
        if too_deep(body):
            await send_refusal(send, 422, f"Expected a body of at most {DEEPEST} nested brackets.")
            return
        again = once_more(body, receive)
        del body  # a fault is logged, by some with local variables
        await self.app(scope, again, with_headers(send))


def once_more(body: bytes, receive: Receive) -> Receive:
    """What comes, after a body that was read already."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def is_foreign(scope: Message, headers: Mapping[bytes, bytes]) -> bool:
    """Whether a browser says that a page of another origin asks for a change. Programs say nothing.

    Such a page may send a form without fields, whose empty body has a type of no JSON and yet
    shows none: enough for verbs that take no body. Our own forms carry a token instead.
    """
    if scope["method"] in LOOKS or scope["path"] in FORMS:
        return False
    site, origin = headers.get(b"sec-fetch-site"), headers.get(b"origin")
    if site is not None:
        return site not in (b"same-origin", b"none")
    return origin is not None and origin.partition(b"://")[2] != headers.get(b"host")


async def whole_body(receive: Receive) -> bytes | None:
    """The body; None: it is too large.

    Raises:
        ClientDisconnect: who sent it left before it was whole.
    """
    parts, size = list[bytes](), 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientDisconnect
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > LARGEST_BODY:
            return None
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


def too_deep(body: bytes) -> bool:
    """Whether brackets are nested deeper than they may be. Text between quotes does not count."""
    if body.count(b"[") + body.count(b"{") <= DEEPEST:
        return False
    depth = 0
    outside = ESCAPED.sub(b"", body).split(b'"')[::2]  # every second quote ends a text
    for byte in b"".join(outside).translate(None, OTHERS):
        depth += 1 if byte in b"[{" else -1
        if depth > DEEPEST:
            return True
    return False


HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
]


def with_headers(send: Send) -> Send:
    """Answers that load nothing from elsewhere, and are not kept."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            known = {name for name, _ in message["headers"]}
            message["headers"] = [
                *message["headers"],
                *(pair for pair in HEADERS if pair[0] not in known),
            ]
        await send(message)

    return sent


async def send_refusal(send: Send, status: int, detail: str) -> None:
    said = {"type": "about:blank", "title": "Refused", "status": status, "detail": detail}
    body = json.dumps(said).encode()
    headers = [(b"content-type", b"application/problem+json"), *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
