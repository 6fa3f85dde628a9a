"""Formulas of rules that stop: bars, thresholds, and the top two."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

from dpbandits.core.inputs import number_within, positive
from dpbandits.policies.formulas.indices import kl

# The bars of the stopping rules, in ranges high − low = 2R, and the bound of their halting time.
# Functions of public numbers only.


def nas_bar(t: int, alpha: float, beta: float) -> float:
    """Return t·h_t(1 + 1/alpha)/(2R), h_t = R√((2/t) ln(4t²/beta)): Hoeffding at confidence 1 −
    beta/(2t²).
    """
    log = math.log(4.0) - math.log(beta) + 2.0 * math.log(t)
    return (1.0 + 1.0 / alpha) * math.sqrt(0.5 * t * log)


def private_bar(t: int, log_test: float, alpha: float, beta: float, eps: float) -> float:
    """Return (t·h_t(1 + 1/alpha) + c_t)/(2R) at test number i, log_test = ln i.

    h_t = R√((2/t) ln(16i²/beta)), c_t = σ₁ ln(4/beta) + σ₂ ln(8i²/beta) + (σ₃/alpha) ln(4/beta), σ₁
    = σ₂ = 12R/eps, σ₃ = 4R/eps.
    """
    inverse, twice = -math.log(beta), 2.0 * log_test
    log4 = math.log(4.0) + inverse
    log8 = math.log(8.0) + inverse + twice
    log16 = math.log(16.0) + inverse + twice
    return (1.0 + 1.0 / alpha) * math.sqrt(0.5 * t * log16) + (
        6.0 * log4 + 6.0 * log8 + 2.0 * log4 / alpha
    ) / eps


def stopping_time_bound(
    mean: float, width: float, *, alpha: float, beta: float, epsilon: float
) -> float:
    """Return 2000(t₀ + t₁ + t₂), the number of values by which `DPExponentialNAS` halts with
    probability 1 − beta.

    It holds for beta <= 0.08 and R >= e·alpha·|mean| (see its proof page).

    Source: Sajed and Sheffet 2019, Theorem 3.3.

    Args:
        mean: mean of the values.
        width: half of their range, R.
        alpha: relative error of the estimate.
        beta: failure probability.
        epsilon: ε of the rule.

    Returns:
        The bound; infinite for a mean of 0.

    Raises:
        ValueError: an argument out of its range, or R < e·alpha·|mean|.

    Example:
        >>> round(stopping_time_bound(0.5, 1.0, alpha=0.5, beta=0.05, epsilon=1))
        143571
    """
    width, epsilon = positive(width=width, epsilon=epsilon)
    alpha = number_within(alpha, "alpha", 0, 1, "()")
    beta = number_within(beta, "beta", 0, 1, "()")
    largest = width / (math.e * alpha)
    mean = number_within(mean, "mean", -largest, largest)
    inverse = width / abs(mean) if mean else math.inf
    if math.isinf(inverse):
        return math.inf
    log = math.log(math.log(inverse / alpha) / beta)
    return 2000.0 * (
        (inverse / alpha) ** 2 * log
        + inverse * log / epsilon
        + inverse * math.log(1.0 / beta) / (epsilon * alpha)
    )


# Thresholds of best-arm identification: the gap of noisy means, or the evidence of noisy bits.
#
# Proofs: proofs/adap_tt.md and proofs/ctb_tt.md.


BASEL = math.pi**2 / 6.0  # the sum of 1/k²
LATE = 0.01  # share of the failure probability for batches that late rewards enlarged
DOUBT = 0.1  # share for the interval of the common mean
STEEP = 30.0  # largest exponent per reward: larger ones gain nothing, and e^x may overflow
GOLD = (math.sqrt(5.0) - 1.0) / 2.0
SEARCH = 40  # golden-section steps over seven decades: the optimum's position to about 1e-7


def late_cost(late: int) -> float:
    """Return ln(1/weight) of a window with `late` more rewards than planned; the weights sum to
    1.
    """
    return -math.log1p(-LATE) if late <= 0 else math.log(late * (late + 1.0) / LATE)


def comparison_cost(
    phase_a: int, phase_b: int, late_a: int, late_b: int, arms: int, delta: float
) -> float:
    """Return ln(1/failure probability) of one comparison: a union over rivals, phases (weights
    1/(k(k + 1))) and late rewards.
    """
    phases = math.log(phase_a * (phase_a + 1.0)) + math.log(phase_b * (phase_b + 1.0))
    return math.log((arms - 1) / delta) + phases + late_cost(late_a) + late_cost(late_b)


def excluded_mean(x: float, mean: float, n: int, draws: int, eps: float, doubt: float) -> float:
    """Return the mean up to which means are refuted at level e^−doubt by the Chernoff bound with
    exponent x per reward, 0 < x < eps.
    """
    return math.expm1(x * mean + (draws * math.log1p(-((x / eps) ** 2)) - doubt) / n) / math.expm1(
        x
    )


def least_mean(mean: float, n: int, draws: int, eps: float, doubt: float) -> float:
    """Return the lower confidence limit, at least 0: the best `excluded_mean`. Every exponent is
    valid, so the search cannot make it invalid.
    """
    high = math.log(min(eps, STEEP) * (1.0 - 1e-9))
    low = high - 16.0
    a, b = high - GOLD * (high - low), low + GOLD * (high - low)
    at_a = excluded_mean(math.exp(a), mean, n, draws, eps, doubt)
    at_b = excluded_mean(math.exp(b), mean, n, draws, eps, doubt)
    for _ in range(SEARCH):
        if at_a < at_b:
            low, a, at_a = a, b, at_b
            b = low + GOLD * (high - low)
            at_b = excluded_mean(math.exp(b), mean, n, draws, eps, doubt)
        else:
            high, b, at_b = b, a, at_a
            a = high - GOLD * (high - low)
            at_a = excluded_mean(math.exp(a), mean, n, draws, eps, doubt)
    return max(0.0, at_a, at_b)


def gap_at(
    theta: float,
    n: int,
    draws_a: int,
    m: int,
    draws_b: int,
    eps: float,
    cost: float,
    low: float,
    high: float,
) -> float:
    """Return the gap of two means that has probability at most e^−cost for a common mean in [low,
    high], with exponent theta.

    It is (cost + n ln(1 + μ(e^{θ/n} − 1)) + m ln(1 + μ(e^{−θ/m} − 1)) − Σ draws·ln(1 − (θ/(eps
    n))²))/θ at the worst μ.
    """
    p, q = math.expm1(theta / n), math.expm1(-theta / m)
    worst = min(high, max(low, -(n * p + m * q) / ((n + m) * p * q)))
    rewards = n * math.log1p(worst * p) + m * math.log1p(worst * q)
    noise = draws_a * math.log1p(-((theta / (eps * n)) ** 2)) + draws_b * math.log1p(
        -((theta / (eps * m)) ** 2)
    )
    return (cost + rewards - noise) / theta


def least_gap(
    n: int, draws_a: int, m: int, draws_b: int, eps: float, cost: float, low: float, high: float
) -> float:
    """Return the smallest `gap_at` over 0 < theta < eps·min(n, m). Every theta is valid, so the
    search cannot make it invalid.
    """
    last = math.log(min(eps, STEEP) * min(n, m) * (1.0 - 1e-9))
    first = last - 16.0
    a, b = last - GOLD * (last - first), first + GOLD * (last - first)
    at_a = gap_at(math.exp(a), n, draws_a, m, draws_b, eps, cost, low, high)
    at_b = gap_at(math.exp(b), n, draws_a, m, draws_b, eps, cost, low, high)
    for _ in range(SEARCH):
        if at_a > at_b:
            first, a, at_a = a, b, at_b
            b = first + GOLD * (last - first)
            at_b = gap_at(math.exp(b), n, draws_a, m, draws_b, eps, cost, low, high)
        else:
            last, b, at_b = b, a, at_a
            a = last - GOLD * (last - first)
            at_a = gap_at(math.exp(a), n, draws_a, m, draws_b, eps, cost, low, high)
    return min(at_a, at_b)


def tight_gap(
    mean_a: float,
    n: int,
    draws_a: int,
    mean_b: float,
    m: int,
    draws_b: int,
    eps: float,
    cost: float,
) -> float:
    """Return the gap at which arm a is surely not below arm b; −inf if no common mean is possible.

    Args:
        mean_a: noisy mean of the newest rewards of a.
        n: their number.
        draws_a: noise draws in it.
        mean_b: likewise for b.
        m: likewise for b.
        draws_b: likewise for b.
        eps: ε of one draw.
        cost: ln(1/failure probability).
    """
    doubt = cost + math.log(2.0 / DOUBT)
    low = least_mean(mean_a, n, draws_a, eps, doubt)
    high = 1.0 - least_mean(1.0 - mean_b, m, draws_b, eps, doubt)
    if low > high:
        return -math.inf
    return least_gap(n, draws_a, m, draws_b, eps, cost - math.log1p(-DOUBT), low, high)


def published_gap(n: int, m: int, phase: int, arms: int, delta: float, eps: float) -> float:
    """Return the gap of the published threshold (reconstructed), phase the larger of the two.
    Azize, Jourdan, Al Marjani and Basu 2023.
    """
    union = BASEL * phase * phase / delta
    # C(x) = x + ln x is a bound from x = 1 on
    x = max(1.0, 0.5 * math.log((arms - 1) * union))
    spread, noise = 1.0 / n + 1.0 / m, math.log(2.0 * arms * union) / eps
    level = (
        2.0 * (x + math.log(x))
        + 2.0 * math.log(4.0 + math.log(n))
        + 2.0 * math.log(4.0 + math.log(m))
        + spread * noise * noise
    )
    return math.sqrt(2.0 * spread * level)


def first_batch(arms: int, delta: float, eps: float) -> int:
    """Return the smallest first batch with which a gap of one half is enough."""
    cost, high = comparison_cost(1, 1, 0, 0, max(2, arms), delta), 1

    def is_enough(n: int) -> bool:
        return least_gap(n, 1, n, 1, eps, cost, 0.0, 1.0) <= 0.5

    while not is_enough(high):
        high *= 2
    return bisect_left(range(high), True, lo=high // 2 + 1, key=is_enough)


def log_likelihood(ones: float, n: int) -> float:
    """Return the largest log-likelihood of n bits with `ones` ones; 0·ln 0 = 0."""
    value = ones * math.log(ones / n) if ones > 0.0 else 0.0
    return value + ((n - ones) * math.log((n - ones) / n) if ones < n else 0.0)


def bit_regret(ones: float, n: int) -> float:
    """Return the log-likelihood advantage of the best Bernoulli law over the uniform mixture of
    all, in nats: about ½ ln n.
    """
    return (
        log_likelihood(ones, n)
        - math.lgamma(ones + 1.0)
        - math.lgamma(n - ones + 1.0)
        + math.lgamma(n + 2.0)
    )


def bit_evidence(mean_a: float, n: int, mean_b: float, m: int) -> float:
    """Return the evidence against "a is not above b", in nats: the infimum over laws with p_a <=
    p_b, which is at their pooled mean; 0 if a is not above b.
    """
    if mean_a <= mean_b:
        return 0.0
    pooled = (n * mean_a + m * mean_b) / (n + m)
    return n * kl(mean_a, pooled) + m * kl(mean_b, pooled)


# The leader, its challenger, and the stopping condition: functions of released values and public
# counts.
#
# means, rounds: of each arm's newest released batches; phases: number of released batches; pulls:
# recorded rounds.


def leading(
    means: Sequence[float], rounds: Sequence[int], phases: Sequence[int], eps: float
) -> int:
    """Return the arm with the largest mean + √(k/n) + k/(eps n), k its phase; the lowest on a tie.
    AdaP-TT's leader (reconstructed).
    """
    best, top = 0, -math.inf
    for arm in range(len(means)):
        value = (
            means[arm] + math.sqrt(phases[arm] / rounds[arm]) + phases[arm] / (eps * rounds[arm])
        )
        if value > top:
            best, top = arm, value
    return best


def challenging(
    leader: int, means: Sequence[float], pulls: Sequence[int], t: int, net: bool
) -> int:
    """Return the arm that is hardest to distinguish from the leader: the smallest (gap)₊/√(1/pulls
    + 1/pulls). At least two arms.

    With `net`, an arm with fewer than √t pulls comes first. Otherwise two equal arms may compete
    forever while a better one is ignored.
    """
    chosen, least, fewest = -1, math.inf, leader
    for arm in range(len(means)):
        if pulls[arm] < pulls[fewest]:
            fewest = arm
        if arm != leader:
            cost = max(0.0, means[leader] - means[arm]) / math.sqrt(
                1.0 / pulls[leader] + 1.0 / pulls[arm]
            )
            if cost < least:
                chosen, least = arm, cost
    return fewest if net and fewest != leader and pulls[fewest] < math.sqrt(t) else chosen


def planned(first: int, phase: int) -> int:
    """Return the rounds in an arm's first `phase` batches: first, first, 2 first, 4 first, …"""
    return first << (phase - 1) if phase > 0 else 0


