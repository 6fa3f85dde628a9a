"""Formulas of index policies: divergences, batch schedules, indices, and each policy's rule.
Sessions call these scalar functions, and the simulator compiles them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

# Bernoulli divergences and their inverses.
#
# `d_eps` is the divergence of Azize, Wu, Honda, Orabona, Ito and Basu 2025 that governs regret
# under epsilon-DP: d_eps(x, y) = inf over z between x and y of eps·|z − x| + kl(z, y). It is kl
# for eps → ∞ and at most eps·|x − y|.


def clip01(x: float) -> float:
    """Return x clipped to [0, 1]."""
    return min(1.0, max(0.0, x))


def kl(p: float, q: float) -> float:
    """Return the relative entropy of Bernoulli(p) to Bernoulli(q); infinite if q excludes an
    outcome of p.
    """
    if p == q:
        return 0.0
    value = 0.0
    if p > 0.0:
        if q <= 0.0:
            return math.inf
        value += p * math.log(p / q)
    if p < 1.0:
        if q >= 1.0:
            return math.inf
        value += (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
    return max(0.0, value)


def kl_upper(p: float, level: float) -> float:
    """Return the largest q in [p, 1] with kl(p, q) <= level.

    It uses Halley's steps, each of which leaves about the cube of the error. They start at the
    first terms of the root's series in √level if these are accurate, else at the smaller of two
    upper bounds. Five steps are enough wherever rounding allows progress; eight end the rest.
    """
    if p >= 1.0 or level <= 0.0:
        return p
    if p <= 0.0:
        return -math.expm1(-level)
    rest = 1.0 - p
    near = math.sqrt(2.0 * p * rest * level)
    if near < 0.5 * min(p, rest):
        q = p + near + (1.0 - 2.0 * p) * level * (2.0 / 3.0)
    else:
        entropy = -p * math.log(p) - rest * math.log1p(-p)
        q = min(p + math.sqrt(level / 2.0), -math.expm1(-(level + entropy) / rest))
    for _ in range(8):
        if q >= 1.0:
            return 1.0
        if q <= p:
            return p
        other, gap = 1.0 - q, q - p
        above = p * math.log(p / q) + rest * math.log(rest / other) - level
        newton = above * q * other / gap
        bend = (p * other * other + rest * q * q) / (q * other * gap)
        step = newton / max(0.5, 1.0 - 0.5 * newton * bend)
        q -= step
        if abs(step) <= 1e-5 * (q - p):
            return q
    return q


def d_eps(x: float, y: float, eps: float) -> float:
    """Return inf over z between x and y of eps·|z − x| + kl(z, y), in closed form."""
    if x > y:
        x, y = 1.0 - x, 1.0 - y
    if y >= 1.0:
        return eps * (1.0 - x)
    shrunk = y * math.exp(-eps)
    if x >= shrunk / (1.0 - y + shrunk):
        return kl(x, y)
    return -math.log1p(y * math.expm1(-eps)) - eps * x


def d_eps_upper(x: float, level: float, eps: float) -> float:
    """Return the largest q in [x, 1] with d_eps(x, q) <= level, in closed form except for the
    ordinary KL inverse.
    """
    if x >= 1.0 or level <= 0.0:
        return x
    # x e^eps/(1 − x + x e^eps) without overflow: up to there d_eps is kl
    edge = x / (x + (1.0 - x) * math.exp(-eps)) if x > 0.0 else 0.0
    if level >= kl(x, edge):
        return min(1.0, -math.expm1(-(level + eps * x)) / -math.expm1(-eps))
    return kl_upper(x, level)


# Schedules: the rounds of batches and epochs, the widths of elimination, and learning rates.


def growing_batch(rounds: int, first: int, alpha: float) -> int:
    """Return the rounds in the batch of an arm with `rounds` released: `first`, then the rounds
    that make its total grow by the factor alpha.
    """
    return first if rounds == 0 else max(1, math.ceil(min(2.0**62, (alpha - 1.0) * rounds)))


RUNG = 0.25
"""Relative distance of the first two totals of the ladder."""


def next_rung(rounds: int, first: int) -> int:
    """Return the rung after `rounds`: a total that is larger by the factor 1 + RUNG/√(1 +
    ln(rounds/first)), which tends to 1.
    """
    growth = RUNG / math.sqrt(1.0 + max(0.0, math.log(rounds / first)))
    return rounds + max(1, math.ceil(min(2.0**61, growth * rounds)))


def slowing_total(rounds: int, first: int, alpha: float) -> float:
    """Return rounds grown by 1 + (alpha − 1)/√(1 + ln(rounds/first)): by alpha at first, by less
    later.
    """
    return rounds * (1.0 + (alpha - 1.0) / math.sqrt(1.0 + max(0.0, math.log(rounds / first))))


def elimination_width(pulls: int, arms: int, beta: float) -> float:
    """Return two confidence radii √(ln(4 K n²/beta)/(2n)) after n pulls of each arm."""
    return 2.0 * math.sqrt(math.log(4.0 * arms * pulls * pulls / beta) / (2.0 * pulls))


def epoch(stage: int, alive: int, beta: float, eps: float) -> tuple[int, float]:
    """Return the pulls of each arm in epoch `stage`, R_e, and the elimination width 2h_e + 2c_e."""
    gap = 2.0**-stage
    log8 = math.log(8.0 * alive * stage * stage / beta)
    log4 = math.log(4.0 * alive * stage * stage / beta)
    pulls = math.ceil(max(32.0 * log8 / (gap * gap), 8.0 * log4 / (eps * gap)) + 1.0)
    return pulls, 2.0 * math.sqrt(log8 / (2.0 * pulls)) + 2.0 * log4 / (pulls * eps)


def comparison_radius(pulls: int, test: int, arms: int, beta: float) -> float:
    """Return the largest deviation of the sum of an arm's pulls from its mean: n√(ln(8 K
    k²/beta)/(2n)) at test number k.
    """
    return math.sqrt(0.5 * pulls * math.log(8.0 * arms * test * test / beta))


def comparison_noise(test: int, arms: int, beta: float, share: float) -> float:
    """Return the largest sum of a test's and its threshold's noise, in rewards: each has scale
    3/share, and there are at most K² at a time.
    """
    log = math.log(16.0 * arms * arms / beta)
    return 3.0 * (2.0 * log + 2.0 * math.log(test)) / share


def next_guess(guess: int, t: int, squared: bool) -> int:
    """Return the first guess of the horizon beyond round t, each doubled or squared; at most
    2⁶².
    """
    while guess <= t and guess < 2**62:
        if not squared:
            guess = 2 * guess
        elif guess < 2**31:
            guess = guess * guess
        else:
            guess = 2**62
    return min(guess, 2**62)


def hedge_rate(round: int, actions: int) -> float:
    """Return 2√(ln K/t)."""
    return 2.0 * math.sqrt(math.log(actions) / round)


def ftrl_rate(horizon: int, actions: int) -> float:
    """Return √(8 ln K/T)."""
    return math.sqrt(8.0 * math.log(actions) / horizon)


# Index policies: an arm's score, and the length of its next batch.
#
# A score is called as score(p, mean, n, draws, log_t, best) and a batch rule as size(p, mean, n,
# draws, pulls, best, leading). p: `IndexNumbers`. mean, n, draws: an arm's released mean, and the
# rounds and noise draws behind it. log_t: ln of the next round. pulls: rounds for which the arm was
# played. best: the largest released mean of all arms, clipped to [0, 1]; leading: the rounds behind
# it.


ALL_DRAWS = 2**62
"""More noise draws than any total has."""


class IndexNumbers(NamedTuple):
    """The constants of an index policy.

    Args:
        eps: ε, or ρ.
        constant: weight of ln n: `level` of DPRateIMED, `c` of DPKLUCB.
        first: rounds in a first batch.
        alpha: growth factor of an arm's rounds by a later batch.
        counted: the most noise draws that are counted.
        doubt: see `discounted`.
        trust: see `discounted`.
        arms: for DP-UCB, number of arms.
        horizon: for DP-UCB, number of rounds.
        gamma: for DP-UCB, failure probability.
        scale: for DP-UCB, scale of a tree's node, in rewards.
        noise: scale of the mechanism's noise in grid steps, for the simulator only.
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
    """Return 1: release after every round."""
    return 1


