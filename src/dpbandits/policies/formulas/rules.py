"""Index policies as scalar functions: an arm's score, and the length of its next batch. Sessions
call them as they stand, and the simulator compiles them.

A score is called as score(p, mean, n, draws, log_t, best) and a batch rule as size(p, mean, n,
draws, pulls, best, leading). p: `IndexNumbers`. mean, n, draws: an arm's released mean, and the
rounds and noise draws behind it. log_t: ln of the round about to be played. pulls: rounds for
which the arm was played. best: the largest released mean of all arms, clipped to [0, 1]; leading:
the rounds behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dpbandits.policies.formulas.indices import (
    adac_ucb,
    adap_klucb,
    adap_ucb,
    dp_imed,
    dp_klucb,
    dp_ucb_bound,
    dp_ucb_published,
    dp_ucb_tight,
    hybrid_ucb,
    kl_level,
    kl_ucb,
    lazy_ucb,
    ldp_ucb,
    ucb1,
)
from dpbandits.policies.formulas.rate import rate_imed, settling_batch
from dpbandits.policies.formulas.schedules import growing_batch

ALL_DRAWS = 2**62
"""More noise draws than are in any total."""


class IndexNumbers(NamedTuple):
    """The constants of an index policy.

    eps: the budget, or rho. constant: the factor in its level. first, alpha: rounds in a first
        batch, and growth of an arm's rounds by a later one. counted: noise draws that are counted,
        at most. doubt, trust: see `rate.believed`. arms, horizon, gamma, scale: of DP-UCB, the
        last of a tree's node in rewards. noise: scale of the mechanism's noise in grid steps, of
        which the simulator alone asks.
    """

    eps: float = 0.0
    constant: float = 0.0
    first: int = 1
    alpha: float = 2.0
    counted: int = ALL_DRAWS
    doubt: float = 0.0
    trust: float = 1.0
    arms: int = 0
    horizon: int = 0
    gamma: float = 0.0
    scale: float = 0.0
    noise: float = 0.0


def one_round(
    p: IndexNumbers, mean: float, n: int, draws: int, pulls: int, best: float, leading: int
) -> int:
    """A release after every round."""
    return 1


class IndexRule(NamedTuple):
    """An index policy: its formulas and their constants.

    capped: whether no index is above 1, and one that is 1 stays so until the arm's next release.
    timeless: whether a score depends on `best` and not on `log_t`; else it is the other way round.
    by_best: whether the batch rule looks at `best` and `leading`.
    """

    score: Callable[..., float]
    numbers: IndexNumbers
    size: Callable[..., int] = one_round
    capped: bool = False
    timeless: bool = False
    by_best: bool = False


def growing(
    p: IndexNumbers, mean: float, n: int, draws: int, pulls: int, best: float, leading: int
) -> int:
    """Batches that make an arm's rounds grow by alpha."""
    return growing_batch(n, p.first, p.alpha)


def as_long_again(
    p: IndexNumbers, mean: float, n: int, draws: int, pulls: int, best: float, leading: int
) -> int:
    """Episodes that double the rounds for which an arm was played."""
    return max(1, pulls)


def twice_the_last(
    p: IndexNumbers, mean: float, n: int, draws: int, pulls: int, best: float, leading: int
) -> int:
    """Batches of 1, 2, 4, … rounds, of which the newest alone counts."""
    return max(1, 2 * n)


def settling(
    p: IndexNumbers, mean: float, n: int, draws: int, pulls: int, best: float, leading: int
) -> int:
    """Batches as long as DP-Rate-IMED's index asks for."""
    if n == 0:
        return p.first
    return settling_batch(
        mean,
        best,
        n,
        min(draws + 1, p.counted),
        leading,
        p.constant,
        p.first,
        p.alpha,
        p.eps,
        p.doubt,
        p.trust,
    )


def ucb1_score(
    p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float
) -> float:
    return ucb1(mean, n, log_t)


def kl_ucb_score(
    p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float
) -> float:
    return kl_ucb(mean, n, kl_level(log_t, p.constant))


def ldp_ucb_score(
    p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float
) -> float:
    return ldp_ucb(mean, n, log_t, p.eps)


def lazy_ucb_score(
    p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float
) -> float:
    return lazy_ucb(mean, n, log_t, p.eps)


def adap_ucb_score(
    p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float
) -> float:
    return adap_ucb(mean, n, log_t, p.eps, p.constant)


def adap_klucb_score(
    p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float
) -> float:
    return adap_klucb(mean, n, log_t, p.eps, p.constant)


def adac_ucb_score(
    p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float
) -> float:
    return adac_ucb(mean, n, log_t, p.eps, p.constant)


def dp_klucb_score(
    p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float
) -> float:
    return dp_klucb(mean, n, kl_level(log_t, p.constant), p.eps)


def dp_imed_score(
    p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float
) -> float:
    return dp_imed(mean, n, best, p.eps)


def rate_imed_score(
    p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float
) -> float:
    counted = min(draws, p.counted)
    return rate_imed(mean, best, n, counted, p.constant, p.eps, p.doubt, p.trust)


def dp_ucb_tight_score(
    p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float
) -> float:
    return dp_ucb_tight(mean, n, log_t, draws, p.scale)


def dp_ucb_published_score(
    p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float
) -> float:
    return dp_ucb_published(mean, n, log_t, p.eps, p.arms, p.horizon, p.gamma)


def dp_ucb_bound_score(
    p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float
) -> float:
    return dp_ucb_bound(mean, n, log_t, p.eps)


def hybrid_ucb_score(
    p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float
) -> float:
    return hybrid_ucb(mean, n, log_t, p.eps)
