"""A document's seal: a code over all of it, by a key that lies elsewhere."""

import hashlib
import hmac
import json
from typing import Any

from dpbandits.core.values import (
    damaged,
)

SHORTEST = 16
"""Bytes of a key."""


def sealed(document: dict[str, Any], key: bytes | None) -> str:
    """The document's text with its seal."""
    plain = json.loads(json.dumps(document))  # tuples as lists, as it will be read
    return json.dumps(document | {"seal": seal(plain, key)})


def unsealed(document: dict[str, Any], key: bytes | None) -> dict[str, Any]:
    """A document as it was sealed.

    Raises:
        ValueError: it was changed since, or the key is another one.
    """
    checked_key(key)
    said = document.pop("seal", None)
    kind = said.partition(":")[0] if isinstance(said, str) else None
    if kind not in ("sha256", "hmac-sha256"):
        raise damaged("it has no seal")
    if (kind == "hmac-sha256") is (key is None):
        raise ValueError(
            "This session was saved with a key: give the same one, from_json(text, key=…)."
            if key is None
            else (
                "This session was saved without a key, so anybody may have changed it. Load it "
                "without key= if you trust the file."
            )
        )
    # text may hold anything
    if not hmac.compare_digest(
        said.encode(errors="backslashreplace"), seal(document, key).encode()
    ):
        changed = (
            "it was changed after it was saved"
            if key is None
            else "it was changed after it was saved, or saved with another key"
        )
        raise damaged(changed)
    return document


def seal(document: dict[str, Any], key: bytes | None) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
    if key is None:
        return f"sha256:{hashlib.sha256(text).hexdigest()}"
    return f"hmac-sha256:{hmac.new(checked_key(key) or b'', text, 'sha256').hexdigest()}"


def checked_key(key: object) -> bytes | None:
    """A key, which no error shows."""
    if key is not None and (not isinstance(key, bytes) or len(key) < SHORTEST):
        got = (
            "text: decode it first, for example bytes.fromhex(text)"
            if isinstance(key, str)
            else "something else"
        )
        raise ValueError(
            f"Expected key= to be at least {SHORTEST} bytes, for example "
            f"secrets.token_bytes(32); got {got}."
        )
    return key
