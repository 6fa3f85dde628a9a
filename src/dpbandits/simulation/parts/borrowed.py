"""Arrays and generators whose references nobody counts, for loops that hand them about; and one
generator for many runs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic

from dpbandits.core.arrays import Integers

TUPLES: Any = types.BaseTuple
OWNED: Any = (types.Array, types.NumPyRandomGeneratorType)
PROXY: Any = cgutils.create_struct_proxy


def without_owner(typing_context: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return uncounted(context, builder, value, values[0])

    return value(value), generate


borrowed: Any = intrinsic(without_owner)
"""The same array, generator, or tuple of them, without its count of references.

Compiled code counts up and down at every call and every look into a tuple, which costs an event's
time several times over. To be used of a function's own arguments only, which its caller keeps alive
until it returns.
"""


def uncounted(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """The value with the owner of each array in it left out."""
    if isinstance(kind, TUPLES):
        for at, inner in enumerate(kind):
            part = uncounted(context, builder, inner, builder.extract_value(value, at))
            value = builder.insert_value(value, part, at)
    elif isinstance(kind, OWNED):
        array = PROXY(kind)(context, builder, value)
        array.meminfo, array.parent = array.meminfo.type(None), array.parent.type(None)
        value = array._getvalue()
    return value


pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
pointer_in.restype, pointer_in.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


def seats_of(bits: Sequence[np.random.PCG64]) -> Integers:
    """Where NumPy's C interface to each of these is, a `bitgen_t`. They have to outlive its use."""
    return np.array([pointer_in(each.capsule, b"BitGenerator") for each in bits], np.int64)


def at_seat(typing_context: Any, rng: Any, seat: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        generator = PROXY(rng)(context, builder, values[0])
        kind = context.data_model_manager[rng].get_type("bit_generator")
        bits = PROXY(kind)(context, builder, generator.bit_generator)
        word = context.get_value_type(types.uintp)
        # a `bitgen_t` begins with the address of its state
        bits.state = builder.load(builder.inttoptr(values[1], word.as_pointer()))
        generator.bit_generator = bits._getvalue()
        return uncounted(context, builder, rng, generator._getvalue())

    return rng(rng, seat), generate


seated: Any = intrinsic(at_seat)
"""The generator with the state of the one at this seat; both are of one kind. To hand a generator
of its own to compiled code takes longer than many a run.
"""
