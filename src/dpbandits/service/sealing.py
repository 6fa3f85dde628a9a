"""What is private, as it lies in a database: under AES-GCM where there is a key, which is kept
outside of it.
"""

import hashlib
import hmac
import json
import secrets
from typing import Any, final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from dpbandits.core.errors import StoreError
from dpbandits.session.saving import checked_key

PLAIN, SEALED = b"p", b"s"


def private_place(uid: str) -> str:
    """Where the private part of a campaign belongs."""
    return f"{uid} private"


@final
class StoreSeal:
    """Seals private rows, and makes the keys under which people are known.

    key: at least 16 bytes, kept outside the database; None: private rows lie there as they are.
    """

    def __init__(self, key: bytes | None) -> None:
        self._key = checked_key(key)
        self._box = None if key is None else AESGCM(self._derived("rows"))

    def __repr__(self) -> str:
        return f"StoreSeal({'with' if self._box else 'without'} a key)"

    def _derived(self, what: str) -> bytes:
        return hmac.new(self._key or b"", f"dpbandits {what}".encode(), hashlib.sha256).digest()

    def user_key(self, group: str) -> bytes | None:
        """The key under which the people of a group of campaigns are known."""
        return None if self._key is None else self._derived(f"people {group}")

    def side_key(self, group: str) -> bytes | None:
        """The key under which the people of a group are put on sides (see `HoldoutRule`)."""
        return None if self._key is None else self._derived(f"sides {group}")

    def sealed(self, data: Any, place: str) -> bytes:
        """Data as bytes. place: where they belong; nowhere else can they be opened."""
        text = json.dumps(data, separators=(",", ":")).encode()
        if self._box is None:
            return PLAIN + text
        nonce = secrets.token_bytes(12)
        return SEALED + nonce + self._box.encrypt(nonce, text, place.encode())

    def opened(self, body: bytes, place: str) -> Any:
        """What was sealed.

        Raises:
            StoreError: with another key, or without one, or for another place. Nothing is shown.
        """
        kind, rest = body[:1], body[1:]
        if kind == PLAIN and self._box is None:
            return json.loads(rest)
        if kind == SEALED and self._box is not None:
            try:
                return json.loads(self._box.decrypt(rest[:12], rest[12:], place.encode()))
            except InvalidTag:
                pass
        raise StoreError(
            "The private rows of this store were written "
            + ("without a key" if kind == PLAIN else "with a key, and this is not it")
            + ". Open the store with the key it was made with: open_store(url, key=…), or "
            "DPBANDITS_KEY in the environment."
        )
