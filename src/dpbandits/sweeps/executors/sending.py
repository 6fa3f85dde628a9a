"""Calls that are on their way to a Dask cluster, as Python's own futures.

Dask keeps a result on the worker that made it for as long as somebody wants it, and has it made
again should that worker be lost. So an answer is given up as soon as it is here, and is an answer
only once the scheduler has forgotten the call: from then on nothing repeats it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")

PAUSE = 0.005
"""Seconds between two looks at what the scheduler knows."""

MOST_LOOKS = 400
"""After these the answer counts all the same: a scheduler so slow may repeat a call for nothing."""


def send(client: Any, call: Callable[..., T], *values: Any, retries: int) -> Future[T]:
    """Have a worker of this client's cluster make a call; where it raises, so often again.

    The answer is cancelled where the cluster is lost; who cancels it calls the work off.
    """
    answer = Future[T]()
    remote = client.submit(call, *values, pure=False, retries=retries)

    def call_off(answer: Future[T]) -> None:
        if answer.cancelled() and not remote.cancelled():
            remote.cancel()

    answer.add_done_callback(call_off)
    client.loop.add_callback(hand_over, client, remote, answer)
    return answer


async def hand_over(client: Any, remote: Any, answer: Future[T]) -> None:
    """On the client's loop: wait for what the worker returns or raises."""
    with suppress(InvalidStateError):  # somebody cancelled it meanwhile
        try:
            value = await remote
            await let_go(client, remote)
        except BaseException as error:
            if remote.status != "error":  # not the call's own error: the cluster is lost
                answer.cancel()
                answer.set_running_or_notify_cancel()
            else:
                answer.set_exception(error)
        else:
            answer.set_result(value)


async def let_go(client: Any, remote: Any) -> None:
    """Give a call up, and wait until the scheduler knows nothing of it any more."""
    remote.release()
    # the scheduler may be lost, which a client that has given up does not know any more: what is
    # here is not
    with suppress(OSError, AttributeError):
        for _ in range(MOST_LOOKS):
            known = await client.scheduler.get_task_status(keys=[remote.key])
            if known[remote.key] is None:
                return
            await asyncio.sleep(PAUSE)
