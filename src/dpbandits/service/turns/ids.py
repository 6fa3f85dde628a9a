"""The names of decisions: 32 hexadecimal digits that nobody can guess or read.

A name is one block of AES over the generation and the number of the decision. So no index of names
is kept, and a name is looked up as fast after a hundred million decisions as at the first.
"""

import secrets
from collections.abc import Iterable
from typing import NamedTuple, final

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB

TAG = bytes(8)
"""What a block begins with: a name that was made up begins with something else, but for one in
2^64.
"""


class OpenedId(NamedTuple):
    """Which decision a name names."""

    generation: int
    seq: int


@final
class DecisionIds:
    """Names of one campaign's decisions. key: 16 bytes, secret."""

    def __init__(self, key: bytes) -> None:
        self._cipher = Cipher(AES(key), ECB())  # one block each, none twice
        self.key = key

    def __repr__(self) -> str:
        return "DecisionIds(not shown)"

    @classmethod
    def fresh(cls) -> "DecisionIds":
        return cls(secrets.token_bytes(16))

    def names(self, generation: int, seqs: Iterable[int]) -> list[str]:
        """The names of these decisions."""
        head = TAG + generation.to_bytes(2)
        plain = b"".join(head + seq.to_bytes(6) for seq in seqs)
        text = self._cipher.encryptor().update(plain).hex()
        return [text[at : at + 32] for at in range(0, len(text), 32)]

    def opened(self, names: Iterable[object]) -> list[OpenedId | None]:
        """Which decisions are named; None for what is no name of this campaign's."""
        blocks = [id_bytes(name) for name in names]
        plain = self._cipher.decryptor().update(b"".join(block or TAG * 2 for block in blocks))
        return [
            OpenedId(int.from_bytes(part[8:10]), int.from_bytes(part[10:]))
            if block is not None and part[:8] == TAG
            else None
            for block, part in (
                (block, plain[16 * at : 16 * at + 16]) for at, block in enumerate(blocks)
            )
        ]


def id_bytes(name: object) -> bytes | None:
    """The 16 bytes of a name as it is written; None: it is none."""
    if not isinstance(name, str) or len(name) != 32 or not name.isascii():
        return None
    try:
        return bytes.fromhex(name) if name == name.lower() and " " not in name else None
    except ValueError:
        return None
