"""Sources of noise: seeded ones for experiments, and secure ones for production.

Secure numbers come from OpenDP or from the exact samplers of `dpbandits.noise.exact`. OpenDP's
generator (OpenSSL's in 0.16, one of each thread in other versions) is seeded by the operating
system and then is a state in memory: a copy of that memory draws the same numbers. So `Process`
tracks forks, after which there are two copies of the state.
"""

import math
import os
import sys
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from dpbandits.core.inputs import checked_seed, damaged, rebuilt
from dpbandits.core.privacy import NoiseKind
from dpbandits.noise.exact import (
    LARGEST_SCALE,
    check_scale,
    fresh_choice,
    fresh_cube,
    fresh_draw,
    whole_below,
)
from dpbandits.noise.protocol import Noise, Selection, Values


@lru_cache(256)
def secure_measurement(family: str, sensitivity: int, cost: Fraction) -> Any:
    """Return OpenDP's discrete Laplace or Gaussian at the smallest float scale that OpenDP maps to
    at most `cost`. It is a function; the generator's state is not in it.
    """
    import opendp.prelude as dp  # 0.2 s and 265 MB: not before the first secure draw

    check_scale(sensitivity, cost)
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    if family == "laplace":
        make, distance = dp.m.make_laplace, dp.l1_distance
        scale = float(sensitivity / cost)
    else:
        make, distance = dp.m.make_gaussian, dp.l2_distance
        scale = sensitivity / math.sqrt(2 * cost)
    while True:
        measurement = make(domain, distance(T="i64"), scale=scale)
        # OpenDP leaves the types of `map` out
        if Fraction(measurement.map(sensitivity)) <= cost:  # type: ignore[no-untyped-call]
            return measurement
        scale = math.nextafter(scale, math.inf)


def secure_draws(family: str, sensitivity: int, cost: Fraction, count: int) -> list[int]:
    """Return `count` draws of OpenDP's discrete Laplace or Gaussian.

    Raises:
        ValueError: the noise would not fit into 64 bits, where OpenDP would cut it off.
    """
    measurement = secure_measurement(family, sensitivity, cost)
    return [int(draw) for draw in measurement([0] * count)]


def secure_choice(values: list[int], sensitivity: int, cost: Fraction, law: str) -> int:
    """Return OpenDP's noisy maximum with Gumbel or exponential noise, at the smallest float scale
    that costs at most `cost`.

    OpenDP accounts for Gumbel noise in zCDP only. The proof of noisy_max shows that scale
    2·sensitivity/cost makes it the exponential mechanism with epsilon = cost.
    """
    import opendp.prelude as dp

    dp.enable_features("contrib")
    gumbel = law == "exponential"
    measure = dp.zero_concentrated_divergence() if gumbel else dp.max_divergence()
    domain, metric = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    scale = float(2 * sensitivity / cost)
    while True:
        measurement = dp.m.make_noisy_max(domain, metric, measure, scale=scale)
        if gumbel:
            fits = Fraction(scale) >= 2 * sensitivity / cost
        else:
            # OpenDP leaves the types of `map` out
            fits = Fraction(measurement.map(sensitivity)) <= cost  # type: ignore[no-untyped-call]
        if fits:
            return int(measurement(values))
        scale = math.nextafter(scale, math.inf)


class Process:
    """Identity of this process: a forked child has a copy of its parent's memory, whatever its
    process id.
    """

    # OpenDP was loaded when this process was forked, so its generator's state was copied
    generator_is_a_copy = False
    id = os.getpid()

    @classmethod
    def forked(cls) -> None:
        cls.generator_is_a_copy |= "opendp" in sys.modules
        cls.id = os.getpid()

    @classmethod
    def has_copy(cls) -> bool:
        """Return whether OpenDP's generator is a copy of a parent's. Forks that Python does not see
        show by the process id, if at all.
        """
        if cls.id != os.getpid():
            cls.forked()
        return cls.generator_is_a_copy


if hasattr(os, "register_at_fork"):  # where there is fork
    os.register_at_fork(after_in_child=Process.forked)


