"""The only source of private randomness. Two kinds, no default between them.

A noise source takes the exact whole number and gives it back noised, so that every private number passes one place:
a source that records or replays (the checks do) sees all there is to see.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from dpbandits.privacy import NoiseKind
from dpbandits.strict import checked_seed, damaged

Values = Sequence[int] | NDArray[np.int64]
"""Whole grid steps."""

Selection = Literal["laplace", "exponential", "permute-and-flip"]
"""The noise of a noisy maximum: Laplace; Gumbel (the exponential mechanism); exponential (the permute-and-flip mechanism)."""


class Noise(Protocol):
    """What mechanisms ask of a noise source. `value` and `sensitivity` are whole grid steps."""

    kind: ClassVar[NoiseKind]

    def laplace(self, value: int, *, sensitivity: int, epsilon: Fraction) -> int:
        """`value` plus discrete Laplace noise of scale sensitivity/epsilon (rounded up, never down)."""

    def gaussian(self, value: int, *, sensitivity: int, rho: Fraction) -> int:
        """`value` plus discrete Gaussian noise of variance sensitivity²/(2 rho) (rounded up, never down)."""

    def select(self, values: Values, *, sensitivity: int, epsilon: Fraction, law: Selection) -> int:
        """Index of the largest value after noise of scale 2·sensitivity/epsilon (rounded up, never down); the first on a tie."""

    def threshold(self, *, sensitivity: int, epsilon: Fraction) -> int:
        """Discrete Laplace noise of scale sensitivity/epsilon for the threshold of a sparse vector. It stays in private memory."""

    def exceeds(self, value: int, bar: int, threshold: int, *, sensitivity: int, epsilon: Fraction) -> bool:
        """Whether `value` plus such noise, drawn afresh, reaches the public `bar` plus what `threshold` gave last."""

    def uniform(self) -> float:
        """A uniform number in [0, 1), for coins a randomizer or Bernoulli rounding throws."""

    def state(self) -> dict[str, Any]:
        """The source's position, as plain data a saved session keeps in its private part."""


class SimulatedNoise:
    """Seeded noise for experiments. NOT private: whoever knows the seed can take the noise off again."""

    kind: ClassVar[NoiseKind] = "simulated"

    def __init__(self, seed: int, state: dict[str, Any] | None = None) -> None:
        self.seed = checked_seed(seed)
        self._rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([self.seed, 0, 339])))
        if state is not None:
            self._rng.bit_generator.state = state["generator"]

    def __repr__(self) -> str:
        return f"SimulatedNoise(seed={self.seed})"

    def laplace(self, value: int, *, sensitivity: int, epsilon: Fraction) -> int:
        return value + self._two_sided(sensitivity / float(epsilon))

    def gaussian(self, value: int, *, sensitivity: int, rho: Fraction) -> int:
        # Canonne, Kamath and Steinke 2020, Algorithm 3: discrete Laplace proposals, accepted with the exact ratio.
        sigma = sensitivity / math.sqrt(2 * float(rho))
        scale = math.floor(sigma) + 1
        while True:
            draw = self._two_sided(scale)
            if self._rng.random() < math.exp(-((abs(draw) - sigma * sigma / scale) ** 2) / (2 * sigma * sigma)):
                return value + draw

    def select(self, values: Values, *, sensitivity: int, epsilon: Fraction, law: Selection) -> int:
        exact, scale = np.asarray(values, np.int64), 2 * sensitivity / float(epsilon)
        if law == "laplace":
            one, other = self._rng.exponential(scale, (2, len(exact))).astype(np.int64)
            return int(np.argmax(exact + one - other))
        draws = self._rng.gumbel(0.0, scale, len(exact)) if law == "exponential" else self._rng.exponential(scale, len(exact))
        return int(np.argmax(exact + draws))

    def threshold(self, *, sensitivity: int, epsilon: Fraction) -> int:
        return self.laplace(0, sensitivity=sensitivity, epsilon=epsilon)

    def exceeds(self, value: int, bar: int, threshold: int, *, sensitivity: int, epsilon: Fraction) -> bool:
        return self.laplace(value, sensitivity=sensitivity, epsilon=epsilon) >= bar + threshold

    def uniform(self) -> float:
        return self._rng.random()

    def state(self) -> dict[str, Any]:
        return {"kind": self.kind, "seed": self.seed, "generator": dict(self._rng.bit_generator.state)}

    def _two_sided(self, scale: float) -> int:
        """Discrete Laplace as the difference of two geometrics, each the floor of an exponential."""
        return int(self._rng.exponential(scale)) - int(self._rng.exponential(scale))


