"""The checks a report passes on the server's side, in the local model, before the vault adds it."""

from __future__ import annotations

from dpbandits.core.errors import RewardError
from dpbandits.core.privacy import NoiseKind
from dpbandits.mechanisms.randomizers import Randomizer, Report, sound


def checked_report(
    value: object, randomizer: Randomizer, noise: NoiseKind, about: int
) -> tuple[int, ...]:
    """The report's content, a number of grid steps for each of the `about` arms it is about.

    What is no report is refused, and not shown: it may be a raw reward, or hold one in any of its
    places.
    """
    if type(value) is not Report:
        raise TypeError(
            "This policy is private in the local model: it takes the Report that its users' "
            f"{type(randomizer).__name__} makes, "
            f"got an object of type {type(value).__name__}. Call "
            "policy.randomizer().report(reward, noise) on the user's side. "
            "Nothing was recorded."
        )
    fit = sound(value)
    if fit and (value.randomizer, value.noise) != (randomizer.name, noise):
        other = (
            "another randomizer" if value.randomizer != randomizer.name else f"{value.noise} noise"
        )
        raise RewardError(
            f"Expected a report by {randomizer.name} with {noise} noise, got one by {other}. "
            "Nothing was recorded."
        )
    steps = value.steps if isinstance(value.steps, tuple) else (value.steps,)
    if not fit or len(steps) != about or not randomizer.accepts(steps):
        raise RewardError(
            f"No {type(randomizer).__name__} makes this report: its content is damaged (not "
            "shown). Nothing was recorded."
        )
    return steps
