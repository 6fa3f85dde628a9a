"""What a person is called by callers: a text or a whole number, as bytes to be hashed."""

from numbers import Integral

import numpy as np

from dpbandits.core.inputs import is_blank, normalised

LONGEST_NAME = 1_000
"""Characters by which a person is named."""


def named_bytes(user: object, typed: bool = False) -> bytes:
    """A person's name or number, to be hashed. 1 and "1" are one person: a table's column of whole
    numbers comes back from a file, or over HTTP, as text. So are two spellings of one text, with an
    accent within its letter or after it (see `normalised`). Nothing else is made equal: neither
    capitals nor spaces.

    typed: tell them apart, as what was begun before goes on to do: else its people would be new.

    Raises:
        TypeError: no text and no whole number.
        ValueError: a text in which nothing can be seen.
    """
    # what it says of itself does not count: a subclass may say something else each time
    plain = str.__str__(user) if isinstance(user, str) else whole_name(user)
    if plain is None or (isinstance(plain, str) and len(plain) > LONGEST_NAME):
        raise TypeError(
            "Expected user= to be a person's own name or number (text or a whole number), got "
            f"an object of type {type(user).__name__}. No decision was made."
        )
    if isinstance(plain, str) and is_blank(plain):
        raise ValueError(
            "Expected user= to be a person's own name or number, got a text that is empty or has "
            "nothing to be seen: all who have no name would be one person. Nothing was done."
        )
    if typed:
        return f"{type(plain).__name__}:{plain}".encode(errors="surrogatepass")
    return f"str:{normalised(str(plain))}".encode(errors="surrogatepass")


def whole_name(user: object) -> int | None:
    """A whole number of any kind (NumPy's, too) as a plain one of moderate size; else None."""
    if isinstance(user, (bool, np.bool_)) or not isinstance(user, Integral):
        return None
    plain = int.__index__(user) if isinstance(user, int) else int(user)
    return plain if plain.bit_length() <= 256 else None
