"""What is private, as it lies in a database: under AES-GCM where there is a key, which is kept
outside of it.

A sealed row is bound to the public rows beside it: edit one of them, or put an older sealed row
back, and it does not open. Its length depends on public numbers only. Without a key a row carries a
checksum in place of the seal, which finds accidents and no intent.
"""

import fcntl
import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Sequence
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Any, Literal, final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from dpbandits.core.errors import EditedRowsError, StoreError
from dpbandits.local.budget.file import sync_folder
from dpbandits.service.rows.records import CampaignRow, HeadRow
from dpbandits.session.saving import checked_key

PLAIN, SEALED = b"p", b"s"

NUMBER = re.compile(rb"(?<=[\[,:])-?\d[\d.eE+-]*")
"""A number in compact JSON."""

as_json = json.JSONEncoder(separators=(",", ":")).encode

WIDTH = 20
"""Characters that a number takes: enough for every sum of rewards and for noise of 64 bits."""

MARK, NONCE, CHECKSUM, SECRET = 8, 12, 16, 32
"""Bytes of what tells keys apart, of a nonce, of a checksum, and of a secret that is kept."""

OTHER_KEY = (
    "The private rows of this store were written {how}. Open the store with the key it was made "
    "with: open_store(url, key=…), or DPBANDITS_KEY in the environment."
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
    text, width = as_json(data).encode(), WIDTH
    numbers = NUMBER.findall(text)
    longest, together = max(map(len, numbers), default=0), sum(map(len, numbers))
    while width < longest:
        width *= 2
    return text.ljust(len(text) - together + len(numbers) * width)


@final
class StoreSeal:
    """Makes the keys of a store's campaigns, and those under which people and calls are known.

    key: at least 16 bytes, kept outside the database; None: private rows lie there as they are.
    witness: where the witness lies, beside which a store without a key has the secret under which
        calls are known; None: the secret is kept in memory.
    """

    def __init__(self, key: bytes | None, witness: Path | None = None) -> None:
        self._key, self._witness = checked_key(key), witness
        self._calls: bytes | None = None if key is None else self.derived("calls")
        self._campaigns = dict[str, CampaignSeal]()

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

    def call_place(self, group: str, principal: str, key: str) -> str:
        """Under what the reply to a call is kept. Neither can be read from it."""
        if self._calls is None:
            self._calls = (
                secrets.token_bytes(32)
                if self._witness is None
                else kept_secret(self._witness.with_name(f"{self._witness.name}.secret"))
            )
        said = json.dumps([group, principal, key]).encode()
        return hmac.new(self._calls, said, hashlib.sha256).hexdigest()

    def of(self, row: CampaignRow) -> "CampaignSeal":
        """The seal of one campaign."""
        known = self._campaigns.get(row.uid)
        if known is None or known.row != row:
            known = self._campaigns[row.uid] = CampaignSeal(self, row)
        return known

    def require_same_key(self, body: bytes) -> None:
        """Refuse a private row that was sealed with another key.

        Raises:
            StoreError: so it was.
        """
        kind, mark = body[:1], body[1 : 1 + MARK]
        if kind == PLAIN and self._key is not None:
            raise StoreError(OTHER_KEY.format(how="without a key"))
        if kind == SEALED and (self._key is None or mark != self.mark()):
            raise StoreError(OTHER_KEY.format(how="with a key, and this is not it"))
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
        said = [row.uid, row.name, row.group, row.options]
        self._campaign = hashlib.sha256(json.dumps(said).encode()).digest()

    def __repr__(self) -> str:
        return f"CampaignSeal({self.row.name!r})"

    def call_place(self, principal: str, key: str) -> str:
        """Under what the reply to a call is kept (see `StoreSeal.call_place`)."""
        return self.store.call_place(self.row.group, principal, key)

    def waiting_key(self) -> bytes:
        """The key of the sum over decisions that wait (see `turns.waiting_rows`)."""
        return self.store.derived(f"waiting {self.row.uid}")

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

    def held(self, seq: int, nonce: int, told: Literal[0, 1], steps: Any) -> bytes:
        """The row of a decision whose answer is waited for: `told`, and the answer in grid steps;
        all that a campaign has are of one length.
        """
        return self._sealed(of_one_length([told, steps]), self._place(seq, nonce))

    def blanks(self, seqs: Sequence[int], nonce: int, steps: Any) -> list[bytes]:
        """The rows of decisions that nobody has answered yet. steps: zeros, of an answer's form."""
        text = of_one_length([0, steps])
        return [self._sealed(text, self._place(seq, nonce)) for seq in seqs]

    def opened_held(self, body: bytes, seq: int, nonce: int) -> tuple[int, Any]:
        """Whether a decision was answered, and what.

        Raises:
            EditedRowsError: it is not the row of this decision.
        """
        if not body.startswith(self._header):  # the private row has this key's
            raise edited_decisions()
        told, steps = json.loads(self._opened(body, self._place(seq, nonce), edited_decisions()))
        return told, steps

    def _beside(self, head: HeadRow) -> bytes:
        """What a private row belongs to: a hash over all of its campaign's row and of its head. So
        policy, guarantee, mechanism and options are in it, version and chain.
        """
        *numbers, public, closed = head
        said = f"{'|'.join(map(str, numbers))}|{len(public)}|{public}|{closed!r}"
        return b"private" + self._campaign + hashlib.sha256(said.encode()).digest()

    def _place(self, seq: int, nonce: int) -> bytes:
        return f"held {seq} {nonce} {self.row.uid}".encode()

    def _sealed(self, text: bytes, place: bytes) -> bytes:
        if self._box is None:
            return self._header + checksum(text, place) + text
        nonce = secrets.token_bytes(NONCE)
        return self._header + nonce + self._box.encrypt(nonce, text, place)

    def _opened(self, body: bytes, place: bytes, edited: EditedRowsError) -> bytes:
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


def kept_secret(path: Path) -> bytes:
    """32 bytes that are kept in a file which only its owner reads; made if there is none.

    Raises:
        StoreError: the file cannot be made or read, or is none of ours.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileIO(path, "a+", opener=partial(os.open, mode=0o600)) as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # of two processes that begin, one makes it
            if os.fstat(file.fileno()).st_size == 0:
                file.write(secrets.token_bytes(SECRET))
                os.fsync(file.fileno())
                sync_folder(path.parent)
            found = os.pread(file.fileno(), SECRET + 1, 0)
    except OSError as error:
        raise StoreError(
            f"The secret {path} cannot be made or read ({error.strerror}). In a store without a "
            "key the words of key= are kept under it: let this process read and write beside the "
            "witness."
        ) from None
    if len(found) != SECRET:
        raise StoreError(
            f"Expected {path} to be a secret of {SECRET} bytes, which dpbandits made; it is "
            "another file. Nothing was done. Put the right one back, or delete this one: then "
            "calls that are made again under their key= are done once more."
        )
    return found