def scale_of(sensitivity: int, epsilon: Fraction) -> float:
    """Return the scale of Laplace noise; 0 for an epsilon beyond any float."""
    try:
        return sensitivity / float(epsilon)
    except OverflowError:
        return 0.0


class SimulatedNoise(Noise):
    """Seeded noise for experiments. NOT private: the noise can be subtracted by anyone who knows
    the seed.

    Args:
        seed: a whole number of at least 0.
        state: a position that `state()` returned.

    Example:
        >>> noise = SimulatedNoise(seed=1)
        >>> noise.laplace(100, sensitivity=1, epsilon=Fraction(1, 10)) == 100
        False
    """

    kind: ClassVar[NoiseKind] = "simulated"

    def __init__(self, seed: int, state: dict[str, Any] | None = None) -> None:
        self.seed = checked_seed(seed)
        self._rng = np.random.Generator(
            np.random.PCG64(np.random.SeedSequence([self.seed, 0, 339]))
        )
        if state is not None:
            self._rng.bit_generator.state = state["generator"]

    def __repr__(self) -> str:
        return f"SimulatedNoise(seed={self.seed})"

    def laplace(self, value: int, *, sensitivity: int, epsilon: Fraction) -> int:
        return value + self._two_sided(scale_of(sensitivity, epsilon))

    def laplaces(self, values: Values, *, sensitivity: int, epsilon: Fraction) -> list[int]:
        """Apply `laplace` to each value."""
        scale = scale_of(sensitivity, epsilon)
        # a subclass may override `laplace`, and larger draws would not fit into 64 bits
        if type(self) is not SimulatedNoise or scale > LARGEST_SCALE:
            return [self.laplace(v, sensitivity=sensitivity, epsilon=epsilon) for v in values]
        # row by row, so in the order of single draws
        sizes = self._rng.exponential(scale, (len(values), 2)).astype(np.int64)
        noise: list[int] = (sizes[:, 0] - sizes[:, 1]).tolist()
        return [value + draw for value, draw in zip(values, noise, strict=True)]

    def gaussian(self, value: int, *, sensitivity: int, rho: Fraction) -> int:
        # Canonne, Kamath and Steinke 2020, Algorithm 3: discrete Laplace proposals, accepted with
        # the exact ratio.
        sigma = sensitivity / math.sqrt(2 * float(rho))
        scale = math.floor(sigma) + 1
        while True:
            draw = self._two_sided(scale)
            if self._rng.random() < math.exp(
                -((abs(draw) - sigma * sigma / scale) ** 2) / (2 * sigma * sigma)
            ):
                return value + draw

    def joint(self, values: Values, *, sensitivity: int, epsilon: Fraction) -> tuple[int, ...]:
        # As `exact.cube`, in floats: the largest |z_i| by rejection, then uniform whole numbers.
        exact, rate = np.asarray(values, np.int64), float(epsilon) / sensitivity
        parts = range(1, len(exact) + 1)
        while True:
            m = int(self._rng.negative_binomial(len(exact) + 1, -math.expm1(-rate)))
            if self._rng.random() < math.prod([(m + 0.5) / (m + part) for part in parts]):
                z = self._rng.integers(-m, m, len(exact), endpoint=True)
                return tuple((exact + z).tolist())

    def select(self, values: Values, *, sensitivity: int, epsilon: Fraction, law: Selection) -> int:
        exact, scale = np.asarray(values, np.int64), 2 * sensitivity / float(epsilon)
        if law == "laplace":
            one, other = self._rng.exponential(scale, (2, len(exact))).astype(np.int64)
            return int(np.argmax(exact + one - other))
        draws = (
            self._rng.gumbel(0.0, scale, len(exact))
            if law == "exponential"
            else self._rng.exponential(scale, len(exact))
        )
        return int(np.argmax(exact + draws))

    def uniform(self) -> float:
        return self._rng.random()

    def state(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "seed": self.seed,
            "generator": dict(self._rng.bit_generator.state),
        }

    def _two_sided(self, scale: float) -> int:
        """Draw discrete Laplace noise: the difference of two geometrics, each the floor of an
        exponential.
        """
        return int(self._rng.exponential(scale)) - int(self._rng.exponential(scale))


