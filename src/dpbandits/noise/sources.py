"""Sources of noise: seeded, for experiments, and secure, for production.

Secure numbers are OpenDP's, or those of our own exact samplers. OpenDP's generator (OpenSSL's in
0.16, a thread's own in other versions) is seeded by the operating system, and is then a state in
memory: whoever has a copy of that memory draws the same numbers. So `Process` knows which process
draws: after a fork there are two copies of that state.
"""

import math
import os
import sys
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from dpbandits.core.inputs import checked_seed, damaged
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
def secure_measurement(family: str, sensitivity: int, price: Fraction) -> Any:
    """OpenDP's discrete Laplace or Gaussian, at the smallest float scale that OpenDP itself maps to
    <= price. A function: what it draws with is not in it.
    """
    import opendp.prelude as dp  # 0.2 s and 265 MB: not before the first secure draw

    check_scale(sensitivity, price)
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
        # OpenDP leaves the types of `map` out
        if Fraction(measurement.map(sensitivity)) <= price:  # type: ignore[no-untyped-call]
            return measurement
        scale = math.nextafter(scale, math.inf)


def secure_draws(family: str, sensitivity: int, price: Fraction, count: int) -> list[int]:
    """`count` draws of OpenDP's discrete Laplace or Gaussian.

    Raises:
        ValueError: the noise would not fit into 64 bits, where OpenDP would cut it off.
    """
    measurement = secure_measurement(family, sensitivity, price)
    return [int(draw) for draw in measurement([0] * count)]


def secure_choice(values: list[int], sensitivity: int, price: Fraction, law: str) -> int:
    """OpenDP's noisy maximum with Gumbel or exponential noise, at the smallest float scale that
    costs <= price.

    OpenDP prices Gumbel noise in zCDP only; that scale 2·sensitivity/price makes it the exponential
    mechanism, epsilon = price, is shown in the proof of noisy_max.
    """
    import opendp.prelude as dp

    dp.enable_features("contrib")
    gumbel = law == "exponential"
    measure = dp.zero_concentrated_divergence() if gumbel else dp.max_divergence()
    domain, metric = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    scale = float(2 * sensitivity / price)
    while True:
        measurement = dp.m.make_noisy_max(domain, metric, measure, scale=scale)
        if gumbel:
            fits = Fraction(scale) >= 2 * sensitivity / price
        else:
            # OpenDP leaves the types of `map` out
            fits = Fraction(measurement.map(sensitivity)) <= price  # type: ignore[no-untyped-call]
        if fits:
            return int(measurement(values))
        scale = math.nextafter(scale, math.inf)


class Process:
    """Which process this is: a forked child holds a copy of all that is in its parent's memory,
    whatever its process id.
    """

    forks = 0  # between the first process and this one
    # OpenDP was there when this process was forked, and with it the state of its generator
    generator_is_a_copy = False
    id = os.getpid()

    @classmethod
    def forked(cls) -> None:
        cls.forks += 1
        cls.generator_is_a_copy |= "opendp" in sys.modules
        cls.id = os.getpid()

    @classmethod
    def now(cls) -> int:
        """Another number in a child than in its parent. A fork that went round Python shows by its
        id, if at all.
        """
        if cls.id != os.getpid():
            cls.forked()
        return cls.forks


if hasattr(os, "register_at_fork"):  # where there is fork
    os.register_at_fork(after_in_child=Process.forked)


def scale_of(sensitivity: int, epsilon: Fraction) -> float:
    """Of Laplace noise; 0 for an epsilon that is larger than any float, which moves nothing."""
    try:
        return sensitivity / float(epsilon)
    except OverflowError:
        return 0.0


class SimulatedNoise(Noise):
    """Seeded noise for experiments. NOT private: whoever knows the seed can take the noise off
    again.
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
        """What `laplace` gives for each value in turn."""
        scale = scale_of(sensitivity, epsilon)
        # a subclass may have another `laplace`; and larger draws would not fit into 64 bits
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
        """Discrete Laplace as the difference of two geometrics, each the floor of an
        exponential.
        """
        return int(self._rng.exponential(scale)) - int(self._rng.exponential(scale))


class SecureNoise(Noise):
    """Exact discrete noise: what production uses. The same draw on two different sums would give
    away their exact difference, so no draw is made ahead or kept.

    OpenDP draws Laplace and Gaussian noise and noisy maxima (80 µs a call). Its generator is a
    state in memory, seeded by the operating system and told apart by the process id alone; so a
    child that was forked while OpenDP was loaded draws as if by `fresh=True`. The law of joint
    releases, which OpenDP does not have, is always drawn by our own exact sampler.

    Args:
        fresh: True where a machine or container may be restored from a snapshot of its memory, or
            cloned while it runs: no generator is kept, ours or another. Exact samplers of our own
            (`dpbandits.noise.exact`) ask the operating system for every coin when it is thrown,
            20 µs a draw. The system has to renew its own randomness when it is restored (Linux from
            5.18, with a virtual machine generation id).
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
        """What `laplace` gives for each value."""
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
        """A coin of bias part/whole, exactly."""
        return whole_below(whole) < part

    def state(self) -> dict[str, Any]:
        return {"kind": self.kind, "fresh": True} if self.fresh else {"kind": self.kind}

    def _without_generator(self) -> bool:
        return self.fresh or (Process.now() > 0 and Process.generator_is_a_copy)

    def _draws(self, family: str, sensitivity: int, price: Fraction, count: int) -> list[int]:
        if self._without_generator():
            return [fresh_draw(family, sensitivity, price) for _ in range(count)]
        return secure_draws(family, sensitivity, price, count)


def noise_from_state(state: dict[str, Any]) -> SimulatedNoise | SecureNoise:
    """The source that `state()` described.

    Raises:
        ValueError: it does not describe a source.
    """
    kind = state.get("kind") if isinstance(state, dict) else None
    if kind == "secure":
        fresh = state.get("fresh", False)
        if not isinstance(fresh, bool):
            raise damaged("its secure noise does not say by true or false whether it is fresh")
        return SecureNoise(fresh=fresh)
    if kind != "simulated":
        raise damaged("its noise is of no known kind (secure or simulated)")
    try:
        return SimulatedNoise(state["seed"], state)
    except (LookupError, TypeError, ValueError, OverflowError):
        raise damaged("the position of its simulated noise cannot be read") from None
