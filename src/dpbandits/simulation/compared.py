"""What an answer is to whoever reads it, as plain values: replays compare these.

`True` equals 1, 0.0 equals -0.0, and a class of one's own may call anything equal; whoever looks
closely sees a difference all the same. So it is with the bits of a NaN, the order of an array in
memory, the array that it is a part of, the notes on its type, and attributes or slots.
"""

import struct
from abc import ABCMeta
from collections.abc import Callable
from enum import Enum, EnumType
from functools import lru_cache
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

import numpy as np

from dpbandits.core.errors import Foreign

Written = tuple[Any, ...]
"""A class, what a value of it holds, and what else is kept with it; nothing in it can change."""

DEPTH = 64
"""The most levels of an answer. One that holds itself has no end."""

METACLASSES = (type, ABCMeta, EnumType)
"""Of a class of another class nobody knows what it says of itself."""

SCALARS = {kind for kind in np.sctypeDict.values() if kind not in (np.void, np.object_)}
PLAIN_ARRAYS = "?biufcmMSU"
"""The kinds of arrays whose bytes are all that they hold."""

WORD = struct.calcsize("P")
ABSENT = ("absent",)


def identical(one: object, other: object) -> bool:
    """Whether two public values are the same to whoever reads them.

    Raises:
        Foreign: a value of a type that cannot be compared.
    """
    return form_of(one) == form_of(other)


def form_of(value: Any, left: int = DEPTH) -> Written:
    """All that can be read in a value, now: it may be changed later.

    Raises:
        Foreign: it cannot be compared: it may hold what is not seen here.
    """
    kind = type(value)
    if kind is float:  # the common cases
        return kind, struct.pack("<d", value)
    if kind is int or kind is bool or kind is str or value is None:
        return kind, value
    if not any(type(kind) is known for known in METACLASSES) or left == 0:
        raise incomparable(kind)
    if issubclass(kind, Enum):
        return kind, id(value)
    root = next(known for known in kind.__mro__ if known in CONTENT)
    held = CONTENT[root](value, left - 1)
    return (kind, held) if kind is root else (kind, held, kept_with(value, kind, root, left - 1))


def incomparable(kind: type) -> Foreign:
    return Foreign(
        f"Its answers cannot be compared: they hold an object of type {kind.__name__}, or of "
        "too many levels. Answer with numbers, text, tuples, arrays, or classes that hold these."
    )


def kept_with(value: Any, kind: type, root: type, left: int) -> Written:
    """Attributes and slots: what a class derived from a known one adds to it."""
    places = places_of(kind, root)
    return tuple([(name, slot_form(value, member, left)) for name, member in places])


@lru_cache(maxsize=256)
def places_of(kind: type, root: type) -> tuple[tuple[str, Any], ...]:
    """Where objects of a class keep what its root does not know of. Every word of them has to be
    accounted for: compiled classes hold what Python does not show.
    """
    found, words = dict[int, tuple[str, Any]](), (kind.__basicsize__ - root.__basicsize__) // WORD
    for cls in kind.__mro__:
        for name, member in () if cls in root.__mro__ else vars(cls).items():
            if type(member) is MemberDescriptorType or (
                type(member) is GetSetDescriptorType and name in ("__dict__", "__weakref__")
            ):
                found[id(member)] = name, member
    shown = any(name == "__dict__" for name, _ in found.values())
    if words > len(found) or (kind.__dictoffset__ != root.__dictoffset__ and not shown):
        raise incomparable(kind)
    return tuple(place for place in found.values() if place[0] != "__weakref__")


def slot_form(value: Any, member: Any, left: int) -> Written:
    try:
        held = member.__get__(value, type(value))
    except AttributeError:
        return ABSENT
    return form_of(held, left)


def entries_form(entries: Any, left: int) -> Written:
    return tuple([form_of(entry, left) for entry in entries])


def array_form(array: Any, left: int) -> Written:
    """Values, type, notes on the type, order in memory, and the array that it is a part of."""
    plain, base = np.ndarray.view(array, np.ndarray), np.ndarray.base.__get__(array)
    kind = plain.dtype
    if kind.hasobject and kind.kind == "O":
        content = entries_form(plain.ravel().tolist(), left)
    elif kind.kind in PLAIN_ARRAYS:
        content = (plain.tobytes(),)
    else:
        raise incomparable(type(array))
    return (
        (kind.str, kind.char, form_of(dict(kind.metadata or {}), left)),
        (plain.shape, plain.strides, plain.flags.writeable),
        content,
        form_of(base, left),
    )


def scalar_form(value: Any, left: int) -> Written:
    kind = np.generic.dtype.__get__(value)
    return kind.str, kind.char, np.generic.tobytes(value)


CONTENT: dict[type, Callable[[Any, int], Any]] = {
    object: lambda value, left: (),
    int: lambda value, left: int.__add__(value, 0),
    float: lambda value, left: struct.pack("<d", value),
    str: lambda value, left: str.__str__(value),
    bytes: lambda value, left: bytes.__add__(value, b""),
    tuple: lambda value, left: entries_form(tuple.__iter__(value), left),
    list: lambda value, left: entries_form(list.__iter__(value), left),
    dict: lambda value, left: entries_form(dict.items(value), left),
    np.ndarray: array_form,
} | dict.fromkeys(SCALARS, scalar_form)
"""What a value of a known class holds. A derived class does not change how it is read here."""
