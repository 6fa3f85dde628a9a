"""How often every policy plays every arm in each draw of the rates: exact runs, by `simulate`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from dpbandits.core.inputs import Floats, Integers
from dpbandits.environments import Bernoulli
from dpbandits.policies.contract import Policy
from dpbandits.simulation.delays import DelayLaw
from dpbandits.simulation.simulate import simulate

KEPT = 24
"""Rounds at which play counts are kept, by ratio."""

SHARE = 10
"""Draws after which progress is told; where answers are late, it is told after each."""

TellDone = Callable[[int], None]
"""Is told how many more runs are done."""


def counted_rounds(visitors: int) -> Integers:
    """Increasing rounds, the last the end."""
    rounds = np.rint(np.geomspace(min(visitors, 10), visitors, KEPT)).astype(np.int64)
    return np.unique(np.append(rounds, visitors))


def plays_of(
    policy: Policy,
    means: Floats,
    visitors: int,
    seed: int,
    steady: bool,
    tell: TellDone,
    delay: int | DelayLaw | None = None,
) -> Integers:
    """Play counts at `counted_rounds`, shape (draws, rounds, arms). Draw d is run number d of
    `simulate` with this seed and that draw's means.
    """
    at = counted_rounds(visitors).tolist()
    found = []
    share = SHARE if delay is None else 1
    spans = [range(start, min(start + share, len(means))) for start in range(0, len(means), share)]
    if steady:
        for span in spans:
            runs = simulate(
                policy,
                Bernoulli(means[0]),
                visitors,
                runs=len(span),
                seed=seed,
                at=at,
                first=span.start,
                delay=delay,
            )
            found.append(runs.plays_at(at))
            tell(len(span))
        return np.concatenate(found)
    play = partial(one_draw, policy, means, visitors, seed, at, delay)
    for part in shared_out(play, spans):
        found.append(part)
        tell(len(part))
    return np.concatenate(found)


def one_draw(
    policy: Policy,
    means: Floats,
    visitors: int,
    seed: int,
    at: list[int],
    delay: int | DelayLaw | None,
    draw: int,
) -> Integers:
    environment = Bernoulli(means[draw])
    runs = simulate(
        policy, environment, visitors, seed=seed, at=at, first=draw, workers=1, delay=delay
    )
    return np.asarray(runs.plays_at(at)[0])


def shared_out(play: Callable[[int], Integers], spans: list[range]) -> Iterator[Integers]:
    """The draws of each span, in order; several at once once the first has compiled the player."""
    first, *rest = spans[0]
    done = [play(first)]
    pool = ThreadPoolExecutor(os.cpu_count() or 1)
    try:
        waiting = [pool.map(play, span) for span in (rest, *spans[1:])]
        yield np.stack([*done, *waiting[0]])
        for parts in waiting[1:]:
            yield np.stack(list(parts))
    finally:  # who stops early waits for no run that has not begun
        pool.shutdown(cancel_futures=True)
