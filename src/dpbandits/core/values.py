"""How plain values are read: the seeds and defaults of callers, and the parts of a saved session.
Whatever is not exactly as expected is refused.
"""

import math
from decimal import Decimal
from typing import Any

from dpbandits.core.errors import DamagedSessionError
from dpbandits.core.inputs import MOST, as_int, real_number, shown

SAVES = 2**53
"""The largest number of a save. Nobody makes so many, and every reader of JSON knows it exactly."""

DEEPEST = 64
"""The most levels of lists and objects in a document. Deeper ones would exhaust the stack of their
reader.
"""


NAME = 200
"""Characters of a public name."""

SEEDS = 16**NAME
"""Seeds are below this: a session without a name is called by its seed, and saved by it."""


def damaged(what: str) -> DamagedSessionError:
    """The error about a saved session. It names the part, never the value, which may be private."""
    return DamagedSessionError(
        f"The saved session is damaged: {what}. Load an undamaged copy of what Session.to_json() "
        "wrote."
    )


def whole(value: object, what: str, low: int = 0, high: int = MOST) -> int:
    """A whole number of a saved session, within bounds."""
    if type(value) is not int or not low <= value <= high:
        raise damaged(f"{what} is not a whole number of at least {low}")
    return value


def entries(value: object, what: str, length: int | None = None) -> list[Any]:
    """A list of a saved session, of this length."""
    if not isinstance(value, list) or (length is not None and len(value) != length):
        raise damaged(f"{what} is not a list" + ("" if length is None else f" of {length} entries"))
    return value


def part(value: object, what: str, *keys: str) -> dict[str, Any]:
    """An object of a saved session that has these keys."""
    if not isinstance(value, dict):
        raise damaged(f"{what} is not an object")
    missing = [f"{key} in {what}" for key in keys if key not in value]
    if missing:
        raise damaged(f"it lacks {', '.join(missing)}")
    return value


def frozen(value: Any) -> Any:
    """A value from JSON with tuples for lists."""
    return tuple(frozen(v) for v in value) if isinstance(value, list) else value


def alike(value: object, fresh: object) -> bool:
    """Whether a value from JSON has the form of a fresh one. Tuples keep their length, lists may
    have grown, and numbers stay numbers.
    """
    if isinstance(fresh, (list, tuple)):
        if (
            not isinstance(value, list)
            or len(value) < len(fresh)
            or (isinstance(fresh, tuple) and len(value) > len(fresh))
        ):
            return False
        return not fresh or all(
            alike(v, fresh[min(i, len(fresh) - 1)]) for i, v in enumerate(value)
        )
    # None: not known yet, so anything may be there by now
    if isinstance(fresh, bool) or fresh is None:
        return fresh is None or isinstance(value, bool)
    if isinstance(fresh, (int, float)):
        return type(value) is int or (isinstance(fresh, float) and type(value) is float)
    return True


def kin(value: object, fresh: object) -> bool:
    """Whether a value from JSON consists of the same kinds of values as a fresh one: lists of any
    length for tuples, and numbers for numbers.
    """
    if isinstance(fresh, (list, tuple)):
        return isinstance(value, list) and (
            not fresh or all(any(kin(v, f) for f in fresh) for v in value)
        )
    if isinstance(fresh, (int, float)) and not isinstance(fresh, bool):
        return type(value) in (int, float)
    return alike(value, fresh)


def finite(text: str) -> float:
    """A number of the document. NaN and the infinities are refused, however they are written."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError
    return number


def require_shallow(data: object) -> None:
    """Refuse a document that is nested too deeply, before any recursion goes through it."""
    level = [data]
    for _ in range(DEEPEST):
        level = [
            v
            for x in level
            if isinstance(x, (list, dict))
            for v in (x if isinstance(x, list) else x.values())
        ]
        if not level:
            return
    raise damaged(f"it is nested more than {DEEPEST} levels deep")


def checked_name(name: object) -> str:
    """A public name: text of 1 to 200 characters that can be printed."""
    if not isinstance(name, str) or not name.isprintable() or not 1 <= len(name) <= NAME:
        raise ValueError(
            f"Expected campaign to be a name of 1 to {NAME} characters that can be printed, got "
            f"{name!r:.60}."
        )
    return name


def checked_noise(noise: Any) -> Any:
    """Check that this is a noise source, and not the class of one."""
    if isinstance(noise, type):
        raise TypeError(
            f"Expected noise={noise.__name__}(...), a noise source, got the class "
            f"{noise.__name__}: call it."
        )
    if not callable(getattr(noise, "laplace", None)) or getattr(noise, "kind", None) not in (
        "secure",
        "simulated",
    ):
        raise TypeError(
            "Expected noise=SecureNoise() (people's data) or noise=SimulatedNoise(seed) "
            "(experiments)."
        )
    return noise


def checked_seed(seed: object) -> int:
    """A seed as a plain int.

    >>> checked_seed("a")
    Traceback (most recent call last):
    ValueError: Expected seed='a' to be a whole number of at least 0.
    """
    number = as_int(seed)
    if number is None or not 0 <= number < SEEDS:
        most = "" if number is None or number < 0 else f" and of at most {NAME} hexadecimal digits"
        raise ValueError(f"Expected seed={shown(seed)} to be a whole number of at least 0{most}.")
    return number


def checked_default(default: object) -> float:
    """The public reward of expired decisions as a plain float.

    >>> checked_default("0.5")
    Traceback (most recent call last):
    ValueError: Expected default='0.5' to be a reward: a number in [0, 1].
    """
    reward = real_number(float(default) if isinstance(default, Decimal) else default)
    if reward is None or not 0.0 <= reward <= 1.0:
        raise ValueError(f"Expected default={shown(default)} to be a reward: a number in [0, 1].")
    return float(reward)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object. If a name comes twice it is refused: a reader would see only one of the two
    values.
    """
    if len(dict(pairs)) < len(pairs):
        raise ValueError
    return dict(pairs)
