"""How what callers and documents give is read: numbers, seeds, names, noise sources, and the parts
of a saved session.

Whatever is not as expected is refused, with an error that says what was expected.
"""

import math
import operator
import struct
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import suppress
from decimal import Decimal
from difflib import get_close_matches
from inspect import signature
from numbers import Real
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.errors import DamagedSessionError

# Names for arrays, by what is in them, and how one is made of plain numbers.


Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Places: TypeAlias = NDArray[np.intp]  # indices into arrays
Booleans: TypeAlias = NDArray[np.bool_]


def floats_of(numbers: Sequence[float]) -> Floats:
    """A tuple or list as an array, in a fifth of the time that NumPy's own ways take."""
    return np.frombuffer(struct.pack(f"{len(numbers)}d", *numbers)).copy()


# How callers' arguments are read: strictly. Whole numbers may be of any kind, but never booleans;
# errors show a value in short.


MOST = 2**62
"""The largest count of anything: sums of so many grid steps still fit where they are kept."""

MOST_ARMS = 10**7
"""The most arms: a state says something of every arm, and with more of them it would not fit into
the memory of an ordinary machine.
"""

LARGEST_SEED = 2**128
"""The largest seed: numpy mixes no more than this into a generator's state."""

LONGEST = 60
"""Characters of a value that an error repeats."""


def shown(value: object) -> str:
    """A value for an error: never long, whatever it is. Not for rewards: their errors show nothing.

    >>> shown("a" * 100)[-10:], shown(int), shown(10**5000)
    ('aaaaaaa...', 'the class int', 'a number of more than 4300 digits')
    """
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, int) and abs(value) >= 10**4300:
        return "a number of more than 4300 digits"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a repr of the caller's own, or one that nests too deeply
        return f"an object of type {type(value).__name__}"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def is_line(value: object, most: int) -> TypeGuard[str]:
    """Whether this is a text of 1 to `most` characters that can be printed: without what steers a
    terminal, and without characters that a database does not keep.

    >>> is_line("winner declared: blue", 500), is_line("", 500), is_line("a\\0b", 500)
    (True, False, False)
    """
    return isinstance(value, str) and 0 < len(value) <= most and value.isprintable()


def normalised(text: str) -> str:
    """A text in one spelling (Unicode's NFC): an accent may come within its letter or after it.

    NFKC would also make one of texts that are different, such as "①" and "1".

    >>> normalised("e\u0301") == "\u00e9"
    True
    """
    return unicodedata.normalize("NFC", text)


def is_blank(text: str) -> bool:
    """Whether nothing in a text can be seen: it has white space, control and format characters
    only, or is empty.

    >>> is_blank(""), is_blank(" \t\u200b"), is_blank("0")
    (True, True, False)
    """
    return all(each.isspace() or unicodedata.category(each) in ("Cc", "Cf") for each in text)


def whole_number(value: object, name: str, low: int = 0, high: int = MOST, *, of: str = "") -> int:
    """A whole number of any kind as a plain int. Booleans, floats and text are none.

    of: what it counts, for the error.

    Raises:
        ValueError: no whole number, or one outside low … high.

    >>> whole_number(np.int64(3), "arms", 1)
    3
    >>> whole_number(True, "arms", 1)
    Traceback (most recent call last):
    ValueError: Expected arms=True to be a whole number of at least 1.
    >>> whole_number(1e6, "rounds", 1)
    Traceback (most recent call last):
    ValueError: Expected rounds=1000000.0 to be a whole number of at least 1; write rounds=1000000.
    """
    number = as_int(value)
    if number is not None and low <= number <= high:
        return number
    span = (
        f"of at least {low}"
        if high >= MOST and (number is None or number < low)
        else f"from {low} to {high:_}"
    )
    kind = f"a whole number of {of}, {span.removeprefix('of ')}" if of else f"a whole number {span}"
    raise ValueError(f"Expected {name}={shown(value)} to be {kind}{instead(value, name)}.")


def as_int(value: object) -> int | None:
    """A whole number of any kind as a plain int; None for anything else."""
    if not isinstance(value, (bool, np.bool_)):
        with suppress(TypeError):
            # whatever came: what is no whole number ends in the TypeError
            return operator.index(value)  # type: ignore[arg-type]
    return None


def instead(value: object, name: str) -> str:
    """The end of an error: what to write if a float, or text, stands for a whole number."""
    with suppress(ValueError, OverflowError):
        if isinstance(value, float) and value == int(value) and abs(value) < 2**53:
            return f"; write {name}={int(value)}"
        if isinstance(value, str) and len(value) < 20:
            return f"; write {name}={int(value)}, without quotes"
    return ""


