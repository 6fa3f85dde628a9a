"""What is refused before it is read: headers and bodies that are too large, nested too deeply or
cut off, hosts that are not ours, and changes that another site's page asks for.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, NamedTuple, final

import anyio.to_thread
import numpy as np
from starlette.requests import ClientDisconnect

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

LARGEST_HEAD, MOST_HEADERS = 32 * 2**10, 100
"""Bytes of an address with its headers, and headers."""

LARGEST_BODY, LARGEST_FORM = 4 * 2**20, 64 * 2**10
"""Bytes."""

DEEPEST, MOST_BRACKETS = 20, 50_000
"""Brackets within brackets, and all brackets; a parser is slow with many objects and lists."""

SMALL = 64 * 2**10
"""Bytes of a body that is looked through at once; other requests do not wait for a larger one."""

HEAD_REFUSED = (
    f"Expected at most {MOST_HEADERS} headers, and {LARGEST_HEAD:,} bytes of them and the address "
    "together. Nothing was done."
)

LOOKS = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""

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
        if is_large_head(scope):
            await send_refusal(send, 431, HEAD_REFUSED)
            return
        wanted, most = (FORM, LARGEST_FORM) if scope["path"] in FORMS else (JSON, LARGEST_BODY)
        try:
            body = await whole_body(receive, most)
        except ClientDisconnect:
            return
        if body is None:
            await send_refusal(send, 413, f"Expected a body of at most {most:,} bytes.")
            return
        if body and not headers.get(b"content-type", b"").startswith(wanted):
            await send_refusal(send, 415, f"Expected a body of type {wanted.decode()}.")
            return
        if len(body) <= SMALL:
            found = brackets_in(body)
        else:
            found = await anyio.to_thread.run_sync(brackets_in, body)
        if found.many > MOST_BRACKETS or found.depth > DEEPEST:
            await send_refusal(
                send,
                422,
                f"Expected a body of at most {MOST_BRACKETS:,} objects and lists, {DEEPEST} within "
                "each other at most. Send less in one request.",
            )
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


def is_large_head(scope: Message) -> bool:
    """Whether a request has too many headers, or they and its address are too long."""
    headers = scope["headers"]
    size = len(scope.get("raw_path") or b"") + len(scope["query_string"])
    size += sum(len(name) + len(value) + 4 for name, value in headers)
    return len(headers) > MOST_HEADERS or size > LARGEST_HEAD


async def whole_body(receive: Receive, most: int) -> bytes | None:
    """The body; None: it has more than so many bytes.

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
        if size > most:
            return None
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


class Brackets(NamedTuple):
    """How many brackets open in a body, and how deep they are nested."""

    many: int
    depth: int


def brackets_in(body: bytes) -> Brackets:
    """The brackets of a body in JSON. Text between quotes does not count."""
    if body.count(b"[") + body.count(b"{") <= DEEPEST:
        return Brackets(0, 0)
    plain = body.replace(b"\\\\", b"").replace(b'\\"', b"")  # a quote within a text ends none
    bytes_ = np.frombuffer(plain, np.uint8)
    outside = ~np.logical_xor.accumulate(bytes_ == ord('"'))
    opens = outside & ((bytes_ == ord("[")) | (bytes_ == ord("{")))
    closes = outside & ((bytes_ == ord("]")) | (bytes_ == ord("}")))
    depth = np.cumsum(opens.astype(np.int8) - closes, dtype=np.int32)
    return Brackets(int(opens.sum()), int(depth.max(initial=0)))


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


def refusal(status: int, detail: str) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """The headers and the body of a problem document."""
    said = {"type": "about:blank", "title": "Refused", "status": status, "detail": detail}
    body = json.dumps(said).encode()
    later = [(b"retry-after", b"1")] if status == 503 else []
    kind = [(b"content-type", b"application/problem+json"), (b"content-length", b"%d" % len(body))]
    return [*kind, *HEADERS, *later], body


async def send_refusal(send: Send, status: int, detail: str) -> None:
    headers, body = refusal(status, detail)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
