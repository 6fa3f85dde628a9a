"""Validation of arguments and documents: numbers, seeds, names, noise sources, and parts of saved
sessions.

Invalid input raises an error that says what was expected.
"""

import math
import operator
import re
import struct
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from difflib import get_close_matches
from inspect import signature
from numbers import Real
from pathlib import Path
from traceback import extract_tb
from typing import Annotated, Any, TypeAlias, TypeGuard, TypeVar

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dpbandits.core.errors import DamagedSessionError, SharedError
from dpbandits.core.locks import CallLock

# Array type aliases, and a fast conversion of lists to arrays.


Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Places: TypeAlias = NDArray[np.intp]  # indices into arrays
Booleans: TypeAlias = NDArray[np.bool_]


Hidden = TypeVar("Hidden")


def opaque(kind: type[Hidden]) -> type[Hidden]:
    """Give a class that may hold rewards or sums a `repr` that shows nothing but its name."""
    kind.__repr__ = lambda self: f"{type(self).__name__}()"  # type: ignore[method-assign]
    return kind


class Opaque(msgspec.Struct, frozen=True, gc=False):
    """A struct that may hold rewards or sums, which nobody who prints it sees. Without
    `__rich_repr__`, rich prints all fields of a struct whatever its `repr` is.
    """

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return []


def floats_of(numbers: Sequence[float]) -> Floats:
    """Return a tuple or list as an array, five times as fast as `np.array`."""
    return np.frombuffer(struct.pack(f"{len(numbers)}d", *numbers)).copy()


# Validation of callers' arguments. Whole numbers may be of any integer type, but not booleans.
# Errors show a shortened value.


MOST = 2**62
"""The largest count. Sums of as many grid steps still fit into 64 bits."""

MOST_ARMS = 10**7
"""The most arms. A state has numbers for every arm, and more would not fit into ordinary memory."""

LARGEST_SEED = 2**128
"""The largest seed: NumPy mixes at most this into a generator's state."""

LONGEST = 60
"""The most characters of a value that an error repeats."""


FRACTION = re.compile(r"(?<![\w.-])-?\d*(\.\d|e-\d)|Fraction\(")
"""A number in a text, but no version as of "model-1.2"."""


def shown(value: object) -> str:
    """Return a short text of any value, for an error. Do not use it for rewards: their errors show
    nothing. Arrays, and collections of fractions, may be rewards in another argument's place.

    >>> shown("a" * 100)[-10:], shown(int), shown(10**5000), shown([0, 1]), shown([0.5])
    ('aaaaaaa...', 'the class int', 'a number of more than 4300 digits', '[0, 1]', '<list>')
    """
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, int) and abs(value) >= 10**4300:
        return "a number of more than 4300 digits"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a user-defined repr, or one that nests too deeply
        return f"an object of type {type(value).__name__}"
    is_many = hasattr(value, "__len__") and not isinstance(value, str)
    if is_many and (hasattr(value, "__array__") or FRACTION.search(text)):
        return f"<{type(value).__name__}>"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def is_line(value: object, most: int) -> TypeGuard[str]:
    """Return whether a value is printable text of 1 to `most` characters.

    Control characters are refused, because they steer terminals and databases do not store them.

    >>> is_line("winner declared: blue", 500), is_line("", 500), is_line("a\\0b", 500)
    (True, False, False)
    """
    return isinstance(value, str) and 0 < len(value) <= most and value.isprintable()


def normalised(text: str) -> str:
    """Return a text in Unicode's normal form NFC.

    NFKC would also merge different texts, such as "①" and "1".

    >>> normalised("e\u0301") == "\u00e9"
    True
    """
    return unicodedata.normalize("NFC", text)


def is_blank(text: str) -> bool:
    """Return whether a text has no visible character: only white space, control and format
    characters.

    >>> is_blank(""), is_blank(" \t\u200b"), is_blank("0")
    (True, True, False)
    """
    return all(each.isspace() or unicodedata.category(each) in ("Cc", "Cf") for each in text)


