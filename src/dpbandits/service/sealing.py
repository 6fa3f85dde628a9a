"""What is private, as it lies in a database: under AES-GCM where there is a key, which is kept
outside of it.

A sealed row is bound to the public rows beside it: edit one of them, or put an older sealed row
back, and it does not open. Its length depends on public numbers only. Without a key a row carries a
checksum in place of the seal, which finds accidents and no intent.
"""

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property, lru_cache, partial
from hashlib import blake2b
from struct import iter_unpack
from typing import Any, Literal, NamedTuple, final

import msgspec
import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB

from dpbandits.core.errors import EditedRowsError, StoreError
from dpbandits.core.inputs import checked_key
from dpbandits.mechanisms.base import NEW
from dpbandits.service.tables import CampaignRow, HeadRow

PLAIN, SEALED = b"p", b"s"

NUMBER = re.compile(rb"(?<=[\[,:])-?\d[\d.eE+-]*")
"""A number in compact JSON."""

WIDTH = 20
"""Characters that a number takes: enough for every sum of rewards and for noise of 64 bits."""

MARK, NONCE, CHECKSUM = 8, 12, 16
"""Bytes of what tells keys apart, of a nonce, and of a checksum."""

OTHER_KEY = (
    "The private rows of this store were written with a key, and this is not it. Open the store "
    "with the key it was made with: open_store(url, key=…), or DPBANDITS_KEY in the environment."
)
NO_KEY = (
    "The private rows of this store were written without a key, and it cannot be given one later. "
    "Open it without key= and DPBANDITS_KEY; or make a new store, with the key, for new campaigns."
)
EDITED = (
    "The rows of this campaign are not those that dpbandits wrote last: rows of the database were "
    "edited, deleted or put back one by one. Nothing was done, and nothing is released from them. "
    "Put a copy of the whole database back; the witness knows whether something has to be given up."
)
EDITED_DECISIONS = (
    "Decisions of this campaign that wait, or answers that are held, are not those that dpbandits "
    "wrote last: rows of the database were edited, deleted or put back one by one. Nothing was "
    "done. The next call gives up all that is open (a fence), and goes on."
)


def edited_decisions() -> EditedRowsError:
    """A campaign goes on without them, once all that is open is given up."""
    error = EditedRowsError(EDITED_DECISIONS)
    error.fenced = True
    return error


def of_one_length(data: Any) -> bytes:
    """Data as JSON whose length depends on its form alone: on how many numbers there are, not on
    which. A number that is longer than any sum widens all of them.
    """
    text, width = msgspec.json.encode(data), WIDTH
    numbers = NUMBER.findall(text)
    longest, together = max(map(len, numbers), default=0), sum(map(len, numbers))
    while width < longest:
        width *= 2
    return text.ljust(len(text) - together + len(numbers) * width)


@final
class StoreSeal:
    """Makes the keys of a store's campaigns, and those under which people and calls are known.

    Args:
        key: at least 16 bytes, kept outside the database; None: private rows lie there in clear.
        secret: returns the secret under which calls are known in a store without a key; its
            witness keeps it.
    """

    def __init__(
        self, key: bytes | None, secret: Callable[[], bytes] = lambda: secrets.token_bytes(32)
    ) -> None:
        self._key, self._secret = checked_key(key), secret
        self.of = cache(partial(CampaignSeal, self))
        """The seal of one campaign, by its row."""

    def __repr__(self) -> str:
        return f"StoreSeal({'without' if self._key is None else 'with'} a key)"

    @property
    def has_key(self) -> bool:
        return self._key is not None

    def derived(self, what: str) -> bytes:
        """A key for one use."""
        return hmac.new(self._key or b"", f"dpbandits {what}".encode(), hashlib.sha256).digest()

    def user_key(self, group: str) -> bytes | None:
        """The key under which the people of a group of campaigns are known."""
        return None if self._key is None else self.derived(f"people {group}")

    def side_key(self, group: str) -> bytes | None:
        """The key under which the people of a group are put on sides (see `HoldoutRule`)."""
        return None if self._key is None else self.derived(f"sides {group}")

    @cached_property
    def _calls(self) -> bytes:
        return self._secret() if self._key is None else self.derived("calls")

    def call_place(self, group: str, principal: str, key: str) -> str:
        """Under what the reply to a call is kept. Neither can be read from it."""
        text = json.dumps([group, principal, key]).encode()
        return hmac.new(self._calls, text, hashlib.sha256).hexdigest()

    def call_mark(self, text: str) -> str:
        """Tells whether two calls say the same, and nothing of what they say."""
        return hmac.new(self._calls, b"mark" + text.encode(), hashlib.sha256).hexdigest()

    def require_same_key(self, body: bytes) -> None:
        """Refuse a private row that was sealed with another key.

        Raises:
            StoreError: so it was.
        """
        kind, mark = body[:1], body[1 : 1 + MARK]
        if kind == PLAIN and self._key is not None:
            raise StoreError(NO_KEY)
        if kind == SEALED and (self._key is None or mark != self.mark()):
            raise StoreError(OTHER_KEY)
        if kind not in (PLAIN, SEALED):
            raise EditedRowsError(EDITED)

    def mark(self) -> bytes:
        """Tells this key from others."""
        return self.derived("mark")[:MARK]


