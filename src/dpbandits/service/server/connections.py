"""Connections to a server: how many there are, and how long a request may take to arrive and a
reply to be read. Whoever sends half a request, or reads half a reply, keeps nobody else out.
"""

import sys
from asyncio import Transport
from http import HTTPStatus
from typing import Any, ClassVar, Literal, NamedTuple, final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from dpbandits.service.server.app import (
    HEAD_REFUSED,
    HEADERS,
    LARGEST_BODY,
    LARGEST_HEAD,
    refusal_of,
)

LINGER, MOST_LINGERING = 1.0, 100
"""Seconds in which a refusal can be read before the connection is closed, and connections that are
kept for it at a time.
"""

BACKLOG, SHORTEST_BACKLOG = 512, 16
"""Connections that wait to be accepted. All of them may be accepted at once."""

OTHER_FILES = 300
"""Files that a server has open beside its connections."""

SLOWEST_REPLY = 64 * 2**10
"""Bytes of a reply, or what is left of it, that have to be read within a request's time."""


class ConnectionLimits(NamedTuple):
    """Limits of one server process.

    most: connections at a time. seconds: in which a request has to arrive, from its first byte or
        from the beginning of the connection.
    """

    most: int = 500
    seconds: float = 30.0


def backlog_for(connections: int) -> int:
    """The backlog with which files never run out: without any, nobody is served. As far as the
    system allows, this process and those that it starts may open more files from now on.

    Raises:
        ValueError: the system allows too few.
    """
    if sys.platform == "win32":  # files are not limited
        return BACKLOG
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    others = connections + MOST_LINGERING + OTHER_FILES
    wanted = others + 3 * BACKLOG  # some are accepted while others are refused
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if most < others + 3 * SHORTEST_BACKLOG:
        raise ValueError(
            f"{connections:,} connections need {others + 3 * SHORTEST_BACKLOG:,} open files, and "
            f"this process may have {hard:,}. Raise that limit (ulimit -n), or say --connections."
        )
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return min(BACKLOG, (most - others) // 3)


@final
class LimitedProtocol(HttpToolsProtocol):
    """A connection within limits. uvicorn makes one for each."""

    lingering: ClassVar = set["LimitedProtocol"]()
    """Those that were refused, and are kept for a moment."""

    def __init__(self, *given: Any, limits: ConnectionLimits, **named: Any) -> None:
        super().__init__(*given, **named)
        self.limits = limits
        self._stage: Literal["head", "body", "whole", "refused"] = "head"
        self._received = 0
        self._request_timer: Any = None
        self._reply_timer: Any = None
        self._unread = 0

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # `pause_writing`: something is not read yet
        self._expect_request()
        if len(self.connections) > self.limits.most:
            self.connections.discard(self)
            self._refuse(503, f"This server has {self.limits.most:,} connections. Try again later.")

    def connection_lost(self, exc: Exception | None) -> None:
        self.lingering.discard(self)
        for timer in self._request_timer, self._reply_timer:
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._stage == "refused":
            return
        if self._request_timer is None:
            self._expect_request()
        self._received += len(data)
        super().data_received(data)
        if self._stage == "head" and self._received > LARGEST_HEAD:
            self._refuse(431, HEAD_REFUSED)
        elif self._stage == "body" and self._received > LARGEST_HEAD + 2 * LARGEST_BODY:
            self._refuse(413, f"Expected a body of at most {LARGEST_BODY:,} bytes.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._stage, self._received = "head", 0
        if self._request_timer is None:  # it came in one piece with the request before
            self._expect_request()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._stage == "head":  # and not after the body, where nothing reads them
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._stage = "body"  # it has a reply of its own from now on

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._stage = "whole"
        if self._request_timer is not None:
            self._request_timer.cancel()
            self._request_timer = None

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, "Expected a request of HTTP/1.1. Nothing was done.")

    def _expect_request(self) -> None:
        self._request_timer = self.loop.call_later(self.limits.seconds, self._late)

    def _late(self) -> None:
        """A request did not arrive in time."""
        if self.pipeline or (self._is_answering() and self._stage != "body"):
            self._expect_request()  # it waits for the reply to the one before
            return
        self._refuse(
            408, f"Expected the whole request within {self.limits.seconds:g} s. Nothing was done."
        )

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _refuse(self, status: int, detail: str) -> None:
        """Reply to what is no whole request, and close."""
        own, answering = self._stage == "body", self._is_answering()
        self._stage = "refused"
        if answering:
            self.cycle.disconnected = True  # whoever reads its body is told
            self.cycle.message_event.set()
        if self.pipeline or answering is not own or (own and self.cycle.response_started):
            self.transport.abort()  # the reply would be taken for another request's
            return
        answer = refusal_of(status, detail)
        answer.headers.update({**HEADERS, "connection": "close"})
        if status == 503:
            answer.headers["retry-after"] = "1"
        lines = [b"HTTP/1.1 %d %s" % (status, HTTPStatus(status).phrase.encode())]
        lines += [name + b": " + value for name, value in answer.raw_headers]
        self.transport.write(b"\r\n".join([*lines, b"", bytes(answer.body)]))
        if self._request_timer is not None:
            self._request_timer.cancel()
        if len(self.lingering) < MOST_LINGERING:
            self.lingering.add(self)
            self._request_timer = self.loop.call_later(LINGER, self.transport.abort)
        else:
            self.transport.abort()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._expect_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._reply_timer is not None:
            self._reply_timer.cancel()
            self._reply_timer = None

    def _expect_reading(self) -> None:
        self._unread = self.transport.get_write_buffer_size()
        self._reply_timer = self.loop.call_later(self.limits.seconds, self._slow)

    def _slow(self) -> None:
        """A reply was not read for a while."""
        if self.transport.get_write_buffer_size() > self._unread - SLOWEST_REPLY:
            self.transport.abort()
        else:
            self._expect_reading()
