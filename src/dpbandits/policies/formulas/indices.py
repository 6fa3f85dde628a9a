"""Index formulas: how much an arm is worth at round t, from released values. Plain scalar
functions, compiled as they stand.

mean: released mean; n: rounds behind it; log_t: ln of the round about to be played; eps: the budget
    as a float.
"""

from __future__ import annotations

import math

from dpbandits.policies.formulas.divergences import clip01, d_eps, d_eps_upper, kl_upper


def ucb1(mean: float, n: int, log_t: float) -> float:
    """mean + √(2 ln t / n). Auer, Cesa-Bianchi and Fischer 2002."""
    return mean + math.sqrt(2.0 * log_t / n)


def kl_level(log_t: float, c: float) -> float:
    """ln t + c·ln ln t, never below 0."""
    return max(0.0, log_t + c * math.log(log_t)) if log_t > 0.0 and c != 0.0 else log_t


def kl_ucb(mean: float, n: int, level: float) -> float:
    """max{q: n·kl(mean, q) <= level}, level = ln t + c ln ln t. Garivier and Cappé 2011."""
    return kl_upper(clip01(mean), level / n)


def lazy_ucb(mean: float, n: int, log_t: float, eps: float) -> float:
    """mean + √(3 ln t / n) + 3 ln t / (eps n). Hu, Huang and Mehta 2021, Algorithm 1."""
    return mean + math.sqrt(3.0 * log_t / n) + 3.0 * log_t / (eps * n)


def hybrid_ucb(mean: float, n: int, log_t: float, eps: float) -> float:
    """mean + √(3 lg t / n) + 6√8 lg t ⌊lg(n + 1)⌋ / (eps n), lg to base 2. Hu, Huang and Mehta
    2021, equation (35).
    """
    lg_t = log_t / math.log(2.0)
    return (
        mean
        + math.sqrt(3.0 * lg_t / n)
        + 6.0 * math.sqrt(8.0) * lg_t * math.floor(math.log2(n + 1)) / (eps * n)
    )


def adap_ucb(mean: float, n: int, log_t: float, eps: float, a: float) -> float:
    """mean + √(a ln t / (2n)) + a ln t / (eps n). Azize and Basu 2022, AdaP-UCB."""
    return mean + math.sqrt(a * log_t / (2.0 * n)) + a * log_t / (eps * n)


def adap_klucb(mean: float, n: int, log_t: float, eps: float, a: float) -> float:
    """max{q: kl(Clip01(mean + a ln t/(eps n)), q) <= a ln t / n}. Azize and Basu 2022,
    AdaP-KLUCB.
    """
    return kl_upper(clip01(mean + a * log_t / (eps * n)), a * log_t / n)


def adac_ucb(mean: float, n: int, log_t: float, rho: float, b: float) -> float:
    """mean + √((1/(2n) + 1/(rho n²)) b ln t). Azize and Basu 2024, AdaC-UCB."""
    return mean + math.sqrt((1.0 / (2.0 * n) + 1.0 / (rho * n * n)) * b * log_t)


def dp_klucb(mean: float, n: int, level: float, eps: float) -> float:
    """max{q: n·d_eps(Clip01 mean, q) <= level}, level = ln t + c ln ln t. Azize et al. 2025,
    DP-KLUCB.
    """
    return d_eps_upper(clip01(mean), level / n, eps)


def dp_imed(mean: float, n: int, best: float, eps: float) -> float:
    """−(n·d_eps(Clip01 mean, best) + ln n), best = the largest clipped mean. Azize et al. 2025,
    DP-IMED.
    """
    return -(n * d_eps(clip01(mean), best, eps) + math.log(n))


def dp_ucb_published(
    mean: float, n: int, log_t: float, eps: float, arms: int, horizon: int, gamma: float
) -> float:
    """mean + √(2 ln t / n) + K ln²T ln(K T ln T/γ) / (eps n). Mishra and Thakurta 2015."""
    log_h = math.log(max(2, horizon))
    width = arms * log_h * log_h * math.log(arms * max(2, horizon) * log_h / gamma) / eps
    return mean + math.sqrt(2.0 * log_t / n) + width / n


def sum_radius(draws: int, scale: float, log_term: float) -> float:
    """With probability 1 − 2e^−log_term, |sum of `draws` Laplace(scale)| is at most this. Chan, Shi
    and Song 2011, Corollary 2.9.
    """
    return scale * max(math.sqrt(draws), math.sqrt(log_term)) * math.sqrt(8.0 * log_term)


def dp_ucb_tight(mean: float, n: int, log_t: float, draws: int, scale: float) -> float:
    """mean + √(2 ln t / n) + Chan–Shi–Song radius at 2t^−4 / n: the tree's own noise and no
    more.
    """
    return mean + math.sqrt(2.0 * log_t / n) + sum_radius(draws, scale, 4.0 * log_t) / n


