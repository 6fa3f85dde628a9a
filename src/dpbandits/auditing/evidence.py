"""Evidence that may be looked at after every run: bets on which of two tables a run was played on.

A fair coin chooses one of two neighbouring tables for every run. An adversary sees the outcome and
states how likely the first table is. If a claim of epsilon holds, then for no outcome is either
table more likely than 1/(1 + e^-epsilon). So a bet at these odds wins nothing on average, whatever
the adversary has learnt from earlier runs, and however it chose the tables. Its wealth is a
nonnegative supermartingale: it ever reaches 1/alpha with probability alpha at most (Ville).

Of all runs this needs one table: for each stated probability, how many runs were on the first table
and how many on the second. Anybody can work the bound out again from it.

Source: betting e-processes for audits, arXiv 2509.07055; the bets are the likelihood ratio of the
stated probability against the nearest one that the claim allows.
"""

import math
from collections.abc import Sequence

import numpy as np

from dpbandits.core.inputs import Floats, Integers

ALPHA = 1e-6
"""The probability with which a bound is wrong, at most."""

SCALE, LARGEST = 16, 256
"""Stated probabilities have log-odds that are multiples of 1/16, between -16 and 16."""

CLAIMS = np.concatenate([np.arange(0, 1, 0.0025), np.arange(1, 4, 0.01), np.arange(4, 16, 0.05)])
"""The claims that are bet against at once."""

STAKES = (0.9, 0.5, 0.25, 0.1, 0.03)
"""Parts of the wealth that bets against an (epsilon, delta) claim put at stake, at most."""

Bets = Integers
"""Shape (2 * LARGEST + 1, 2): by log-odds, the runs on the first and on the second table."""


def no_bets() -> Bets:
    return np.zeros((2 * LARGEST + 1, 2), np.int64)


def bets_of(levels_a: Integers, levels_b: Integers) -> Bets:
    """Return the bets on runs whose log-odds were stated in steps of 1/16."""
    sides = [
        np.bincount(np.clip(levels, -LARGEST, LARGEST) + LARGEST, minlength=2 * LARGEST + 1)
        for levels in (levels_a, levels_b)
    ]
    return np.stack(sides, axis=1).astype(np.int64)


def log_wealth(bets: Bets, claims: Sequence[float] | Floats, delta: float = 0.0) -> Floats:
    """Return the logarithm of the wealth against each claim of (epsilon, delta)-privacy.

    Args:
        bets: what was stated and what was true.
        claims: the epsilons, shape (claims,).
        delta: of all claims.

    Returns:
        Shape (claims,).

    Example:
        >>> sure = bets_of(np.full(100, 64), np.full(0, 0))  # log-odds of 4, always right
        >>> log_wealth(sure, [1.0, 2.0]).round(1).tolist()
        [29.5, 10.9]
    """
    epsilons = np.asarray(claims, np.float64)[:, None]
    level = np.flatnonzero(bets.any(axis=1))
    odds, on = (level - LARGEST) / SCALE, bets[level].astype(np.float64)
    right = np.where(odds > 0, on[:, 0], on[:, 1])  # runs on the table that was held for likelier
    wrong = np.where(odds > 0, on[:, 1], on[:, 0])
    size = np.abs(odds)[None, :]
    if delta == 0:
        won = np.logaddexp(0, -epsilons) - np.logaddexp(0, -size)
        lost = np.logaddexp(0, epsilons) - np.logaddexp(0, size)
        return np.asarray(np.where(size > epsilons, right * won + wrong * lost, 0.0).sum(axis=1))
    return np.array([hockey_stick(odds, right, wrong, float(e), delta) for e in epsilons[:, 0]])


def hockey_stick(odds: Floats, right: Floats, wrong: Floats, epsilon: float, delta: float) -> float:
    """Of an event A a claim says P(A) <= e^epsilon Q(A) + delta. The events are "table one is
    likelier by e^t", each against its mirror image; wealth is spread over several t and stakes.
    """
    found, most = [], math.exp(epsilon)
    for margin in (0.0, 0.5, 2.0):
        among = np.abs(odds) > epsilon + margin
        held, against = right[among].sum(), wrong[among].sum()
        rest = right.sum() + wrong.sum() - held - against
        for part in STAKES:
            # both events together: their payoffs have a mean of delta at most
            stake = part / (most + delta)
            found.append(
                held * math.log1p(stake * (1 - delta))
                + against * math.log1p(-stake * (most + delta))
                + rest * math.log1p(-stake * delta)
            )
    return float(np.logaddexp.reduce(found) - math.log(len(found)))


