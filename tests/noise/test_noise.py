"""Noise: the law of both sources far into the tails, granularity, the direction of rounding, and
draws that are saved or made many at once.

Every statistical test is wrong with probability 1e-6 at most; the secure source cannot be seeded,
so that is its rate of false alarms. test_draws.py looks at our own samplers, exactly.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from dpbandits.core.inputs import Floats
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import LazyForgetful
from dpbandits.noise import Noise, SecureNoise, Selection, SimulatedNoise, noise_from_state
from dpbandits.noise.protocol import laplaces
from dpbandits.noise.sources import secure_measurement

MANY = 8_000
"""Draws where each takes long."""

STEPS = 1024
ONE = Fraction(1)
SOURCES = [SimulatedNoise(5), SecureNoise(), SecureNoise(fresh=True)]


def laplace_below(k: Floats, scale: float) -> Floats:
    """P(X <= k) of the discrete Laplace law."""
    r = math.exp(-1 / scale)
    return np.where(
        k >= 0, 1 - r ** np.maximum(k + 1, 0) / (1 + r), r ** np.maximum(-k, 0) / (1 + r)
    )


def gaussian_below(k: Floats, sigma: float) -> Floats:
    wide = np.arange(-int(20 * sigma) - 20, int(20 * sigma) + 21)
    law = np.cumsum(np.exp(-(wide**2) / (2 * sigma**2)))
    return np.asarray(law[np.searchsorted(wide, k)] / law[-1])


def p_value(draws: Any, below: Callable[[Floats, float], Floats], scale: float) -> float:
    """Chi-square over cells that reach as far into both tails as 20 draws are expected: beyond 4,
    6 and 7 scales there are 1.8 %, 0.25 % and 0.09 % of Laplace draws.
    """
    edges = np.unique(np.round(scale * np.array([-7, -6, -4, *np.linspace(-3, 3, 25), 4, 6, 7])))
    tails = np.minimum(below(edges, scale), 1 - below(edges, scale)) * len(draws)
    edges = edges[tails >= 20]
    expected = np.diff(np.concatenate([[0.0], below(edges, scale), [1.0]])) * len(draws)
    cells = np.bincount(np.searchsorted(edges, draws), minlength=len(expected))
    return float(chisquare(cells, expected).pvalue)


def laplace_p_value(noise: Noise, n: int, sensitivity: int, epsilon: int) -> float:
    cost = {"sensitivity": sensitivity, "epsilon": Fraction(epsilon)}
    single = [noise.laplace(0, **cost) for _ in range(MANY // 4)]  # which take OpenDP long
    many = laplaces(noise, [0] * (n - len(single)), **cost)
    return min(p_value(draws, laplace_below, sensitivity / epsilon) for draws in (single, many))


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(1, 1), (3, 2), (8, 1), (STEPS, 1)])
@pytest.mark.parametrize("noise", SOURCES, ids=repr)
def test_laplace(noise: Noise, sensitivity: int, epsilon: int) -> None:
    """Where a cell expects 27, the chi-square law is too light at 1e-6; at 1e-8 it leaves room."""
    many = MANY if "fresh" in repr(noise) else 60_000
    assert laplace_p_value(noise, many, sensitivity, epsilon) > 1e-8


def test_halved_noise_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = SimulatedNoise._two_sided
    monkeypatch.setattr(SimulatedNoise, "_two_sided", lambda self, scale: honest(self, scale / 2))
    assert laplace_p_value(SimulatedNoise(1), 20_000, 8, 1) < 1e-8


@pytest.mark.parametrize("rho", [Fraction(1, 2), Fraction(1, 50)])
@pytest.mark.parametrize("noise", SOURCES, ids=repr)
def test_gaussian(rho: Fraction, noise: Noise) -> None:
    draws = [noise.gaussian(0, sensitivity=1, rho=rho) for _ in range(MANY)]
    assert p_value(draws, gaussian_below, 1 / math.sqrt(2 * rho)) > 1e-6


def test_compiled_laplace_and_gaussian() -> None:
    from dpbandits.simulation.compiled.parts import gaussian, laplace

    rng = np.random.default_rng(7)
    for draw, below, scale in ((laplace, laplace_below, 8.0), (gaussian, gaussian_below, 3.0)):
        assert p_value([draw(rng, scale) for _ in range(MANY)], below, scale) > 1e-6


COSTS = [Fraction(cost) for cost in ("1/10", "3/10", "3/7", "7/10", "1/3", "1", "2", "2.7")]
SELECTIONS: tuple[tuple[Selection, str], ...] = (
    ("laplace", "laplace"),
    ("exponential", "noisy_max"),
    ("permute-and-flip", "noisy_max"),
)


@pytest.mark.parametrize("sensitivity", [1, STEPS])
@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_scales_are_rounded_up(
    cost: Fraction, sensitivity: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No draw costs more than it should, and scales are a few floats too large at most."""
    noise, single, unit = SecureNoise(), sensitivity / cost, {"sensitivity": sensitivity}
    for maker, call, exact in (
        ("laplace", lambda: noise.laplace(0, epsilon=cost, **unit), single),
        ("gaussian", lambda: noise.gaussian(0, rho=cost, **unit), sensitivity * single / 2),
        *(
            (maker, lambda law=law: noise.select([1, 2], epsilon=cost, law=law, **unit), 2 * single)
            for law, maker in SELECTIONS
        ),
    ):
        secure_measurement.cache_clear()
        scale = spied_scale(monkeypatch, f"make_{maker}", call)
        scale = scale**2 if maker == "gaussian" else scale
        assert exact <= scale <= exact * (1 + Fraction(1, 2**40)), maker


