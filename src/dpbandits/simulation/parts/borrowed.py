"""Arrays whose references nobody counts, for loops that hand them about."""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic

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