def certified(bets: Bets, alpha: float = ALPHA, delta: float = 0.0) -> float:
    """Return the largest epsilon that is certified to leak: it and all smaller claims are refuted.

    Args:
        bets: what was stated and what was true.
        alpha: the bound is above the truth with this probability at most, at whatever time it is
            looked at.
        delta: of the claims.

    Returns:
        The bound; 0.0 if nothing is certified.

    Example:
        >>> certified(bets_of(np.full(100, 64), np.full(0, 0)))
        1.77
    """
    claims = CLAIMS if delta == 0 else CLAIMS[::10]
    refuted = log_wealth(bets, claims, delta) >= -math.log(alpha)
    many = len(refuted) if refuted.all() else int(np.argmin(refuted))
    return round(float(claims[many - 1]), 4) if many else 0.0


DELTAS = (0.3, 0.1, 0.03, 0.01, 0.001)
"""At which a curve is certified."""


def curve(bets: Bets) -> list[tuple[float, float]]:
    """Return (delta, epsilon) for some deltas: no (epsilon, delta)-privacy holds, at any of them,
    but for a chance of `ALPHA`.
    """
    return [(delta, certified(bets, ALPHA / len(DELTAS), delta)) for delta in DELTAS]


def zcdp_epsilon(rho: float, delta: float) -> float:
    """Return the epsilon that rho-zCDP implies with this delta (Canonne, Kamath and Steinke 2020,
    proposition 12).

    Example:
        >>> round(zcdp_epsilon(0.5, 0.01), 2)
        2.75
    """
    alpha = 1 + np.geomspace(1e-2, 1e3, 400)
    implied = rho * alpha - np.log(alpha * delta) / (alpha - 1) + np.log1p(-1 / alpha)
    return max(0.0, float(implied.min()))


def certified_rho(bets: Bets) -> float:
    """Return the largest rho of zCDP that the curve refutes."""
    rhos, found = np.geomspace(1e-3, 20, 200), 0.0
    for delta, epsilon in curve(bets):
        refuted = [rho for rho in rhos if zcdp_epsilon(rho, delta) < epsilon]
        found = max(found, float(refuted[-1]) if refuted else 0.0)
    return found


def reach(runs: int, alpha: float = ALPHA, delta: float = 0.0) -> float:
    """Return the largest epsilon that so many runs can certify: if every guess is right.

    Example:
        >>> round(reach(2000), 2), round(reach(600), 2)
        (4.97, 3.76)
    """
    if delta:
        return certified(all_right(runs), alpha, delta)
    each = -math.log(alpha) / max(1, runs)
    return max(0.0, min(float(CLAIMS[-1]), -math.log(math.expm1(each)))) if each < 1 else 0.0


def rho_reach(runs: int) -> float:
    """Return the largest rho that so many runs can certify."""
    return certified_rho(all_right(runs))


def all_right(runs: int) -> Bets:
    bets = no_bets()
    bets[-1, 0] = runs
    return bets


def runs_needed(
    bets: Bets, claim: float, delta: float = 0.0, rho: float | None = None
) -> int | None:
    """Return about how many runs in all refute a claim, if they go on as so far; None if more of
    the same will not.

    Args:
        bets: so far.
        claim: the epsilon; of no account where a rho is claimed.
        delta: of the claim.
        rho: of a claim of zCDP.

    Example:
        >>> runs_needed(bets_of(np.full(20, 64), np.full(0, 0)), 1.0)
        47
        >>> runs_needed(bets_of(np.full(20, 64), np.full(20, 64)), 1.0) is None
        True
    """
    claims, alpha = [(claim, delta)], ALPHA
    if rho is not None:
        claims, alpha = [(zcdp_epsilon(rho, each), each) for each in DELTAS], ALPHA / len(DELTAS)
    won = max(float(log_wealth(bets, [epsilon], each)[0]) for epsilon, each in claims)
    return math.ceil(-math.log(alpha) * int(bets.sum()) / won) if won > 0 else None


def runs_to_reach(claim: float) -> int:
    """Return the fewest runs that can certify more than a claim, where every guess is right.

    Example:
        >>> runs_to_reach(1.0), reach(runs_to_reach(1.0)) > 1
        (45, True)
    """
    runs = math.ceil(-math.log(ALPHA) / math.log1p(math.exp(-claim)))
    return runs + sum(reach(runs + more) <= claim for more in range(3))


def written(bets: Bets) -> list[list[int]]:
    """Return the bets as rows of log-odds in sixteenths and the runs on either table."""
    level = np.flatnonzero(bets.any(axis=1))
    return [[int(at) - LARGEST, *map(int, bets[at])] for at in level]


def read(rows: object) -> Bets:
    """Return the bets that were written so.

    Raises:
        ValueError: no such rows.
    """
    bets = no_bets()
    if not isinstance(rows, list):
        raise ValueError("Expected the bets of the report to be a list of rows.")
    for row in rows:
        fits = (
            isinstance(row, list)
            and len(row) == 3
            and all(type(number) is int for number in row)
            and abs(row[0]) <= LARGEST
            and all(0 <= number <= 10**12 for number in row[1:])
        )
        if not fits:
            raise ValueError(f"Expected rows [log-odds, runs, runs] of whole numbers, got {row!r}.")
        bets[row[0] + LARGEST] += row[1:]
    return bets