class IndexRule(NamedTuple):
    """An index policy: its formulas and their constants.

    Args:
        score: formula of the index.
        numbers: its constants.
        size: formula of the batch length.
        capped: True if no index is above 1, and an index of 1 remains until the arm's next release.
        timeless: True if a score depends on `best` and not on `log_t`; otherwise it depends on
            `log_t` and not on `best`.
        by_best: True if the batch rule uses `best` and `leading`.
    """

    score: Callable[..., float]
    numbers: IndexNumbers
    size: Callable[..., int] = one_round
    capped: bool = False
    timeless: bool = False
    by_best: bool = False


# Batch rules


def growing(
    p: IndexNumbers, mean: float, n: int, draws: int, pulls: int, best: float, leading: int
) -> int:
    """Return batches that make an arm's rounds grow by alpha."""
    return growing_batch(n, p.first, p.alpha)


def as_long_again(
    p: IndexNumbers, mean: float, n: int, draws: int, pulls: int, best: float, leading: int
) -> int:
    """Return episodes that double the rounds for which an arm was played."""
    return max(1, pulls)


def twice_the_last(
    p: IndexNumbers, mean: float, n: int, draws: int, pulls: int, best: float, leading: int
) -> int:
    """Return batches of 1, 2, 4, … rounds, of which the newest alone is used."""
    return max(1, 2 * n)