def spied_scale(patch: pytest.MonkeyPatch, maker: str, call: Any) -> Fraction:
    """The scale that OpenDP was given last."""
    import opendp.prelude as dp

    seen: list[float] = []
    honest = getattr(dp.m, maker)

    def spy(*args: Any, scale: float) -> Any:
        seen.append(scale)
        return honest(*args, scale=scale)

    patch.setattr(dp.m, maker, spy)
    call()
    return Fraction(seen[-1])


@pytest.mark.parametrize("noise", SOURCES[:2], ids=repr)
def test_low_bits_tell_nothing(noise: Noise) -> None:
    """Mironov 2012: not every float is a value of ln(u), so low bits tell which input a sampler of
    floats had. Here whole steps are added and divided afterwards: on either value every residue of
    the steps comes up alike, however large the scale.
    """
    mechanism = LazyForgetful(epsilon=ONE / 50, grid=Grid(steps=STEPS))
    for value in (0, STEPS):
        answers = [mechanism.step(None, value, 1, noise)[1].total for _ in range(4_000)]
        cost = {"sensitivity": STEPS, "epsilon": mechanism.epsilon}
        many = laplaces(noise, [value] * 11_000, **cost)
        steps = np.concatenate([np.array(answers) * STEPS, many])
        assert (steps == np.rint(steps)).all()
        for modulus in (2, 3, 16):
            counts = np.bincount(steps.astype(np.int64) % modulus, minlength=modulus)
            assert chisquare(counts).pvalue > 1e-6 / 6


def test_a_simulated_source_goes_on_where_it_was_saved() -> None:
    noise = SimulatedNoise(3)
    noise.laplace(0, sensitivity=8, epsilon=Fraction(1))
    copy = noise_from_state(noise.state())
    ahead = [noise.laplace(0, sensitivity=8, epsilon=Fraction(1)) for _ in range(20)]
    assert ahead == [copy.laplace(0, sensitivity=8, epsilon=Fraction(1)) for _ in range(20)]


def test_several_draws_are_the_single_ones_in_turn() -> None:
    values = [5, 0, -3, 0, 10**12]
    for epsilon in (Fraction(1, 3), Fraction(1, 2**60)):
        cost = {"sensitivity": 1024, "epsilon": epsilon}
        one, many = SimulatedNoise(9), SimulatedNoise(9)
        assert laplaces(many, values, **cost) == [one.laplace(v, **cost) for v in values]
        assert many.state() == one.state()


def test_several_draws_are_single_ones_where_a_class_has_its_own() -> None:
    class Shifted(SimulatedNoise):
        def laplace(self, value: int, **_: object) -> int:
            return value + 1

    class Alone:
        def laplace(self, value: int, **_: object) -> int:
            return value + 1

    for noise in (Shifted(1), Alone()):
        drawn = laplaces(noise, [1, 2], sensitivity=1, epsilon=Fraction(1))  # type: ignore[arg-type]
        assert drawn == [2, 3]


def test_noise_too_large_for_64_bits_is_refused() -> None:
    """OpenDP would cut such draws off, which is another law than the promised one."""
    for noise in (SecureNoise(), SecureNoise(fresh=True)):
        with pytest.raises(ValueError, match="budget of at least"):
            noise.laplace(0, sensitivity=1024, epsilon=Fraction(1, 10**17))
