"""Sources of noise: seeded, for experiments, and secure, for production.

Secure numbers are OpenDP's, or those of our own exact samplers. OpenDP's generator (OpenSSL's in
0.16, a thread's own in other versions) is seeded by the operating system, and is then a state in
memory: whoever has a copy of that memory draws the same numbers. So `Process` knows which process
draws: what was drawn before a fork is in two memories.
"""

import math
import os
import sys
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np

from dpbandits.core.inputs import checked_seed, damaged
from dpbandits.core.privacy import NoiseKind
from dpbandits.noise.exact import (
    LARGEST_SCALE,
    check_scale,
    cube,
    fresh_choice,
    fresh_cube,
    fresh_draw,
    whole_below,
)
from dpbandits.noise.protocol import Noise, Selection, Values


def secure_draws(family: str, sensitivity: int, price: Fraction, count: int) -> list[int]:
    """`count` draws of OpenDP's discrete Laplace or Gaussian, at the smallest float scale OpenDP
    itself maps to <= price.

    Raises:
        ValueError: the noise would not fit into 64 bits, where OpenDP would cut it off.
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
            return [int(x) for x in measurement([0] * count)]
        scale = math.nextafter(scale, math.inf)


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
    """Which process this is: a forked child holds a copy of all that its parent had drawn ahead,
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
        # As `draws.cube`, in floats: the largest |z_i| by rejection, then uniform whole numbers.
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
    away their exact difference.

    By default OpenDP draws it. A call costs 600 µs, so 64 draws of a scale are made at once (30 µs
    each) and kept in a pool, which also hides a draw's time. Each draw is used once, by the process
    that made it; pools are neither saved nor copied: a forked child, a copy and a pickle start
    without. OpenDP's generator is a state in memory, too, seeded by the operating system and told
    apart by the process id alone; so a child that was forked while OpenDP was loaded draws as if by
    `pool=False`.

    pool: False where a machine or container may be restored from a snapshot of its memory, or
        cloned while it runs: nothing is drawn ahead, neither by us nor by a generator. Exact
        samplers of our own (`dpbandits.noise.exact`) ask the operating system for every coin when
        it is thrown, 30 µs a draw. The system has to renew its own randomness when it is restored
        (Linux from 5.18, with a virtual machine generation id).
    """

    kind: ClassVar[NoiseKind] = "secure"
    pool_size: ClassVar[int] = 64

    def __init__(self, *, pool: bool = True) -> None:
        if not isinstance(pool, bool):
            raise TypeError(
                "Expected pool=True, or pool=False where machines are snapshotted; got "
                f"{type(pool).__name__}."
            )
        self.pool = pool
        self._pools: dict[tuple[str, int, Fraction], list[int]] = {}
        self._owner = Process.now()

    def __repr__(self) -> str:
        return "SecureNoise()" if self.pool else "SecureNoise(pool=False)"

    def __getstate__(self) -> dict[str, Any]:
        """What copies and pickles take along: everything but the pools."""
        return self.__dict__ | {"_pools": {}}

    def laplace(self, value: int, *, sensitivity: int, epsilon: Fraction) -> int:
        return value + self._draw("laplace", sensitivity, epsilon)

    def gaussian(self, value: int, *, sensitivity: int, rho: Fraction) -> int:
        return value + self._draw("gaussian", sensitivity, rho)

    def joint(self, values: Values, *, sensitivity: int, epsilon: Fraction) -> tuple[int, ...]:
        exact = np.asarray(values, np.int64).tolist()
        if self._fresh():
            noise = fresh_cube(len(exact), sensitivity, epsilon)
        else:
            check_scale(sensitivity * (len(exact) + 1), epsilon)
            noise = cube(len(exact), partial(self._geometrics, sensitivity, epsilon))
        return tuple(value + z for value, z in zip(exact, noise, strict=True))

    def select(self, values: Values, *, sensitivity: int, epsilon: Fraction, law: Selection) -> int:
        exact = np.asarray(values, np.int64)
        if self._fresh():
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
        return {"kind": self.kind} if self.pool else {"kind": self.kind, "pool": False}

    def _fresh(self) -> bool:
        return not self.pool or (Process.now() > 0 and Process.generator_is_a_copy)

    def _geometrics(self, sensitivity: int, price: Fraction, count: int) -> list[int]:
        """A Laplace draw x that is not negative is geometric, and so is −1 − x where it is
        negative: both have weights e^(−x/scale) from 0 on. All of one release have one scale.
        """
        draws = (self._draw("laplace", sensitivity, price) for _ in range(count))
        return [draw if draw >= 0 else -1 - draw for draw in draws]

    def _draw(self, family: str, sensitivity: int, price: Fraction) -> int:
        scale = (family, sensitivity, price)
        while not self._fresh():
            here = Process.now()
            if self._owner != here:
                self._pools, self._owner = {}, here
            pools = self._pools
            pool = pools.get(scale)
            if not pool:
                pool = pools[scale] = secure_draws(*scale, self.pool_size)
            try:
                # out of the pool before anything is done with it: what an exception interrupts is
                # lost, not used again
                draw = pool.pop()
            except IndexError:  # another thread took the last one
                continue
            if here == Process.now():
                return draw  # else this process was forked since, and the parent has the same draws
        return fresh_draw(*scale)


def noise_from_state(state: dict[str, Any]) -> SimulatedNoise | SecureNoise:
    """The source that `state()` described.

    Raises:
        ValueError: it does not describe a source.
    """
    kind = state.get("kind") if isinstance(state, dict) else None
    if kind == "secure":
        pool = state.get("pool", True)
        if not isinstance(pool, bool):
            raise damaged("its secure noise does not say by true or false whether it draws ahead")
        return SecureNoise(pool=pool)
    if kind != "simulated":
        raise damaged("its noise is of no known kind (secure or simulated)")
    try:
        return SimulatedNoise(state["seed"], state)
    except (LookupError, TypeError, ValueError, OverflowError):
        raise damaged("the position of its simulated noise cannot be read") from None