def whole_number(value: object, name: str, low: int = 0, high: int = MOST, *, of: str = "") -> int:
    """Return a whole number of any integer type as an int. Booleans, floats and text are refused.

    Args:
        value: the number.
        name: the argument's name, for the error.
        low: smallest allowed value.
        high: largest allowed value.
        of: what it counts, for the error.

    Raises:
        ValueError: not a whole number, or outside low … high.

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
    raise ValueError(f"Expected {name}={shown(value)} to be {kind}{suggestion(value, name)}.")


def as_int(value: object) -> int | None:
    """Return a whole number of any integer type as an int; None for any other value."""
    if not isinstance(value, (bool, np.bool_)):
        with suppress(TypeError):
            # raises TypeError unless value is an integer
            return operator.index(value)  # type: ignore[arg-type]
    return None


def suggestion(value: object, name: str) -> str:
    """Return the end of an error: what to write if a float or a text stands for a whole number."""
    with suppress(ValueError, OverflowError):
        if isinstance(value, float) and value == int(value) and abs(value) < 2**53:
            return f"; write {name}={int(value)}"
        if isinstance(value, str) and len(value) < 20:
            return f"; write {name}={int(value)}, without quotes"
    return ""


def real_number(value: object) -> int | float | None:
    """Return a real number of any type as an int or a float; None for any other value, NaN,
    booleans and text.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (Real, Decimal)):
        return None
    if isinstance(value, float):  # first, because no error must be caught for it
        return float(value) if value == value else None
    number = as_int(value)
    if number is not None:
        return number
    # a fraction too large for a float; a length of time, which NumPy counts among whole numbers; a
    # signalling NaN
    with suppress(OverflowError, TypeError, ValueError):
        plain = float(value)
        return plain if plain == plain else None
    return None


IN_SECONDS = 1e11
"""The year 5138, and in milliseconds 1973."""


def seconds_of(now: object) -> float:
    """A time in seconds."""
    if isinstance(now, datetime):
        return now.timestamp()
    seconds = real_number(now)
    if seconds is None or not abs(seconds) < IN_SECONDS:
        raise TypeError(
            "Expected clock() to return a datetime or a number of seconds (milliseconds are "
            f"refused by their size), got {shown(now)}."
        )
    return float(seconds)


def number_within(
    value: object, name: str, low: float, high: float, ends: str = "[]", *, of: str = ""
) -> float:
    """Return a real number of an interval as a float.

    Args:
        value: the number.
        name: the argument's name, for the error.
        low: the lower end.
        high: the upper end.
        ends: which ends belong to it: "[]", "[)", "(]" or "()".
        of: what it is, for the error.

    Raises:
        ValueError: not a number of the interval.

    >>> number_within(0, "share", 0, 1, "(]", of="a share of people")
    Traceback (most recent call last):
    ValueError: Expected share=0 to be a share of people: a number in (0, 1].
    """
    number = real_number(value)
    above = number is not None and (low < number or (low == number and ends[0] == "["))
    if number is not None and above and (number < high or (number == high and ends[1] == "]")):
        with suppress(OverflowError):  # below infinity, and above every float
            return float(number)
    what = f"{of}: a number" if of else "a number"
    range_ = f"{ends[0]}{low:g}, {high:g}{ends[1]}"
    raise ValueError(f"Expected {name}={shown(value)} to be {what} in {range_}.")


def require_one_of(value: object, name: str, *allowed: str) -> None:
    """Raise a ValueError unless `value` is one of these texts."""
    if not isinstance(value, str) or value not in allowed:
        known = ", ".join(map(repr, allowed))
        raise ValueError(f"Expected {name}={shown(value)} to be one of {known}.")


def positive(**given: object) -> list[float]:
    """Return positive numbers given by name, such as ε and gaps.

    Raises:
        ValueError: another value, infinity or NaN.

    >>> positive(epsilon=1, gap=0.0)
    Traceback (most recent call last):
    ValueError: Expected gap=0.0 to be a number in (0, inf).
    """
    return [number_within(value, name, 0, math.inf, "()") for name, value in given.items()]


def refuse_class(value: object, what: str, example: str) -> None:
    """Raise a TypeError if a class is given instead of an instance; say how to make one."""
    if isinstance(value, type):
        raise TypeError(
            f"Expected {what}, got the class {value.__name__} itself. Make one first, for "
            f"example {example}."
        )


def refuse_others(value: object, kind: type, what: str, example: str) -> None:
    """Raise a TypeError unless `value` is an instance of `kind`. The error says how to make one. It
    shows no numbers: they may be rewards in another argument's place.
    """
    refuse_class(value, what, example)
    if not isinstance(value, kind):
        is_plain = value is None or isinstance(value, str)
        found = shown(value) if is_plain else f"an object of type {type(value).__name__}"
        raise TypeError(f"Expected {what} such as {example}, got {found}.")


