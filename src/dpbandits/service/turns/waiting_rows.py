"""Decisions that wait, as they were written: a sum over all of them lies in the sealed row.

So whoever edits, deletes or puts back the row of a decision that waits, or makes one wait again
that was resolved, is found out as the rows are read: the sum is another one. It is a sum of blocks
of AES under a secret key, one for each decision, so it goes with the decisions that come and go,
and nobody else can make two sets of rows with the same one.
"""

import hmac
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import NamedTuple, final

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB

BLOCK, PART = 16, 5
"""Bytes of a block, and of what stands in it for a play and for a person."""

WHOLE = 1 << 8 * BLOCK

KEPT = 10_000
"""Plays and transactions that are remembered, to be told apart faster."""

PlayTexts = tuple[str, str | None, str | None, bool, int | None]
"""Action, observe and label as they are stored, whether anybody learns, and the joint plan."""


class WaitingRow(NamedTuple):
    """What a stored decision that waits is: the nonce in its name, and marks of what it plays and
    of whose place it took (0: nobody's).
    """

    nonce: int
    play: int
    owner: int


@final
class WaitingRows:
    """The decisions of a campaign that wait, by their numbers, and the sum over them.

    key: 32 bytes, secret.
    """

    def __init__(self, key: bytes) -> None:
        self.rows: dict[int, WaitingRow] = {}
        self.total = 0
        self._blocks = Cipher(AES(part_of(key, b"blocks")), ECB())
        self._marks = part_of(key, b"marks")
        self._plays, self._nonces = dict[PlayTexts, int](), dict[int, int]()
        self._shared_nonce, self._shared = 0, dict[PlayTexts, WaitingRow]()

    def __repr__(self) -> str:
        return f"WaitingRows({len(self.rows)})"

    def row(
        self, nonce: int, texts: PlayTexts, pseudonym: str | None, window: int | None
    ) -> WaitingRow:
        """A decision of these texts. Those of one transaction that play the same share a row."""
        if pseudonym is not None:
            return WaitingRow(nonce, self._play(texts), self.owner(pseudonym, window))
        if nonce != self._shared_nonce:
            self._shared_nonce, self._shared = nonce, {}
        found = self._shared.get(texts)
        if found is None:
            found = self._shared[texts] = WaitingRow(nonce, self._play(texts), 0)
        return found

    def playing(self, row: WaitingRow, texts: PlayTexts) -> WaitingRow:
        """A decision that waits, once it plays this."""
        return row._replace(play=self._play(texts))

    def _play(self, texts: PlayTexts) -> int:
        found = self._plays.get(texts)
        if found is None:
            if len(self._plays) > KEPT:
                self._plays.clear()
            found = self._plays[texts] = self._mark(f"play {texts!r}")
        return found

    def owner(self, pseudonym: str | None, window: int | None) -> int:
        """The mark of whoever's place a decision took."""
        return 0 if pseudonym is None else self._mark(f"owner {pseudonym} {window}")

    def replace(self, rows: Mapping[int, WaitingRow | None]) -> None:
        """Decisions that came, went (None) or are others now."""
        before = [(seq, self.rows[seq]) for seq in rows if seq in self.rows]
        after = [(seq, row) for seq, row in rows.items() if row is not None]
        for seq, _ in before:
            del self.rows[seq]
        self.rows.update(after)
        self.total = (self.total + self._sum(after) - self._sum(before)) % WHOLE

    def said(self) -> str:
        """The sum as text, always of one length."""
        return f"{self.total:0{2 * BLOCK}x}"

    def is_said(self, text: object) -> bool:
        """Whether this is the sum."""
        return isinstance(text, str) and hmac.compare_digest(text.encode(), self.said().encode())

    def _sum(self, rows: Iterable[tuple[int, WaitingRow]]) -> int:
        plain = b"".join(
            ((seq << 80 | row.play << 40 | row.owner) ^ self._of_nonce(row.nonce)).to_bytes(BLOCK)
            for seq, row in rows
        )
        text = self._blocks.encryptor().update(plain)
        places = range(0, len(text), BLOCK)
        return sum(int.from_bytes(text[at : at + BLOCK]) for at in places)

    def _of_nonce(self, nonce: int) -> int:
        """By what the blocks of decisions that one transaction made differ from all others."""
        found = self._nonces.get(nonce)
        if found is None:
            if len(self._nonces) > KEPT:
                self._nonces.clear()
            made = blake2b(b"%d" % nonce, key=self._marks, digest_size=BLOCK).digest()
            found = self._nonces[nonce] = int.from_bytes(made)
        return found

    def _mark(self, said: str) -> int:
        made = blake2b(said.encode(), key=self._marks, digest_size=PART).digest()
        return int.from_bytes(made)


def part_of(key: bytes, use: bytes) -> bytes:
    return blake2b(use, key=key, digest_size=32).digest()