class SecureNoise(Noise):
    """Exact discrete noise for production use. No draw is made ahead or kept, because the same draw
    on two sums would reveal their exact difference.

    OpenDP draws Laplace and Gaussian noise and noisy maxima. Its generator is a state in memory,
    seeded by the operating system and distinguished by the process id alone. So a child that was
    forked while OpenDP was loaded draws as with `fresh=True`. The law of joint releases, which
    OpenDP does not have, is always drawn by the exact sampler of this package.

    Args:
        fresh: True if a machine or container may be restored from a snapshot of its memory, or
            cloned while it runs. Then no generator is kept: exact samplers
            (`dpbandits.noise.exact`) take every coin from the operating system, 20 µs a draw. The
            system must renew its randomness when it is restored (Linux from 5.18, with a virtual
            machine generation id).

    Raises:
        TypeError: `fresh` is not a boolean.
    """

    kind: ClassVar[NoiseKind] = "secure"

    def __init__(self, *, fresh: bool = False) -> None:
        if not isinstance(fresh, bool):
            raise TypeError(
                "Expected fresh=False, or fresh=True where machines are snapshotted; got "
                f"{type(fresh).__name__}."
            )
        self.fresh = fresh

    def __repr__(self) -> str:
        return "SecureNoise(fresh=True)" if self.fresh else "SecureNoise()"

    def laplace(self, value: int, *, sensitivity: int, epsilon: Fraction) -> int:
        return value + self._draws("laplace", sensitivity, epsilon, 1)[0]

    def laplaces(self, values: Values, *, sensitivity: int, epsilon: Fraction) -> list[int]:
        """Apply `laplace` to each value."""
        draws = self._draws("laplace", sensitivity, epsilon, len(values))
        return [value + draw for value, draw in zip(values, draws, strict=True)]

    def gaussian(self, value: int, *, sensitivity: int, rho: Fraction) -> int:
        return value + self._draws("gaussian", sensitivity, rho, 1)[0]

    def joint(self, values: Values, *, sensitivity: int, epsilon: Fraction) -> tuple[int, ...]:
        exact = np.asarray(values, np.int64).tolist()
        noise = fresh_cube(len(exact), sensitivity, epsilon)
        return tuple(value + z for value, z in zip(exact, noise, strict=True))

    def select(self, values: Values, *, sensitivity: int, epsilon: Fraction, law: Selection) -> int:
        exact = np.asarray(values, np.int64)
        if self._without_generator():
            return fresh_choice(exact.tolist(), sensitivity, epsilon, law)
        if law == "laplace":
            return int(
                np.argmax(exact + secure_draws("laplace", 2 * sensitivity, epsilon, len(exact)))
            )
        return secure_choice(exact.tolist(), sensitivity, epsilon, law)

    def uniform(self) -> float:
        return (whole_below(2**64) >> 11) / 2**53

    def toss(self, part: int, whole: int) -> bool:
        """Return an exact coin of bias part/whole."""
        return whole_below(whole) < part

    def state(self) -> dict[str, Any]:
        return {"kind": self.kind, "fresh": True} if self.fresh else {"kind": self.kind}

    def _without_generator(self) -> bool:
        return self.fresh or Process.has_copy()

    def _draws(self, family: str, sensitivity: int, cost: Fraction, count: int) -> list[int]:
        if self._without_generator():
            return [fresh_draw(family, sensitivity, cost) for _ in range(count)]
        return secure_draws(family, sensitivity, cost, count)


def noise_from_state(state: dict[str, Any]) -> SimulatedNoise | SecureNoise:
    """Return the source that `state()` described.

    Raises:
        ValueError: it does not describe a source.
    """
    kind = state.get("kind") if isinstance(state, dict) else None
    if kind == "secure":
        fresh = state.get("fresh", False)
        if not isinstance(fresh, bool):
            raise damaged("the field fresh of its secure noise is not true or false")
        return SecureNoise(fresh=fresh)
    if kind != "simulated":
        raise damaged("its noise is of no known kind (secure or simulated)")
    return rebuilt(lambda: SimulatedNoise(state["seed"], state))