def dp_ucb_bound(mean: float, n: int, log_t: float, eps: float) -> float:
    """mean + √(2 ln t / n) + ν/n, ν = (√8/eps) ln(4t⁴)(1 + ln n unless n is a power of 2). Tossou
    and Dimitrakakis 2016.
    """
    nu = math.sqrt(8.0) / eps * (math.log(4.0) + 4.0 * log_t)
    if n & (n - 1) != 0:
        nu *= 1.0 + math.log(n)
    return mean + math.sqrt(2.0 * log_t / n) + nu / n


def ldp_ucb(mean: float, n: int, log_t: float, eps: float) -> float:
    """mean + √(2 ln t / n) + √(32 ln t / (eps² n)). Ren, Zhou, Liu and Shroff 2020, LDP-UCB-L."""
    return mean + math.sqrt(2.0 * log_t / n) + math.sqrt(32.0 * log_t / (eps * eps * n))


def lifted_mean(mean: float, n: int, t: int, eps: float) -> float:
    """Bonus first, then clip: min(1, max(0, mean + 3 ln t/(eps n))). Hu, Huang, Mehta and Hegde
    2024, Lazy-DP-TS.
    """
    return clip01(mean + 3.0 * math.log(t) / (eps * n))


def forced_rounds(t: int) -> float:
    """4 ln(t + 1): an arm with no more rounds is played before any index is looked at. Ren, Zhou,
    Liu and Shroff 2020.
    """
    return 4.0 * math.log(t + 1.0)


def overtakes(j: int, index_j: float, i: int, index_i: float) -> bool:
    """Whether arm j is chosen before arm i: the larger index, the smaller number on a tie."""
    return index_j > index_i or (index_j == index_i and j < i)


def overtakes_at(
    t: int,
    i: int,
    mean_i: float,
    n_i: int,
    j: int,
    mean_j: float,
    n_j: int,
    eps: float,
    rank: int = 1,
) -> bool:
    """Whether `lazy_ucb` prefers arm j to arm i at round t, with ln(rank·t) in place of ln t."""
    log_t = math.log(rank * t)
    return overtakes(j, lazy_ucb(mean_j, n_j, log_t, eps), i, lazy_ucb(mean_i, n_i, log_t, eps))


def crossing(
    i: int,
    mean_i: float,
    n_i: int,
    j: int,
    mean_j: float,
    n_j: int,
    t: int,
    end: int,
    eps: float,
    rank: int = 1,
) -> int:
    """The first round in (t, end) at which `lazy_ucb` prefers arm j to arm i, which it prefers at
    t; `end` if there is none.

    rank: indices at round t take ln(rank·t), as on a matroid of that rank.

    In x = √ln(rank·t) the difference of two indices is a quadratic, so at most two rounds are
    candidates; about each the rounded formula itself is asked, so that the answer equals that of a
    round-by-round comparison.
    """
    a = mean_i - mean_j
    b = math.sqrt(3.0 / n_i) - math.sqrt(3.0 / n_j)
    c = 3.0 / (eps * n_i) - 3.0 / (eps * n_j)
    # b and c have one sign, so the lead of i is smallest at one end
    x = math.sqrt(math.log(rank * (t if n_i <= n_j else end - 1)))
    if a + x * (b + c * x) > 1e-9 * (abs(mean_i) + 3.0 * x * (1.0 + x / (eps * n_i))):
        return end  # more than rounding can hide
    root = _next_root(a, b, c, math.sqrt(math.log(rank * t)))
    if root == math.inf or root * root > math.log(rank * end) + 1e-6:
        guess = end - 1
    else:
        guess = min(end - 1, max(t + 1, math.ceil(math.exp(root * root) / rank)))
    slack = 2 + int(guess * 1e-6)  # rounding may move the crossing this far
    low, high = max(t, guess - slack), min(end - 1, guess + slack)
    if high <= t or not overtakes_at(high, i, mean_i, n_i, j, mean_j, n_j, eps, rank):
        return end
    while high - low > 1:
        middle = (low + high) // 2
        if overtakes_at(middle, i, mean_i, n_i, j, mean_j, n_j, eps, rank):
            high = middle
        else:
            low = middle
    return high


def _next_root(a: float, b: float, c: float, x: float) -> float:
    """The smallest root above x (with a margin below it for rounding) at which a + b·x + c·x² turns
    negative; inf if none.
    """
    floor = x * (1.0 - 1e-12)
    if c == 0.0:
        return -a / b if b < 0.0 and -a / b > floor else math.inf
    discriminant = b * b - 4.0 * a * c
    if discriminant <= 0.0:
        return math.inf
    q = -0.5 * (b + math.copysign(math.sqrt(discriminant), b))
    # Of the two roots q/c and a/q the function falls through the one with negative slope b + 2cx.
    first, second = q / c, (a / q if q != 0.0 else 0.0)
    root = first if b + 2.0 * c * first < 0.0 else second
    return root if root > floor else math.inf