def number(value: object) -> float:
    """Return a number of any type as a float. Text, complex numbers and masked entries are refused,
    although `float()` reads some of them.

    Raises:
        TypeError: not a number.
        ValueError: its conversion to a float failed.
        OverflowError: it is too large for a float.
    """
    plain = value
    if isinstance(value, (np.ndarray, np.generic)):
        if value.ndim or value.dtype.kind not in "biufO" or isinstance(value, np.ma.MaskedArray):
            raise TypeError
        plain = value.item()
    if not (hasattr(type(plain), "__float__") or hasattr(type(plain), "__index__")):
        raise TypeError
    return float(plain)  # type: ignore[arg-type]   # it has a method that float() needs: two lines above


def numbers(values: object) -> NDArray[np.float64]:
    """Return an array of floats from numbers of any type (see `number`).

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
    # a copy, so that the checked values are used even if the caller writes to the array
    return np.array(array, np.float64)


def numbers_in(values: object, what: str, *, secret: bool = False) -> NDArray[np.float64]:
    """Return numbers as an array of floats, in their shape.

    Args:
        values: the numbers.
        what: their name, for the error.
        secret: True for private data. The error then names their type only, and booleans are
            allowed.

    Raises:
        ValueError: an entry is not a number, or lists have unequal lengths.

    >>> numbers_in(["0.5"], "means")
    Traceback (most recent call last):
    ValueError: Expected means to be numbers, in a list or an array, got <list>. Leave ...
    """
    try:
        array = numbers(values)
        if secret or np.asarray(values).dtype != np.bool_:
            return array
    except (TypeError, ValueError, OverflowError):
        pass
    received = f"an object of type {type(values).__name__}" if secret else shown(values)
    raise ValueError(
        f"Expected {what} to be numbers, in a list or an array, got {received}{remedy_for(values)}"
    )


def remedy_for(values: object) -> str:
    """Return the end of an error: how to correct values that cannot become an array of numbers."""
    if isinstance(values, (list, tuple)):
        if any(isinstance(value, str) for value in values):
            return ". Leave the quotes out, or convert the entries with float()."
        if any(isinstance(value, (list, tuple)) for value in values):
            return ". All rows need the same length, and numbers in them."
    if hasattr(values, "columns") or hasattr(values, "dtype"):
        return ". Turn categories into 0 and 1 and text into numbers, or leave such columns out."
    return "; for example [0.5, 0.4]."


def switch(value: object, name: str) -> bool:
    """Return a boolean; raise a ValueError for any other value."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise ValueError(f"Expected {name}={shown(value)} to be True or False.")


# Validation of seeds and defaults, and of the parts of a saved session.


SAVES = 2**53
"""The largest number of a save. Every reader of JSON represents it exactly."""

DEEPEST = 64
"""The most levels of lists and objects in a document. More could exhaust the reader's stack."""


NAME = 200
"""The most characters of a public name."""

SEEDS = 16**NAME
"""Seeds are below this, so that a seed in hexadecimal digits is a valid name of a session."""


def damaged(what: str) -> DamagedSessionError:
    """Return the error about a damaged saved session. It names the part, never the value, which may
    be private.
    """
    return DamagedSessionError(
        f"The saved session is damaged: {what}. Load an undamaged copy of what Session.to_json() "
        "wrote."
    )


Count = Annotated[int, Meta(ge=0, le=MOST)]
Number = Annotated[int, Meta(ge=1, le=MOST)]
Finite = Annotated[float, Meta(ge=-1e308, le=1e308)]
Seconds = Annotated[float, Meta(gt=0, lt=1e12)]


READING = CallLock(
    lambda: SharedError(
        "This call came while its thread was reading a saved session (from a signal handler, or a "
        "state of your own that reads one). Nothing was done. Call again once that is read."
    )
)


def read_as(kind: Any, data: Any, *, str_keys: bool = False) -> Any:
    """Return plain data as a type, one thread at a time: msgspec leaves a class half described
    while it meets it for the first time, and a second thread that needs it meanwhile would crash.
    """
    return READING.run(lambda: msgspec.convert(data, kind, str_keys=str_keys))


def converted(data: Any, kind: Any, what: str) -> Any:
    """Return plain data as a typed part of a saved session.

    Raises:
        DamagedSessionError: it does not fit; the error names the place, no value.
    """
    why = ""
    try:
        return read_as(kind, data, str_keys=True)
    except msgspec.ValidationError as error:
        why = str(error)
    except (TypeError, ValueError, OverflowError, RecursionError):
        why = "it has the wrong form"
    del data  # which the error would keep
    raise damaged(f"{what}: {why}")


Made = TypeVar("Made")