# Scores. Those in `mean`, `n` and a level are for policies on super arms, too.


def ucb1(mean: float, n: int, log_t: float) -> float:
    """Return mean + √(2 ln t / n). Auer, Cesa-Bianchi and Fischer 2002."""
    return mean + math.sqrt(2.0 * log_t / n)


def ucb1_score(
    p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float
) -> float:
    return ucb1(mean, n, log_t)


def kl_level(log_t: float, c: float) -> float:
    """Return ln t + c·ln ln t, at least 0."""
    return max(0.0, log_t + c * math.log(log_t)) if log_t > 0.0 and c != 0.0 else log_t


def kl_ucb(mean: float, n: int, level: float) -> float:
    """Return max{q: n·kl(mean, q) <= level}, level = ln t + c ln ln t. Garivier and Cappé 2011."""
    return kl_upper(clip01(mean), level / n)


def kl_ucb_score(
    p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float
) -> float:
    return kl_ucb(mean, n, kl_level(log_t, p.constant))


def lazy_ucb(mean: float, n: int, log_t: float, eps: float) -> float:
    """Return mean + √(3 ln t / n) + 3 ln t / (eps n). Hu, Huang and Mehta 2021, Algorithm 1."""
    return mean + math.sqrt(3.0 * log_t / n) + 3.0 * log_t / (eps * n)


def lazy_ucb_score(
    p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float
) -> float:
    return lazy_ucb(mean, n, log_t, p.eps)


def hybrid_ucb(
    p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float
) -> float:
    """Return mean + √(3 lg t / n) + 6√8 lg t ⌊lg(n + 1)⌋ / (eps n), lg to base 2. Hu, Huang and
    Mehta 2021, equation (35).
    """
    lg_t = log_t / math.log(2.0)
    return (
        mean
        + math.sqrt(3.0 * lg_t / n)
        + 6.0 * math.sqrt(8.0) * lg_t * math.floor(math.log2(n + 1)) / (p.eps * n)
    )


def adap_ucb(p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float) -> float:
    """Return mean + √(a ln t / (2n)) + a ln t / (eps n). Azize and Basu 2022, AdaP-UCB."""
    return mean + math.sqrt(p.constant * log_t / (2.0 * n)) + p.constant * log_t / (p.eps * n)