@final
class CampaignSeal:
    """Seals the private rows of one campaign, under a key of its own."""

    def __init__(self, store: StoreSeal, row: CampaignRow) -> None:
        self.store, self.row = store, row
        self._box = AESGCM(store.derived(f"rows {row.uid}")) if store.has_key else None
        self._header = SEALED + store.mark() if store.has_key else PLAIN
        identity = [row.uid, row.name, row.group, row.options]
        self._campaign = hashlib.sha256(json.dumps(identity).encode()).digest()

    def __repr__(self) -> str:
        return f"CampaignSeal({self.row.name!r})"

    def pending_key(self) -> bytes:
        """The key of the sum over pending decisions (see `PendingRows`)."""
        return self.store.derived(f"waiting {self.row.uid}")

    def contexts_key(self) -> bytes:
        """The key of the sum over contexts (see `ContextRows`)."""
        return self.store.derived(f"contexts {self.row.uid}")

    def private(self, data: Any, head: HeadRow) -> bytes:
        """The private row that belongs to this head and to no other."""
        return self._sealed(of_one_length(data), self._beside(head))

    def opened_private(self, body: bytes, head: HeadRow) -> Any:
        """What was sealed beside this head.

        Raises:
            StoreError: with another key, or without one.
            EditedRowsError: it belongs to other public rows. Nothing is shown.
        """
        self.store.require_same_key(body)
        return json.loads(self._opened(body, self._beside(head), EditedRowsError(EDITED)))

    def held(
        self, seqs: Iterable[int], nonce: int, told: Literal[0, 1], steps: Any
    ) -> dict[int, bytes]:
        """The rows of decisions whose answers are waited for: `told`, and the answer in grid steps,
        zeros where nobody has answered yet; all that a campaign has are of one length.
        """
        text = of_one_length([told, steps])
        return {seq: self._sealed(text, self._place(seq, nonce)) for seq in seqs}

    def opened_answer(self, body: bytes, seq: int, nonce: int) -> tuple[int, Any]:
        """Whether a decision was answered, and what.

        Raises:
            EditedRowsError: it is not the row of this decision.
        """
        told, steps = json.loads(self._opened(body, self._place(seq, nonce), edited_decisions()))
        return told, steps

    def kept_arm(self, pseudonym: str, mark: int | None) -> bytes:
        """Which arm a person keeps, as it stands beside their places; of one length for everybody.

        Args:
            mark: of the arm (see `Roster.mark`); None: none.
        """
        text = of_one_length([-1 if mark is None else mark])
        return self._sealed(text, f"kept {pseudonym} {self.row.group}".encode())

    def opened_kept_arm(self, body: bytes, pseudonym: str) -> int | None:
        """The mark of the arm that a person keeps; None: none.

        Raises:
            EditedRowsError: it is not this person's.
        """
        place = f"kept {pseudonym} {self.row.group}".encode()
        (mark,) = json.loads(self._opened(body, place, EditedRowsError(EDITED)))
        return None if mark < 0 else int(mark)

    def _beside(self, head: HeadRow) -> bytes:
        """What a private row belongs to: a hash over all of its campaign's row and of its head. So
        policy, guarantee, mechanism and options are in it, version and chain.
        """
        *numbers, notes, public, closed = head
        rest = f"{len(notes)}|{notes}|{len(public)}|{public}|{closed!r}"
        text = f"{'|'.join(map(str, numbers))}|{rest}"
        return b"private" + self._campaign + hashlib.sha256(text.encode()).digest()

    def _place(self, seq: int, nonce: int) -> bytes:
        return f"held {seq} {nonce} {self.row.uid}".encode()

    def _sealed(self, text: bytes, place: bytes) -> bytes:
        if self._box is None:
            return self._header + checksum(text, place) + text
        nonce = secrets.token_bytes(NONCE)
        return self._header + nonce + self._box.encrypt(nonce, text, place)

    def _opened(self, body: bytes, place: bytes, edited: EditedRowsError) -> bytes:
        if not body.startswith(self._header):  # another key's
            raise edited
        rest = body[len(self._header) :]
        if self._box is None:
            text = rest[CHECKSUM:]
            if rest[:CHECKSUM] == checksum(text, place):
                return text
        else:
            try:
                return self._box.decrypt(rest[:NONCE], rest[NONCE:], place)
            except (InvalidTag, ValueError):
                pass
        raise edited


