"""THE BOUNDARY. Feedback enters by `add` (simulated blocks by `add_block`), answers leave by `release`; nothing else crosses.

Here are the range check, the fixed-point grid, the integer sums and the ledger. Outside this file and `mechanisms/`
no code reads a reward or an exact sum, so every decision made elsewhere is post-processing of what `release` returned.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, final

from dpbandits.mechanisms.base import Block, Mechanism
from dpbandits.mechanisms.randomizers import Randomizer, Report
from dpbandits.mechanisms.rewards import RewardError, checked_reward, on_grid
from dpbandits.noise import Noise
from dpbandits.policy import Release
from dpbandits.privacy import Entry


@final
class Vault:
    """Open blocks, mechanism memory and ledger of one policy's run. Its repr shows counts only.

    randomizer: set for local policies; the vault then takes reports and refuses raw rewards.
    """

    def __init__(self, mechanism: Mechanism, coordinates: int, noise: Noise, randomizer: Randomizer | None = None) -> None:
        self._mechanism, self._noise, self._randomizer = mechanism, noise, randomizer
        self._grid = mechanism.grid
        # For 0/1 rewards and nearest rounding the grid step is a product and a round; anything else takes the longer way.
        self._steps = self._grid.steps if self._grid.rounding == "nearest" else None
        self._sums = [0] * coordinates
        self._counts = [0] * coordinates
        self._clocks = [0] * coordinates  # rewards ever told, by coordinate: public
        self._memory = mechanism.init(coordinates)
        self._ledger: list[Entry] = []
        self._singles: dict[int, int] = {}  # coordinate -> its newest line of one-reward releases
        self.releases = 0
        source = randomizer or mechanism
        guarantee = source.promise()
        self._cost: Fraction | None = guarantee.cost if guarantee is not None else None

    def __repr__(self) -> str:
        return f"Vault(coordinates={len(self._counts)}, releases={self.releases})"

    @property
    def ledger(self) -> tuple[Entry, ...]:
        """Every reading. A coordinate's consecutive one-reward releases share a line that counts them."""
        return tuple(self._ledger)

    def check(self, value: object) -> None:
        """Raise what `add` would raise, and change nothing."""
        if self._randomizer is None:
            checked_reward(value)
        else:
            self._checked_report(value)

    def add(self, coordinate: int, value: object) -> None:
        """One reward in [0, 1] (or, in the local model, one `Report`) into the coordinate's open block.

        Raises:
            RewardError: not a number in [0, 1]; or a raw value where only a report may come, or the reverse. Nothing was recorded.
        """
        if self._randomizer is not None:
            steps = self._checked_report(value)
        else:
            # `checked_reward`, inlined for the common case: this line runs once a round.
            reward = value if type(value) is float and 0.0 <= value <= 1.0 else checked_reward(value)
            steps = round(reward * self._steps) if self._steps else on_grid(reward, self._grid, self._noise)
        self._sums[coordinate] += steps
        self._counts[coordinate] += 1

    def add_block(self, coordinate: int, steps: int, count: int) -> None:
        """`count` rewards at once, their sum in whole grid steps: simulated feedback drawn as a block."""
        if self._randomizer is None and not 0 <= steps <= count * self._grid.steps:
            raise RewardError(f"A sum of {count} rewards in [0, 1] lies outside [0, {count}] (not shown). Nothing was recorded.")
        self._sums[coordinate] += steps
        self._counts[coordinate] += count

    def release(self, coordinates: tuple[int, ...], round: int, told: tuple[tuple[int, int], ...]) -> Release:
        """Close these coordinates' blocks, read each once through the mechanism, and write the ledger.

        Raises:
            RuntimeError: a block is empty or named twice: its rewards would be read twice.
        """
        if not coordinates:
            return Release((), (), round, told)
        empty = [c for c in coordinates if self._counts[c] == 0]
        if empty or len(set(coordinates)) < len(coordinates):
            raise RuntimeError(
                f"Refused to release {coordinates}: every reward may be read once, and "
                + (f"coordinates {empty} have no new reward since their last release." if empty else "a coordinate is named twice.")
            )
        block = Block(coordinates, tuple(self._sums[c] for c in coordinates), tuple(self._counts[c] for c in coordinates))
        self._memory, answers = self._mechanism.answer(self._memory, block, self._noise)
        for c in coordinates:
            self._write(c, self._counts[c])
            self._sums[c] = self._counts[c] = 0
        self.releases += len(coordinates)
        return Release(coordinates, answers, round, told)

    def _write(self, coordinate: int, count: int) -> None:
        start = self._clocks[coordinate]
        self._clocks[coordinate] = stop = start + count
        at = self._singles.get(coordinate) if count == 1 else None
        if at is not None and self._ledger[at].stop == start:
            self._ledger[at] = self._ledger[at]._replace(stop=stop, releases=self._ledger[at].releases + 1)
            return
        if count == 1:
            self._singles[coordinate] = len(self._ledger)
        self._ledger.append(Entry(coordinate, start, stop, self._cost))

    def _checked_report(self, value: object) -> int:
        if not isinstance(value, Report) or self._randomizer is None:
            raise TypeError(
                f"This policy is private in the local model: it takes the Report that its users' {type(self._randomizer).__name__} makes, "
                f"got an object of type {type(value).__name__}. Call policy.randomizer().report(reward, noise) on the user's side. "
                "Nothing was recorded."
            )
        if (value.randomizer, value.noise) != (self._randomizer.name, self._noise.kind):
            raise RewardError(
                f"Expected a report by {self._randomizer.name} with {self._noise.kind} noise, "
                f"got one by {value.randomizer} with {value.noise} noise. Nothing was recorded."
            )
        if not self._randomizer.accepts(value.steps):
            raise RewardError(f"No {type(self._randomizer).__name__} makes this report: its content is damaged. Nothing was recorded.")
        return value.steps

    def private_state(self) -> dict[str, Any]:
        """Open sums, mechanism memory and noise position. As sensitive as the rewards themselves."""
        return {"sums": list(self._sums), "memory": self._memory, "noise": self._noise.state()}

    def public_state(self) -> dict[str, Any]:
        ledger = [[e.coordinate, e.start, e.stop, None if e.cost is None else str(e.cost), e.releases] for e in self._ledger]
        return {"counts": list(self._counts), "clocks": list(self._clocks), "releases": self.releases, "ledger": ledger}

    def restore(self, public: dict[str, Any], private: dict[str, Any]) -> None:
        """Continue from what `public_state` and `private_state` returned (after a trip through JSON)."""
        entries = [Entry(c, a, b, None if cost is None else Fraction(cost), n) for c, a, b, cost, n in public["ledger"]]
        if not len(public["counts"]) == len(public["clocks"]) == len(private["sums"]) == len(self._counts):
            raise ValueError(f"Expected a saved state of {len(self._counts)} coordinates, got {len(public['counts'])}.")
        self._counts, self._clocks, self._ledger = list(public["counts"]), list(public["clocks"]), entries
        self._singles = {e.coordinate: at for at, e in enumerate(entries) if e.stop - e.start == e.releases}
        self.releases, self._sums, self._memory = public["releases"], list(private["sums"]), private["memory"]