def adap_klucb(
    p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float
) -> float:
    """Return max{q: kl(Clip01(mean + a ln t/(eps n)), q) <= a ln t / n}. Azize and Basu 2022,
    AdaP-KLUCB.
    """
    level = p.constant * log_t
    return kl_upper(clip01(mean + level / (p.eps * n)), level / n)


def adac_ucb(p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float) -> float:
    """Return mean + √((1/(2n) + 1/(rho n²)) b ln t). Azize and Basu 2024, AdaC-UCB."""
    return mean + math.sqrt((1.0 / (2.0 * n) + 1.0 / (p.eps * n * n)) * p.constant * log_t)


def dp_klucb(mean: float, n: int, level: float, eps: float) -> float:
    """Return max{q: n·d_eps(Clip01 mean, q) <= level}, level = ln t + c ln ln t. Azize et al. 2025,
    DP-KLUCB.
    """
    return d_eps_upper(clip01(mean), level / n, eps)


def dp_klucb_score(
    p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float
) -> float:
    return dp_klucb(mean, n, kl_level(log_t, p.constant), p.eps)


def dp_imed(p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float) -> float:
    """Return −(n·d_eps(Clip01 mean, best) + ln n), best = the largest clipped mean. Azize et al.
    2025, DP-IMED.
    """
    return -(n * d_eps(clip01(mean), best, p.eps) + math.log(n))


def published_noise(arms: int, horizon: int, gamma: float, eps: float) -> float:
    """Return K ln²T ln(K T ln T/γ) / eps, which a sum's noise exceeds rarely. Mishra and Thakurta
    2015.
    """
    log_h = math.log(max(2, horizon))
    union = math.log(arms * max(2, horizon) * log_h / gamma)
    return arms * log_h * log_h * union / eps


def dp_ucb_published(
    p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float
) -> float:
    """Return mean + √(2 ln t / n) + `published_noise` / n. Mishra and Thakurta 2015."""
    width = published_noise(p.arms, p.horizon, p.gamma, p.eps)
    return mean + math.sqrt(2.0 * log_t / n) + width / n


def sum_radius(draws: int, scale: float, log_term: float) -> float:
    """Return a bound of |sum of `draws` Laplace(scale)| that holds with probability 1 −
    2e^−log_term. Chan, Shi and Song 2011, Corollary 2.9.
    """
    return scale * max(math.sqrt(draws), math.sqrt(log_term)) * math.sqrt(8.0 * log_term)


def dp_ucb_tight(
    p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float
) -> float:
    """Return mean + √(2 ln t / n) + the Chan–Shi–Song radius at 2t^−4 / n, for the tree's actual
    noise.
    """
    return mean + math.sqrt(2.0 * log_t / n) + sum_radius(draws, p.scale, 4.0 * log_t) / n


def dp_ucb_bound(
    p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float
) -> float:
    """Return mean + √(2 ln t / n) + ν/n, ν = (√8/eps) ln(4t⁴)(1 + ln n unless n is a power of 2).
    Tossou and Dimitrakakis 2016.
    """
    nu = math.sqrt(8.0) / p.eps * (math.log(4.0) + 4.0 * log_t)
    if n & (n - 1) != 0:
        nu *= 1.0 + math.log(n)
    return mean + math.sqrt(2.0 * log_t / n) + nu / n


def ldp_ucb(p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float) -> float:
    """Return mean + √(2 ln t / n) + √(32 ln t / (eps² n)). Ren, Zhou, Liu and Shroff 2020,
    LDP-UCB-L.
    """
    return mean + math.sqrt(2.0 * log_t / n) + math.sqrt(32.0 * log_t / (p.eps * p.eps * n))


def lifted_mean(mean: float, n: int, t: int, eps: float) -> float:
    """Return min(1, max(0, mean + 3 ln t/(eps n))): bonus first, then clipping. Hu, Huang, Mehta
    and Hegde 2024, Lazy-DP-TS.
    """
    return clip01(mean + 3.0 * math.log(t) / (eps * n))