def rebuilt(make: Callable[[], Made]) -> Made:
    """What `make` makes of the typed parts of a saved session.

    Raises:
        DamagedSessionError: it fails. Of an error only its kind is shown, and the line of the
            user's own code that it came from: what it says may be private.
    """
    try:
        return make()
    except SharedError:
        raise
    except DamagedSessionError as error:
        said = str(error)
    except Exception as error:  # a user's own policy and mechanism may raise any
        where = f"{type(error).__name__}{line_outside(error)}"
        said = str(
            damaged(
                f"its parts do not fit together, or the policy cannot go on from them ({where})"
            )
        )
    # a new one outside of the handler: the first keeps the frames it came from, with their parts
    raise DamagedSessionError(said)


PACKAGE = str(Path(__file__).parent.parent)


def line_outside(error: BaseException) -> str:
    """Return " in mypolicies.py, line 7", the deepest line of the first file outside of this
    package that an error came through; an empty text if there is none.
    """
    frames = extract_tb(error.__traceback__)
    files = [frame.filename for frame in frames if not frame.filename.startswith(PACKAGE)]
    lines = [frame.lineno for frame in frames if files and frame.filename == files[0]]
    return f" in {Path(files[0]).name}, line {lines[-1]}" if files else ""


def tuples_for_lists(value: Any) -> Any:
    """Return a value from JSON with tuples for lists."""
    return tuple(tuples_for_lists(v) for v in value) if isinstance(value, list) else value


def has_form_of(value: object, fresh: object) -> bool:
    """Return whether a value from JSON has the form of a fresh one. Tuples keep their length, lists
    may have grown, and numbers remain numbers.
    """
    if isinstance(fresh, (list, tuple)):
        if (
            not isinstance(value, list)
            or len(value) < len(fresh)
            or (isinstance(fresh, tuple) and len(value) > len(fresh))
        ):
            return False
        return not fresh or all(
            has_form_of(v, fresh[min(i, len(fresh) - 1)]) for i, v in enumerate(value)
        )
    # None stands for a value that is set later, so any value fits
    if isinstance(fresh, bool) or fresh is None:
        return fresh is None or isinstance(value, bool)
    if isinstance(fresh, (int, float)):
        return type(value) is int or (isinstance(fresh, float) and type(value) is float)
    return True


def finite(text: str) -> float:
    """Return a number of the document. NaN and infinities are refused in any spelling."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError
    return number


def require_shallow(data: object) -> None:
    """Refuse a document that is nested too deeply, without recursion."""
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


def checked_name(name: object, what: str = "campaign") -> str:
    """Return a public name: printable text of 1 to 200 characters."""
    if not is_line(name, NAME):
        raise ValueError(
            f"Expected {what} to be a name of 1 to {NAME} characters that can be printed, got "
            f"{shown(name)}."
        )
    return name


def checked_noise(noise: Any) -> Any:
    """Return a noise source; refuse the class of one.

    Raises:
        TypeError: not a noise source.
    """
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
            "(experiments), or a source of your own over dpbandits.noise.protocol.Noise."
        )
    return noise


def checked_seed(seed: object) -> int:
    """Return a seed as an int.

    >>> checked_seed("a")
    Traceback (most recent call last):
    ValueError: Expected seed='a' to be a whole number of at least 0.
    """
    number = as_int(seed)
    if number is None or not 0 <= number < SEEDS:
        most = "" if number is None or number < 0 else f" and of at most {NAME} hexadecimal digits"
        raise ValueError(f"Expected seed={shown(seed)} to be a whole number of at least 0{most}.")
    return number


SHORTEST_KEY = 16
"""Bytes of a key."""


def checked_key(key: object, name: str = "key") -> bytes | None:
    """Return a secret key, which no error shows."""
    if key is not None and (not isinstance(key, bytes) or len(key) < SHORTEST_KEY):
        got = (
            "text: decode it first, for example bytes.fromhex(text)"
            if isinstance(key, str)
            else "something else"
        )
        raise ValueError(
            f"Expected {name}= to be at least {SHORTEST_KEY} bytes, for example "
            f"secrets.token_bytes(32), kept apart from what is saved; got {got}."
        )
    return key


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object. Repeated keys are refused, because readers differ in which value they
    keep.
    """
    if len(dict(pairs)) < len(pairs):
        raise ValueError
    return dict(pairs)


def options_of(cls: type) -> list[str]:
    """Return the names of a constructor's arguments."""
    return list(signature(cls.__init__).parameters)[1:]  # type: ignore[misc]


def require_options(whose: str, options: Iterable[str], known: Iterable[str]) -> None:
    """Refuse unknown options, and name the known ones.

    Args:
        whose: the subject of the error.
        options: names that were given.
        known: names that exist.

    Raises:
        TypeError: an option does not exist.

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