def checksum(text: bytes, place: bytes) -> bytes:
    return hashlib.sha256(place + b"|" + text).digest()[:CHECKSUM]


# Names of decisions

NO_NAME = bytes(16)
"""Stands for what is no name where many are opened at once."""


OPENED = np.dtype([("nonce", ">i8"), ("generation", ">u2"), ("high", ">u2"), ("low", ">u4")])
"""Many opened names at once; a decision's number is `high` and `low` together."""


class OpenedName(NamedTuple):
    """Which decision a name names, if the row of this number has this nonce."""

    nonce: int
    generation: int
    seq: int


@final
class DecisionNames:
    """The names of one campaign's decisions: 32 hexadecimal digits that nobody can guess or read.

    A name is one block of AES over a nonce, which every transaction draws for the decisions it
    makes, the generation, and the number of the decision. So no index of names is kept. The
    decision's row has the nonce too: a database that was put back gives a number again, but never
    a name.

    Args:
        key: 16 bytes, secret.
    """

    def __init__(self, key: bytes) -> None:
        cipher = Cipher(AES(key), ECB())  # one block each, none twice
        self._named, self._opened = cipher.encryptor().update, cipher.decryptor().update
        self.key = key

    def __repr__(self) -> str:
        return "DecisionNames(not shown)"

    @classmethod
    def fresh(cls) -> "DecisionNames":
        return cls(secrets.token_bytes(16))

    def names(self, nonce: int, generation: int, seqs: Iterable[int]) -> list[str]:
        """The names of these decisions, which one transaction made."""
        head = nonce.to_bytes(8, signed=True) + generation.to_bytes(2)
        plain = b"".join(head + seq.to_bytes(6) for seq in seqs)
        text = self._named(plain).hex()
        return [text[at : at + 32] for at in range(0, len(text), 32)]

    def opened(self, names: Iterable[object]) -> list[OpenedName | None]:
        """Which decisions are named; None for what is no name at all. A name that was made up opens
        too, and its nonce is that of no row, but for one in 2^64.
        """
        blocks = [name_bytes(name) for name in names]
        plain = self._opened(b"".join([block or NO_NAME for block in blocks]))
        return [
            None if block is None else NEW(OpenedName, (nonce, generation, high << 32 | low))
            for block, (nonce, generation, high, low) in zip(
                blocks, iter_unpack(">qHHI", plain), strict=True
            )
        ]

    def plausible(self, blocks: bytes, generation: int, asked: int) -> list[int]:
        """Which of these names may be of this campaign: those of a decision that may have been made
        in this generation or before. Of made-up names hardly one is.

        Args:
            blocks: names as bytes, 16 each.
        """
        plain = np.frombuffer(self._opened(blocks), OPENED)
        seqs = plain["high"].astype(np.int64) << 32 | plain["low"]
        fits = (plain["generation"] <= generation) & (seqs <= asked)
        return [int(at) for at in np.flatnonzero(fits)]


def fresh_nonce() -> int:
    """A nonce that no transaction had before, on any timeline; it fits a database's integer."""
    return int.from_bytes(secrets.token_bytes(8), signed=True)


def name_bytes(name: Any) -> bytes | None:
    """The 16 bytes of a name as it is written; None if it is none."""
    try:
        block = bytes.fromhex(name)
    except (TypeError, ValueError):
        return None
    return block if len(block) == 16 and block.hex() == name else None


# Pending decisions