def forced_rounds(t: int) -> float:
    """Return 4 ln(t + 1): an arm with no more rounds is played before any index is compared. Ren,
    Zhou, Liu and Shroff 2020.
    """
    return 4.0 * math.log(t + 1.0)


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
    """Return whether `lazy_ucb` prefers arm j to arm i at round t, with ln(rank·t) in place of ln
    t; the smaller number on a tie.
    """
    log_t = math.log(rank * t)
    mine, its = lazy_ucb(mean_j, n_j, log_t, eps), lazy_ucb(mean_i, n_i, log_t, eps)
    return mine > its or (mine == its and j < i)


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
    """Return the first round in (t, end) at which `lazy_ucb` prefers arm j to arm i, which it
    prefers at t; `end` if there is none.

    Indices at round t take ln(rank·t), as on a matroid of that rank.

    In x = √ln(rank·t) the difference of two indices is a quadratic, so at most two rounds are
    candidates. The rounded formula itself decides around each, so the result equals that of a
    round-by-round comparison.
    """
    a = mean_i - mean_j
    b = math.sqrt(3.0 / n_i) - math.sqrt(3.0 / n_j)
    c = 3.0 / (eps * n_i) - 3.0 / (eps * n_j)
    # b and c have the same sign, so the lead of i is smallest at one end
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
    """Return the smallest root above x (with a margin below it for rounding) at which a + b·x +
    c·x² becomes negative; inf if there is none.
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


# The exact rate of one arm: the evidence of a released total against a mean, with every draw of
# Laplace noise counted.
#
# x: the arm's released mean; q: the mean it is compared with; n: its rounds; draws: number of
# Laplace draws in the total.
#
# Source: ours; proofs/dp_rate_imed.md. Every theta in [0, eps) gives a valid (Chernoff) value, so
# an early stop of the search costs size, never validity.


NEWTON = 60
"""The most steps; about five are taken."""

MARGIN = 0.7
"""By how much an arm's score passes the leader's when its batch ends. The arm is then left alone
until the leader's rounds have grown (at level 1, until they have doubled).
"""

NEAREST = 1.0 - 2.0**-40
"""theta/eps is below this: at eps the moment of the noise is infinite."""


def log_laplace(q: float, theta: float) -> float:
    """Return ln(1 − q + q e^−θ), also if q is 1 or θ is large."""
    if q >= 1.0:
        return -theta
    if theta < 1.0:
        return math.log1p(q * math.expm1(-theta))
    return math.log(1.0 - q + q * math.exp(-theta))


def exponent(share: float, x: float, q: float, n: int, draws: int, eps: float) -> float:
    """Return −θnx − n ln(1 − q + q e^−θ) + draws·ln(1 − θ²/eps²) at θ = share·eps."""
    theta = share * eps
    noise = math.log1p(-share) + math.log1p(share)
    return -n * (theta * x + log_laplace(q, theta)) + draws * noise


def best_share(x: float, q: float, n: int, draws: int, eps: float) -> float:
    """Return the θ/eps at which `exponent`, which is concave, is largest; x < q.

    It is Newton's method on the derivative, within a bracket. It starts at the smaller of two
    points beyond the maximum: the optimum without noise, and the one with the slope's largest value
    everywhere.
    """
    slope = eps * n * (q - x)
    low, high = 0.0, min(NEAREST, slope / (draws + math.hypot(draws, slope)))
    if x > 0.0 and q < 1.0:
        high = min(high, math.log(q * (1.0 - x) / (x * (1.0 - q))) / eps)
    share = high
    for _ in range(NEWTON):
        shrunk, room = q * math.exp(-share * eps), (1.0 - share) * (1.0 + share)
        tilted = 1.0 if q >= 1.0 else shrunk / (1.0 - q + shrunk)
        value = eps * n * (tilted - x) - 2.0 * draws * share / room
        if value > 0.0:
            low = share
        else:
            high = share
        bend = eps * eps * n * tilted * (1.0 - tilted)
        bend += 2.0 * draws * (1.0 + share * share) / (room * room)
        new = share + value / bend
        if not low < new < high:
            new = 0.5 * (low + high)
        moved, share = abs(new - share), new
        if moved <= 1e-7 * min(share, 1.0 - share):
            break
    return share


def exact_rate(x: float, q: float, n: int, draws: int, eps: float) -> float:
    """Return sup over 0 <= θ < eps of −θnx − n ln(1 − q + q e^−θ) + draws·ln(1 − θ²/eps²), x
    clipped to [0, 1]; 0 if x >= q.
    """
    x = clip01(x)
    if x >= q:
        return 0.0
    return max(0.0, exponent(best_share(x, q, n, draws, eps), x, q, n, draws, eps))


def discounted(rate: float, doubt: float, trust: float) -> float:
    """Return a rate minus `doubt`, but at least the share `trust` of it."""
    return max(rate - doubt, trust * rate)


def rate_imed(p: IndexNumbers, mean: float, n: int, draws: int, log_t: float, best: float) -> float:
    """Return −(discounted(exact_rate(mean, best)) + level·ln n), best = the largest clipped
    mean.
    """
    rate = exact_rate(mean, best, n, min(draws, p.counted), p.eps)
    return -(discounted(rate, p.doubt, p.trust) + p.constant * math.log(n))


def rate_imed_batch(
    p: IndexNumbers, mean: float, n: int, draws: int, pulls: int, best: float, leading: int
) -> int:
    """Return the rounds in the next batch of an arm with n released rounds. Its total is on the
    ladder (`next_rung`) if n is.

    For an arm that is behind: to the first rung at which, with its current mean, rate + level·ln
    total reaches level·ln leading + MARGIN, so that the arm is not played next; and no further than
    to the first rung from alpha·n on. `leading` counts the rounds of the arm with the best mean.
    For the leader: to the first rung from alpha·n on at first, from less later. The rate is that
    with the draw of this batch.
    """
    if n == 0:
        return p.first
    x, total = clip01(mean), next_rung(n, p.first)
    if x >= best:
        goal = slowing_total(n, p.first, p.alpha)
        while total < goal:
            total = next_rung(total, p.first)
        return total - n
    required, most = p.constant * math.log(leading) + MARGIN, d_eps(x, best, p.eps)
    while total < p.alpha * n:
        left = required - p.constant * math.log(total)
        # the rate is below total·d_eps, which is ten times as fast
        if discounted(total * most, p.doubt, p.trust) >= left:
            rate = exact_rate(x, best, total, min(draws + 1, p.counted), p.eps)
            if discounted(rate, p.doubt, p.trust) >= left:
                break
        total = next_rung(total, p.first)
    return total - n


# Formulas of beliefs about means that change: a Kalman filter on released sums.
#
# They are plain functions of numbers, compiled by the simulator.


LARGEST_VARIANCE = 1.0 / 12.0
"""Variance of a mean of which nothing is known: uniform on [0, 1]."""


def grown_variance(variance: float, drift: float, rounds: int) -> float:
    """Return the variance of a belief about a mean after so many more rounds."""
    return min(variance + drift * rounds, LARGEST_VARIANCE)


def block_variance(rounds: int, eps: float) -> float:
    """Return the variance of a block's released mean; eps 0 stands for no noise."""
    sampling = 0.25 / rounds
    return sampling if eps == 0.0 else sampling + 2.0 / (eps * rounds) ** 2


def surprise_of(error: float, variance: float, noise: float) -> float:
    """Return how many standard deviations a released mean is from its prediction."""
    return abs(error) / math.sqrt(variance + noise)


def gain_of(variance: float, noise: float) -> float:
    """Return the share of a prediction's error by which a belief moves."""
    return variance / (variance + noise)


def look_chance(arms: int, block: int, lasting: int, looks: float) -> float:
    """Return the probability that a block goes to the arm that was released longest ago, so that
    each arm is expected to be looked at `looks` times in `lasting` rounds; at most 1/2.
    """
    return min(0.5, looks * arms * block / lasting)