def settled(
    means: Sequence[float],
    rounds: Sequence[int],
    phases: Sequence[int],
    first: int,
    keep: int,
    delta: float,
    eps: float,
    published: bool,
) -> int:
    """Return the arm that is surely best, or −1. A mean covers the newest `keep` batches."""
    arms, best = len(means), 0
    for arm in range(arms):
        if means[arm] > means[best]:
            best = arm
    k, n = phases[best], rounds[best]
    late = n - planned(first, k) + planned(first, k - keep)
    for arm in range(arms):
        if arm == best:
            continue
        j, m = phases[arm], rounds[arm]
        if published:
            needed = published_gap(n, m, max(j, k), arms, delta, eps)
        else:
            cost = comparison_cost(
                k, j, late, m - planned(first, j) + planned(first, j - keep), arms, delta
            )
            needed = tight_gap(means[best], n, min(k, keep), means[arm], m, min(j, keep), eps, cost)
        if not means[best] - means[arm] > max(0.0, needed):
            return -1
    return best


def leading_bits(means: Sequence[float], rounds: Sequence[int], t: int) -> int:
    """Return the arm with the largest mean + √(ln t/(2n)), the lowest on a tie."""
    best, top = 0, -math.inf
    for arm in range(len(means)):
        value = means[arm] + math.sqrt(math.log(t) / (2.0 * rounds[arm]))
        if value > top:
            best, top = arm, value
    return best


def challenging_bits(leader: int, means: Sequence[float], rounds: Sequence[int]) -> int:
    """Return the arm with the least evidence that the leader is above it; with fewer rounds on a
    tie, then the lowest. At least two arms.
    """
    chosen, least = -1, math.inf
    for arm in range(len(means)):
        if arm != leader:
            evidence = bit_evidence(means[leader], rounds[leader], means[arm], rounds[arm])
            if evidence < least or (evidence == least and rounds[arm] < rounds[chosen]):
                chosen, least = arm, evidence
    return chosen


def settled_bits(means: Sequence[float], rounds: Sequence[int], delta: float) -> int:
    """Return the arm whose bits are surely the best, or −1."""
    arms, best = len(means), 0
    for arm in range(arms):
        if means[arm] > means[best]:
            best = arm
    threshold = math.log((arms - 1) / delta) + bit_regret(means[best] * rounds[best], rounds[best])
    for arm in range(arms):
        evidence = bit_evidence(means[best], rounds[best], means[arm], rounds[arm])
        if arm != best and evidence < threshold + bit_regret(means[arm] * rounds[arm], rounds[arm]):
            return -1
    return best
