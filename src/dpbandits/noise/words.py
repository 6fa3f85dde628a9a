"""Whole numbers from the operating system's bytes, 8 at a time. Nothing is kept
between two numbers.

The JavaScript client (`clients/js`) reads its bytes in the same order and makes the same of them:
the vectors that both are tested with say so.
"""

import os


def whole_below(size: int) -> int:
    """A uniform whole number in 0 … size − 1, by rejection.

    Words of 8 bytes, the first one the highest, make a number below W = 2^64 (of more words, where
    `size` is larger). It is drawn anew if it lies beyond the largest multiple of `size` in W.
    """
    words = max(1, -(-(size - 1).bit_length() // 64))
    reach = 2 ** (64 * words)
    while True:
        drawn = int.from_bytes(os.urandom(8 * words), "big")
        if drawn < reach - reach % size:
            return drawn % size