def real_number(value: object) -> int | float | None:
    """A real number of any kind as a plain number; None for anything else, also for NaN, booleans
    and text.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        return None
    if isinstance(value, float):  # looked at first, for no error has to be caught then
        return float(value) if value == value else None
    number = as_int(value)
    if number is not None:
        return number
    with suppress(OverflowError):  # a fraction too large for a float
        plain = float(value)
        return plain if plain == plain else None
    return None


def refuse_class(value: object, what: str, example: str) -> None:
    """Refuse a class where an instance of it is wanted; the error says how to make one."""
    if isinstance(value, type):
        raise TypeError(
            f"Expected {what}, got the class {value.__name__} itself. Make one first, for "
            f"example {example}."
        )


def refuse_others(value: object, kind: type, what: str, example: str) -> None:
    """Refuse whatever is no instance of `kind`; the error says how to make one."""
    refuse_class(value, what, example)
    if not isinstance(value, kind):
        raise TypeError(f"Expected {what} such as {example}, got {shown(value)}.")


def number(value: object) -> float:
    """A number of any kind as a float. Text, complex numbers and masked entries are refused, though
    float() would read some of them.

    Raises:
        TypeError: it is not a number.
        ValueError: its own conversion to a float failed.
        OverflowError: it is too large for a float.
    """
    plain = value
    if isinstance(value, (np.ndarray, np.generic)):
        if value.ndim or value.dtype.kind not in "biufO" or isinstance(value, np.ma.MaskedArray):
            raise TypeError
        plain = value.item()
    if not (hasattr(type(plain), "__float__") or hasattr(type(plain), "__index__")):
        raise TypeError
    return float(plain)  # type: ignore[arg-type]  # it has what float() asks for: two lines above


def numbers(values: object) -> NDArray[np.float64]:
    """An array of floats from numbers of any kind; `number` says which kinds these are.

    Raises:
        TypeError, ValueError, OverflowError: an entry is not a number.
    """
    if type(values) is list and {float}.issuperset(map(type, values)):  # the common case
        return np.array(values, np.float64)
    listed = values if isinstance(values, (list, tuple)) else (values,)
    if any(isinstance(v, np.ma.MaskedArray) for v in listed):
        raise TypeError
    array = np.asarray(values)
    if array.dtype.kind == "O":
        return np.array([number(v) for v in array.ravel()], np.float64).reshape(array.shape)
    if array.dtype.kind not in "biuf":
        raise TypeError
    # a copy: what was checked is what is used, whoever writes to the array meanwhile
    return np.array(array, np.float64)


def numbers_in(values: object, what: str, *, secret: bool = False) -> NDArray[np.float64]:
    """Numbers as an array of floats, of the shape they come in.

    secret: they are somebody's data: the error says their type only, and True and False will do for
        1 and 0.

    Raises:
        ValueError: something in them is no number, or they are lists of unequal length.

    >>> numbers_in(["0.5"], "means")
    Traceback (most recent call last):
    ValueError: Expected means to be numbers, in a list or an array, got ['0.5']. Leave ...
    """
    try:
        array = numbers(values)
        if secret or np.asarray(values).dtype != np.bool_:
            return array
    except (TypeError, ValueError, OverflowError):
        pass
    came = f"an object of type {type(values).__name__}" if secret else shown(values)
    raise ValueError(
        f"Expected {what} to be numbers, in a list or an array, got {came}{cure_for(values)}"
    )


def cure_for(values: object) -> str:
    """The end of an error: what to do about values that cannot become an array of numbers."""
    if isinstance(values, (list, tuple)):
        if any(isinstance(value, str) for value in values):
            return ". Leave the quotes out, or convert the entries with float()."
        if any(isinstance(value, (list, tuple)) for value in values):
            return ". All rows need the same length, and numbers in them."
    return "; for example [0.5, 0.4]."


def switch(value: object, name: str) -> bool:
    """True or False, and nothing else."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise ValueError(f"Expected {name}={shown(value)} to be True or False.")


# How plain values are read: the seeds and defaults of callers, and the parts of a saved session.
# Whatever is not exactly as expected is refused.


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


def options_of(cls: type) -> list[str]:
    """What the constructor takes, by name."""
    # the class itself is asked, not an instance
    return list(signature(cls.__init__).parameters)[1:]  # type: ignore[misc]


def require_options(whose: str, options: Iterable[str], known: Iterable[str]) -> None:
    """Refuse an option that there is not, and say which there are.

    Raises:
        TypeError: such an option.

    >>> require_options("A session", ["nois"], ["policy", "noise"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    TypeError: A session does not take nois (did you mean noise?). It takes policy, noise. ...
    """
    names = list(known)
    for option in options:
        if option not in names:
            close = "".join(f" (did you mean {n}?)" for n in get_close_matches(option, names, n=1))
            raise TypeError(
                f"{whose} does not take {option}{close}. It takes {', '.join(names)}. Nothing was "
                "made."
            )