class SecureNoise:
    """OpenDP's exact discrete noise from the operating system's randomness: what production uses.

    A scalar call costs 100 µs and more, so a small pool is drawn ahead for each scale, which also hides the draw's
    time. A pool is used by the process that drew it only (a forked child starts afresh), each draw once, and neither saved nor
    copied (a copy or pickle starts with empty pools): the same draw on two different sums would give away their exact difference.
    """

    kind: ClassVar[NoiseKind] = "secure"
    pool_size: ClassVar[int] = 64

    def __init__(self) -> None:
        self._pools: dict[tuple[str, int, Fraction], list[int]] = {}
        self._owner = os.getpid()

    def __repr__(self) -> str:
        return "SecureNoise()"

    def __getstate__(self) -> dict[str, Any]:
        """What copies and pickles take along: everything but the pools."""
        return self.__dict__ | {"_pools": {}}

    def laplace(self, value: int, *, sensitivity: int, epsilon: Fraction) -> int:
        return value + self._draw("laplace", sensitivity, epsilon)

    def gaussian(self, value: int, *, sensitivity: int, rho: Fraction) -> int:
        return value + self._draw("gaussian", sensitivity, rho)

    def select(self, values: Values, *, sensitivity: int, epsilon: Fraction, law: Selection) -> int:
        exact = np.asarray(values, np.int64)
        if law == "laplace":
            return int(np.argmax(exact + secure_draws("laplace", 2 * sensitivity, epsilon, len(exact))))
        return secure_choice(exact.tolist(), sensitivity, epsilon, law)

    def threshold(self, *, sensitivity: int, epsilon: Fraction) -> int:
        return self.laplace(0, sensitivity=sensitivity, epsilon=epsilon)

    def exceeds(self, value: int, bar: int, threshold: int, *, sensitivity: int, epsilon: Fraction) -> bool:
        return self.laplace(value, sensitivity=sensitivity, epsilon=epsilon) >= bar + threshold

    def uniform(self) -> float:
        return (int.from_bytes(os.urandom(7)) >> 3) / 2**53

    def state(self) -> dict[str, Any]:
        return {"kind": self.kind}

    def _draw(self, family: str, sensitivity: int, price: Fraction) -> int:
        if self._owner != os.getpid():
            self._pools, self._owner = {}, os.getpid()
        pool = self._pools.get((family, sensitivity, price))
        if not pool:
            pool = self._pools[family, sensitivity, price] = secure_draws(family, sensitivity, price, self.pool_size)
        return pool.pop()


LARGEST_SCALE = 2**50
"""Grid steps. Noise of this scale stays within 64 bits but with probability e^-8192."""


def secure_draws(family: str, sensitivity: int, price: Fraction, count: int) -> list[int]:
    """`count` draws of OpenDP's discrete Laplace or Gaussian, at the smallest float scale OpenDP itself maps to <= price.

    Raises:
        ValueError: the noise would not fit into 64 bits, where OpenDP would cut it off.
    """
    import opendp.prelude as dp  # 0.2 s and 265 MB: not before the first secure draw

    if sensitivity / price > LARGEST_SCALE:
        raise ValueError(f"Expected a price of at least {sensitivity / LARGEST_SCALE:.1g} for grid={sensitivity}, got {float(price):.1g}.")
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    if family == "laplace":
        scale = float(sensitivity / price)
    else:
        scale = sensitivity / math.sqrt(2 * price)
    while True:
        if family == "laplace":
            measurement = dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=scale)
        else:
            measurement = dp.m.make_gaussian(domain, dp.l2_distance(T="i64"), scale=scale)
        if Fraction(measurement.map(sensitivity)) <= price:  # type: ignore[no-untyped-call]
            return [int(x) for x in measurement([0] * count)]
        scale = math.nextafter(scale, math.inf)


def secure_choice(values: list[int], sensitivity: int, price: Fraction, law: Selection) -> int:
    """OpenDP's noisy maximum with Gumbel or exponential noise, at the smallest float scale that costs <= price.

    OpenDP prices Gumbel noise in zCDP only; that scale 2·sensitivity/price makes it the exponential mechanism, epsilon = price, is
    shown in the proof of noisy_max.
    """
    import opendp.prelude as dp

    dp.enable_features("contrib")
    gumbel = law == "exponential"
    measure = dp.zero_concentrated_divergence() if gumbel else dp.max_divergence()
    domain, metric = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    scale = float(2 * sensitivity / price)
    while True:
        measurement = dp.m.make_noisy_max(domain, metric, measure, scale=scale)
        fits = Fraction(scale) >= 2 * sensitivity / price if gumbel else Fraction(measurement.map(sensitivity)) <= price  # type: ignore[no-untyped-call]
        if fits:
            return int(measurement(values))
        scale = math.nextafter(scale, math.inf)


def noise_from_state(state: dict[str, Any]) -> SimulatedNoise | SecureNoise:
    """The source that `state()` described.

    Raises:
        ValueError: it describes none.
    """
    kind = state.get("kind") if isinstance(state, dict) else None
    if kind == "secure":
        return SecureNoise()
    if kind != "simulated":
        raise damaged("its noise is of no known kind (secure or simulated)")
    try:
        return SimulatedNoise(state["seed"], state)
    except (LookupError, TypeError, ValueError, OverflowError):
        raise damaged("the position of its simulated noise cannot be read") from None
