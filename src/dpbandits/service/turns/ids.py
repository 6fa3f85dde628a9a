"""The names of decisions: 32 hexadecimal digits that nobody can guess or read.

A name is one block of AES over a nonce, which every transaction draws for the decisions it makes,
the generation, and the number of the decision. So no index of names is kept, and a name is looked
up as fast after a hundred million decisions as at the first. The decision's row has the nonce too:
a database that was put back gives a number again, but never a name.
"""

import secrets
from collections.abc import Iterable
from typing import NamedTuple, final

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB

NO_NAME = bytes(16)
"""Stands for what is no name at all where many are opened at once."""


class OpenedId(NamedTuple):
    """Which decision a name names, if the row of this number has this nonce."""

    nonce: int
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

    def names(self, nonce: int, generation: int, seqs: Iterable[int]) -> list[str]:
        """The names of these decisions, which one transaction made."""
        head = nonce.to_bytes(8, signed=True) + generation.to_bytes(2)
        plain = b"".join(head + seq.to_bytes(6) for seq in seqs)
        text = self._cipher.encryptor().update(plain).hex()
        return [text[at : at + 32] for at in range(0, len(text), 32)]

    def opened(self, names: Iterable[object]) -> list[OpenedId | None]:
        """Which decisions are named; None for what is no name at all. A name that was made up opens
        too, and its nonce is that of no row, but for one in 2^64.
        """
        blocks = [id_bytes(name) for name in names]
        plain = self._cipher.decryptor().update(b"".join(block or NO_NAME for block in blocks))
        return [
            None
            if block is None
            else OpenedId(
                int.from_bytes(part[:8], signed=True),
                int.from_bytes(part[8:10]),
                int.from_bytes(part[10:]),
            )
            for block, part in (
                (block, plain[16 * at : 16 * at + 16]) for at, block in enumerate(blocks)
            )
        ]


def fresh_nonce() -> int:
    """A nonce that no transaction had before, on any timeline. It fits a database's largest whole
    number.
    """
    return int.from_bytes(secrets.token_bytes(8), signed=True)


def id_bytes(name: object) -> bytes | None:
    """The 16 bytes of a name as it is written; None: it is none."""
    if not isinstance(name, str) or len(name) != 32 or not name.isascii():
        return None
    try:
        return bytes.fromhex(name) if name == name.lower() and " " not in name else None
    except ValueError:
        return None
