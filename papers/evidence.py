"""What claims are measured on: every run's regret, by policy, environment and budget, with honest
intervals.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from dpbandits.core.inputs import Floats
from dpbandits.core.privacy import printed_epsilon
from dpbandits.environments import Environment
from dpbandits.policies.contract import Policy


class CellSetting(NamedTuple):
    """One environment at one budget."""

    environment: str
    epsilon: float

    def __str__(self) -> str:
        return f"{self.environment}, ε = {printed_epsilon(self.epsilon)}"


class Measurement(NamedTuple):
    """A number measured on independent runs. The error is that of `centre`, on a scale where it is
    symmetric.
    """

    centre: float
    error: float  # infinite where one run says nothing of the spread
    freedom: float  # degrees of freedom behind the error
    log: bool  # centre is the logarithm of the number

    @property
    def value(self) -> float:
        return math.exp(self.centre) if self.log else self.centre

    def interval(self, miss: float) -> tuple[float, float]:
        """The interval that misses the true number with probability `miss` (Student's t)."""
        from scipy.special import stdtrit  # slow to import, rarely needed

        if self.error == 0.0:
            return self.value, self.value
        if math.isinf(self.error):
            return (0.0 if self.log else -math.inf), math.inf
        width = float(stdtrit(self.freedom, 1.0 - miss / 2.0)) * self.error
        low, high = self.centre - width, self.centre + width
        return (exp(low), exp(high)) if self.log else (low, high)


def exp(x: float) -> float:
    return math.exp(x) if x < 700.0 else math.inf


def mean_of(sample: Floats) -> Measurement:
    """The mean of one number a run."""
    n = len(sample)
    error = float(sample.std(ddof=1)) / math.sqrt(n) if n > 1 else math.inf
    return Measurement(float(sample.mean()), error, n - 1, log=False)


def ratio_of(over: Floats, under: Floats) -> Measurement:
    """mean(over)/mean(under) for independent samples."""
    return contrast([over, under], [1.0, -1.0])


def contrast(
    samples: Sequence[Floats], weights: Sequence[float], *, scale: float = 1.0, log: bool = True
) -> Measurement:
    """scale · Π mean**weight for independent samples, or with `log=False` its logarithm (a slope,
    say): Welch's interval.
    """
    if not all(s.mean() > 0.0 for s in samples):
        raise ValueError("Expected regrets with a positive mean to take a ratio of.")
    parts = [
        (abs(w) * mean_of(s).error / float(s.mean()), len(s) - 1)
        for s, w in zip(samples, weights, strict=True)
        if w
    ]
    error = math.hypot(*(e for e, _ in parts))
    spread = sum(e**4 / f for e, f in parts if f and e)
    freedom = error**4 / spread if 0.0 < spread < math.inf else 1.0
    centre = math.log(scale) + math.fsum(
        w * math.log(s.mean()) for s, w in zip(samples, weights, strict=True)
    )
    return Measurement(centre, error, freedom, log)


@dataclass(frozen=True)
class Evidence:
    """curves: label, environment, epsilon, run, round, regret; a row for each run and kept round,
    as `Results.curves`.

    environments: by name, for measures that ask for their sizes and gaps.
    policies: by label and setting, for measures that play them.
    """

    curves: pl.DataFrame
    environments: Mapping[str, Environment] = field(default_factory=dict)
    policies: Mapping[tuple[str, CellSetting], Policy] = field(default_factory=dict)

    @cached_property
    def cells(self) -> dict[tuple[str, CellSetting], pl.DataFrame]:
        private = self.curves.filter(pl.col("epsilon").is_not_null())
        parts = private.partition_by(["label", "environment", "epsilon"], as_dict=True)
        return {
            (str(label), CellSetting(str(name), float(eps))): frame
            for (label, name, eps), frame in parts.items()
        }

    def settings(
        self,
        labels: Iterable[str],
        environments: Sequence[str] | None = None,
        epsilons: Sequence[float] | None = None,
    ) -> list[CellSetting]:
        """The settings in which all these policies were played, in the sweep's order; only those
        named, if any are.

        Raises:
            LookupError: there is none.
        """
        wanted, labels = list(dict.fromkeys(s for _, s in self.cells)), list(labels)
        found = [
            s
            for s in wanted
            if all((label, s) in self.cells for label in labels)
            and (environments is None or s.environment in environments)
            and (epsilons is None or s.epsilon in epsilons)
        ]
        if not found:
            raise LookupError(
                f"No setting has results of {', '.join(labels)} (environments {environments}, "
                f"epsilons {epsilons})."
            )
        return found

    def at(self, label: str, setting: CellSetting, share: float = 1.0) -> Floats:
        """Regret of every run, shape (runs,), at the last kept round that is not after `share` of
        the horizon.
        """
        frame = self.cells[label, setting]
        return (
            frame.filter(pl.col("round") == self.kept(label, setting, share))
            .sort("run")["regret"]
            .to_numpy()
            .astype(np.float64)
        )

    def kept(self, label: str, setting: CellSetting, share: float) -> int:
        """The last kept round that is not after `share` of the horizon."""
        limit = share * float(self.rounds(label, setting)) * (1.0 + 1e-12)
        frame = self.cells[label, setting]
        last = frame.filter(pl.col("round") <= limit)["round"].max()
        assert isinstance(last, int)
        return last

    def rounds(self, label: str, setting: CellSetting) -> int:
        last = self.cells[label, setting]["round"].max()
        assert isinstance(last, int)
        return last

    def ratio(self, over: str, under: str, setting: CellSetting) -> Measurement:
        """Final regret of one policy over that of another, at equal horizons.

        Raises:
            ValueError: their horizons differ, so that the numbers say nothing of each other.
        """
        horizons = {label: self.rounds(label, setting) for label in (over, under)}
        if len(set(horizons.values())) > 1:
            raise ValueError(
                f"Expected {over} and {under} to be played equally long in {setting}, got "
                f"{horizons} rounds."
            )
        return ratio_of(self.at(over, setting), self.at(under, setting))