BLOCK, PART = 16, 5
"""Bytes of a block, and of what stands in it for a play and for a person."""

WHOLE = 1 << 8 * BLOCK

WORDS = 96, 64, 32, 0
"""Where the four words of a block stand in its number."""

KEPT = 10_000
"""Plays and transactions that are remembered, to be marked faster."""

PlayTexts = tuple[Any, ...]
"""Action, observe and label as they are stored, whether anybody learns, and the joint plan; then
the context, if there is one.
"""


class PendingRow(NamedTuple):
    """What a stored pending decision is: the nonce in its name, and marks of what it plays, of
    whose place it took (0: nobody's), and of all three.
    """

    nonce: int
    play: int
    owner: int
    mark: int


@final
class PendingRows:
    """The pending decisions of a campaign as they were written, and a sum over them.

    The sum lies in the sealed row. So whoever edits, deletes or puts back the row of a pending
    decision, or makes one pending again that was resolved, is found out as the rows are read. It is
    a sum of blocks of AES under a secret key, one for each decision, so it changes with the
    decisions that come and go, and nobody else can make two sets of rows with the same one.

    Args:
        key: 32 bytes, secret.
    """

    def __init__(self, key: bytes) -> None:
        self.rows: dict[int, PendingRow] = {}
        self.total = 0
        self._encrypted = Cipher(AES(part_of(key, b"blocks")), ECB()).encryptor().update
        self._marks = part_of(key, b"marks")
        # decisions of one transaction that play the same share a row
        self._shared = lru_cache(KEPT // 10)(self._row)
        self._play = lru_cache(KEPT)(lambda texts: self._mark(f"play {texts!r}"))
        # a number that marks the decisions of one transaction
        self._of_nonce = lru_cache(KEPT)(
            lambda nonce: keyed_number(b"%d" % nonce, self._marks, BLOCK)
        )

    def __repr__(self) -> str:
        return f"PendingRows({len(self.rows)})"

    def row(
        self, nonce: int, texts: PlayTexts, pseudonym: str | None, window: int | None
    ) -> PendingRow:
        """A decision of these texts."""
        if pseudonym is None:
            return self._shared(nonce, self._play(texts), 0)
        return self._row(nonce, self._play(texts), self.owner(pseudonym, window))

    def playing(self, row: PendingRow, texts: PlayTexts) -> PendingRow:
        """A pending decision, once it plays this."""
        return self._row(row.nonce, self._play(texts), row.owner)

    def _row(self, nonce: int, play: int, owner: int) -> PendingRow:
        return PendingRow(nonce, play, owner, (play << 40 | owner) ^ self._of_nonce(nonce))

    def owner(self, pseudonym: str | None, window: int | None) -> int:
        """The mark of whoever's place a decision took."""
        return 0 if pseudonym is None else self._mark(f"owner {pseudonym} {window}")

    def replace(self, rows: Mapping[int, PendingRow | None]) -> None:
        """Decisions that came, went (None) or are others now."""
        before = {seq: self.rows.pop(seq) for seq in rows if seq in self.rows}
        after = {seq: row for seq, row in rows.items() if row is not None}
        self.rows.update(after)
        self.total = (self.total + self._sum(after) - self._sum(before)) % WHOLE

    def digest(self) -> str:
        """The sum as text, always of one length."""
        return f"{self.total:0{2 * BLOCK}x}"

    def matches(self, text: object) -> bool:
        """Whether this is the sum."""
        return isinstance(text, str) and hmac.compare_digest(text.encode(), self.digest().encode())

    def _sum(self, rows: Mapping[int, PendingRow]) -> int:
        plain = b"".join([(seq << 80 ^ row.mark).to_bytes(BLOCK) for seq, row in rows.items()])
        words = np.frombuffer(self._encrypted(plain), ">u4").reshape(-1, 4)
        return sum(
            each << at for each, at in zip(words.sum(0, np.uint64).tolist(), WORDS, strict=True)
        )

    def _mark(self, text: str) -> int:
        return keyed_number(text.encode(), self._marks, PART)


def keyed_number(data: bytes, key: bytes, size: int) -> int:
    """The hash of data under a key, as a number of so many bytes."""
    return int.from_bytes(blake2b(data, key=key, digest_size=size).digest())


def part_of(key: bytes, use: bytes) -> bytes:
    return blake2b(use, key=key, digest_size=32).digest()
