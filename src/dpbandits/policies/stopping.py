"""Stopping rules for a mean: sample until it is known up to a relative error."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import field
from fractions import Fraction
from typing import ClassVar, NamedTuple, final

from dpbandits.core.inputs import MOST
from dpbandits.core.plan import FOREVER, Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid, finite_number
from dpbandits.mechanisms import AboveThreshold, Halt
from dpbandits.policies.base import PrivatePolicy
from dpbandits.policies.contract import About, ArmsField, Policy, Release, policy_dataclass
from dpbandits.policies.formulas.stopping import nas_bar, private_bar


class Watching(NamedTuple):
    """The state of a stopping rule. Public."""

    t: int  # values seen at the last test
    value: float | None  # the estimate, once the rule has stopped
    rounds: int  # values behind it; 0: not yet
    capped: bool


@policy_dataclass
class StoppingRule(Policy):
    """Base class of stopping rules: one arm, values in [low, high], and a test at public times.

    Args:
        alpha: relative error of the estimate, in (0, 1).
        beta: probability of a larger error, in (0, 1).
        low: the smallest possible value; public.
        high: the largest possible value; public.
        cap: number of values after which the mean is released in any case; a mean of 0 never halts
            the rule.
        grid: public steps per unit of reward.
    """

    arms: ArmsField = field(init=False, repr=False, default=1)  # type: ignore[assignment]  # read as 1
    alpha: float
    beta: float
    cap: int
    low: Fraction | float | str = -1
    high: Fraction | float | str = 1
    grid: int = 1024

    def validate(self) -> None:
        self._number("alpha", 0, 1)
        self._number("beta", 1e-100, 1)
        if not finite_number(self.low, "low") < finite_number(self.high, "high"):
            raise ValueError(f"Expected low={self.low} to be below high={self.high}.")
        self._whole("cap", high=(MOST - 1) // self.grid, of="values")

    @abstractmethod
    def bar(self, count: int) -> float:
        """Return the distance from 0 at which the sum of `count` values halts the rule, in ranges
        high − low, without noise.
        """

    def following(self, count: int) -> int:
        """Return the number of values at the next test, after a test at `count` values."""
        return count + 1

    @final
    def mechanism(self) -> AboveThreshold:
        budget = self.budget if isinstance(self, PrivatePolicy) else None
        low, high = finite_number(self.low, "low"), finite_number(self.high, "high")
        return AboveThreshold(
            epsilon=budget,
            grid=Grid(steps=self.grid),
            low=low,
            high=high,
            cap=self.cap,
            bar=self.bar,
        )

    @final
    @property
    def range(self) -> tuple[float, float]:
        """low and high as floats."""
        return float(finite_number(self.low, "low")), float(finite_number(self.high, "high"))

    @final
    def init(self) -> Watching:
        return Watching(0, None, 0, False)

    @final
    def plan(self, state: Watching, rng: PublicRng) -> Plan:
        if state.rounds:
            return Hold(0, FOREVER, ())
        return Hold(0, min(self.following(state.t), self.cap) - state.t, (0,))

    @final
    def update(self, state: Watching, plan: Plan, release: Release) -> Watching:
        halt = release.answers[0] if release.answers else None
        seen = state.t + sum(times for _, times in release.told)  # without those that were dropped
        return state._replace(t=seen) if halt is None else Watching(seen, *halt)

    @final
    def estimate(self, state: Watching) -> Halt | None:
        """Return the estimate, with probability 1 − beta within alpha·|mean| of the mean unless it
        is capped: then the cap (or the stream's end) came first. None while the rule samples.
        """
        return None if state.value is None else Halt(state.value, state.rounds, state.capped)

    @final
    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        return 0.0  # one arm has no regret; `about.bound` is on the number of values

    @final
    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        return 0.0


@final
@policy_dataclass
class NAS(StoppingRule):
    """Nonmonotonic adaptive sampling, without privacy: halt as soon as |mean| >= h(1 + 1/alpha), h
    the mean's confidence radius.

    With probability 1 − beta it does not halt at a wrong estimate. On a stream of two arms'
    differences it identifies the better one, and by how much.

    Guarantee: none.

    Source: Domingo, Gavaldà and Watanabe 2002, in the form of Sajed and Sheffet 2019, section 3.

    >>> rule = NAS(alpha=0.5, beta=0.05, low=0, high=1, cap=1000)
    >>> rule.guarantee is None
    True
    """

    about: ClassVar[About] = About(
        paper="Domingo, Gavaldà and Watanabe 2002",
        algorithm="NAS",
        bound="O(R²/(α²μ²)·ln(1/β·ln(R/(α|μ|)))) values, R = (high − low)/2",
        privacy="none",
        every_round=True,
        goal="estimate",
    )

    def bar(self, count: int) -> float:
        return nas_bar(count, self.alpha, self.beta)


@final
@policy_dataclass
class DPNAS(StoppingRule, PrivatePolicy):
    """DP-NAS: test after every value by sparse vector, and release the noisy mean once.

    With probability 1 − beta it does not halt at a wrong estimate (1 − 1.17 beta where epsilon
    exceeds 5.4 grid steps). On a stream of two arms' differences it identifies the better one, and
    by how much.

    Guarantee: ε-DP for one value, all tests and the estimate together.

    Source: Sajed and Sheffet 2019, Algorithm 1.

    >>> print(DPNAS(alpha=0.5, beta=0.05, cap=10**6, epsilon="1/2").guarantee)
    ε = 0.5 per round (replace-one), central trust, noise not chosen yet
    """

    about: ClassVar[About] = About(
        paper="Sajed and Sheffet 2019",
        algorithm="Algorithm 1 (DP-NAS)",
        bound="NAS's + O(R/(ε|μ|)·ln(T/β) + R ln(1/β)/(εα|μ|)) values, R = (high − low)/2",
        proof="dpnas",
        baseline="NAS",
        every_round=True,
        goal="estimate",
    )

    def bar(self, count: int) -> float:
        return private_bar(count, math.log(count), self.alpha, self.beta, float(self.epsilon))


@final
@policy_dataclass
class DPExponentialNAS(StoppingRule, PrivatePolicy):
    """DP exponential NAS: test after 2, 4, 8, … values (and at the cap) only, so it stops later by
    at most a factor of two.

    With probability 1 − beta it does not halt at a wrong estimate (1 − 1.17 beta where epsilon
    exceeds 5.4 grid steps), and it halts within 2000(t₀ + t₁ + t₂) values. On a stream of two arms'
    differences it identifies the better one, and by how much.

    Guarantee: ε-DP for one value, all tests and the estimate together.

    Source: Sajed and Sheffet 2019, Algorithm 2.

    >>> rule = DPExponentialNAS(alpha=0.5, beta=0.05, cap=10**12, epsilon=1)
    >>> [rule.following(t) for t in (0, 2, 4)]
    [2, 4, 8]
    """

    about: ClassVar[About] = About(
        paper="Sajed and Sheffet 2019",
        algorithm="Algorithm 2 (DP exponential NAS)",
        bound=(
            "2000(t₀ + t₁ + t₂) values: t₀ = (R/(αμ))²L, t₁ = R L/(ε|μ|), t₂ = R "
            "ln(1/β)/(εα|μ|), L = ln(1/β·ln(R/(α|μ|)))"
        ),
        proof="dp_exponential_nas",
        baseline="NAS",
        goal="estimate",
    )

    def bar(self, count: int) -> float:
        test = max(1, (count - 1).bit_length())  # k at 2^k; the cap takes the next k
        return private_bar(count, math.log(test), self.alpha, self.beta, float(self.epsilon))

    def following(self, count: int) -> int:
        return 1 << max(1, count.bit_length())
