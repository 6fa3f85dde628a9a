"""The checks a report passes on the server's side, in the local model, before the vault adds it."""

from __future__ import annotations

from dpbandits.mechanisms.randomizers import Randomizer, Report
from dpbandits.mechanisms.rewards import RewardError
from dpbandits.privacy import NoiseKind


def checked_report(value: object, randomizer: Randomizer, noise: NoiseKind, about: int) -> tuple[int, ...]:
    """The report's content, a number of grid steps for each of the `about` arms it is about; a raw reward is refused, and not shown."""
    if not isinstance(value, Report):
        raise TypeError(
            f"This policy is private in the local model: it takes the Report that its users' {type(randomizer).__name__} makes, "
            f"got an object of type {type(value).__name__}. Call policy.randomizer().report(reward, noise) on the user's side. "
            "Nothing was recorded."
        )
    if (value.randomizer, value.noise) != (randomizer.name, noise):
        raise RewardError(
            f"Expected a report by {randomizer.name} with {noise} noise, "
            f"got one by {value.randomizer} with {value.noise} noise. Nothing was recorded."
        )
    steps = value.steps if isinstance(value.steps, tuple) else (value.steps,)
    if len(steps) != about or not randomizer.accepts(value.steps):
        raise RewardError(f"No {type(randomizer).__name__} makes this report: its content is damaged. Nothing was recorded.")
    return steps
