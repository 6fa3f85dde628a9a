"""How a policy names itself, checks its hyper-parameters and keeps them as plain values."""

import math
from dataclasses import fields
from fractions import Fraction
from typing import Any, ClassVar, final

from dpbandits.core.inputs import MOST, real_number, shown, whole_number


class CheckedFields:
    """Checks of the fields of a frozen record, for its `validate`. Each names what was expected and
    what came.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @final
    @property
    def name(self) -> str:
        preset = getattr(self, "preset", None)
        default = next((f.default for f in fields(self) if f.name == "preset"), None)
        return type(self).__name__ + (f"[{preset}]" if preset != default else "")

    @final
    def _whole(self, field: str, *, high: int = MOST, of: str = "") -> None:
        """Require a whole number from 1 to `high`, and keep it as a plain int."""
        object.__setattr__(self, field, whole_number(getattr(self, field), field, 1, high, of=of))

    @final
    def _number(self, field: str, low: float, high: float = math.inf) -> None:
        """Require low < field < high, and keep it as a plain number."""
        number = real_number(getattr(self, field))
        if number is None or not low < number < high:
            raise ValueError(
                f"Expected {field}={shown(getattr(self, field))} to be a number with {low:g} < "
                f"{field} < {high:g}."
            )
        object.__setattr__(self, field, number)

    @final
    def _one_of(self, field: str, *allowed: str) -> None:
        value = getattr(self, field)
        if not isinstance(value, str) or value not in allowed:
            raise ValueError(
                f"Expected {field}={shown(value)} to be one of {', '.join(map(repr, allowed))}."
            )

    @final
    def _growing(self, default: Fraction) -> None:
        """Check what batches that grow need: `alpha`, and `first`, the rounds in the first one (if
        it was not given the default, rounded up).
        """
        self._number("alpha", 1.001, 1000)
        if getattr(self, "first", None) is None:
            object.__setattr__(self, "first", math.ceil(default))
        self._whole("first", of="rounds")

    @final
    def _horizon(self, required: bool) -> None:
        given = getattr(self, "horizon", None)
        if required and given is None:
            raise ValueError(
                f"{self.name} needs to know the horizon, the rounds it will be played for: "
                "horizon=10_000, say."
            )
        if given is not None:
            self._whole("horizon", of="rounds")
