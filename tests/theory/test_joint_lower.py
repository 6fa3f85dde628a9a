"""The steps of the lower bounds of proofs/joint_release.md that can be computed. Nothing here is
random.
"""

import math

import numpy as np
import pytest

from dpbandits.core.inputs import Floats
from dpbandits.policies.formulas.indices import d_eps, kl


@pytest.mark.parametrize("eps", [0.1, 1.0, 5.0])
@pytest.mark.parametrize(("low", "high"), [(0.5, 0.6), (0.03, 0.036), (0.2, 0.9)])
def test_the_least_sum_over_z_is_the_divergence(low: float, high: float, eps: float) -> None:
    """Lower bound: eps·(z − μ) + kl(z, λ), least over z between them; and d is continuous in λ."""
    found = min(eps * (z - low) + kl(z, high) for z in np.linspace(low, high, 20_001))
    assert found == pytest.approx(d_eps(low, high, eps), rel=1e-5)
    assert d_eps(low, high + 1e-9, eps) == pytest.approx(d_eps(low, high, eps), rel=1e-5)


def coins(n: int, mean: float) -> Floats:
    return np.array([math.comb(n, k) * mean**k * (1 - mean) ** (n - k) for k in range(n + 1)])


@pytest.mark.parametrize("eps", [0.2, 1.0])
@pytest.mark.parametrize("eta", [0.02, 0.1])
def test_what_a_private_event_may_gain(eps: float, eta: float) -> None:
    """The coupling: P_μ(E) <= P(not G) + e^(n(κ + (1 + eps)η)) P_λ(E), for the events E that a sum
    with geometric noise falls below a number. G: few rewards differ between μ and z, and the
    likelihood ratio from z to λ is near its mean.
    """
    n, low, high = 400, 0.5, 0.65
    zs = np.linspace(low, high, 2001)
    z = float(zs[np.argmin([eps * (v - low) + kl(v, high) for v in zs])])
    differ = coins(n, z - low)  # H, of the monotone coupling
    many = differ[np.arange(n + 1) > n * (z - low) + eta * n].sum()
    ones = np.arange(n + 1)
    ratio = ones * math.log(z / high) + (n - ones) * math.log((1 - z) / (1 - high))
    unlikely = coins(n, z)[ratio > n * kl(z, high) + eta * n].sum()
    noise = np.exp(-eps * np.abs(np.arange(-n, n + 1)))
    noise /= noise.sum()
    mine, other = (np.cumsum(np.convolve(coins(n, m), noise)) for m in (low, high))
    factor = math.exp(n * (d_eps(low, high, eps) + (1 + eps) * eta))
    assert (mine <= many + unlikely + factor * other + 1e-12).all()
    if eps < 1:  # without both prices it is no bound
        assert (mine > many + unlikely + other + 1e-3).any()


def entropy(p: float) -> float:
    return -p * math.log2(p) - (1 - p) * math.log2(1 - p)


def test_the_rate_of_the_code() -> None:
    """2^(.1887K) words, any two K/4 places apart (Gilbert and Varshamov), in nats."""
    rate = 1 - entropy(0.25)
    assert rate == pytest.approx(0.1887, abs=5e-5)
    assert rate * math.log(2) == pytest.approx(0.1308, abs=5e-5)
    assert rate * math.log(2) > 0.13
    assert math.log(4) < 1.4
    for size in (12, 17, 75, 300, 1000):
        ball = sum(math.comb(size, j) for j in range(size // 4 + 1))
        assert size - math.log2(ball) >= 0.1887 * size


def binomial_above(rounds: int, p: float, most: float) -> float:
    """P(Bin(rounds, p) > most)."""
    log = [
        math.lgamma(rounds + 1)
        - math.lgamma(j + 1)
        - math.lgamma(rounds - j + 1)
        + j * math.log(p)
        + (rounds - j) * math.log1p(-p)
        for j in range(math.floor(most) + 1)
    ]
    return 1 - math.fsum(map(math.exp, log))


@pytest.mark.parametrize("gap", [0.01, 0.1, 0.25])
@pytest.mark.parametrize("eps", [0.1, 1.0, 4.0])
def test_how_many_records_differ(eps: float, gap: float) -> None:
    """Two instances: one uniform W a round, pair i shows 1{W <= ½} and 1{W <= ½ + v_i Δ}, so their
    records differ with probability 2Δ at most; in the rounds that the theorem asks for, 4ΔT are
    exceeded with probability e^(−2ΔT/3) <= ¼.
    """
    for size in (math.ceil(64 * eps + 11), math.ceil(64 * eps + 200)):
        rounds = math.ceil((0.13 * size - 1.4) / (4 * eps * gap))
        chance = math.exp(-2 * gap * rounds / 3)
        assert chance <= 0.25
        assert binomial_above(rounds, 2 * gap, 4 * gap * rounds) <= chance + 1e-9


@pytest.mark.parametrize("eps", [0.1, 1.0, 4.0])
def test_where_the_burn_in_comes_from(eps: float) -> None:
    """As many disjoint events as words, each of probability e^(−4 eps ΔT)/4 at least, fit in only
    if 4 eps ΔT >= .1308K − ln 4: the theorem's T is below that, and R_T > ΔTK/32 there.
    """
    for size in (math.ceil(64 * eps + 11), 1000):
        spent = 0.13 * size - 1.4  # 4 eps ΔT
        words = (1 - entropy(0.25)) * size * math.log(2)
        assert words - spent - math.log(4) > 0
        assert spent / (4 * eps) * size / 32 == pytest.approx(size * spent / (128 * eps))
