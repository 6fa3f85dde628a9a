"""A document's seal: a code over all of it, by a key that lies elsewhere. With a key the private
part is encrypted, too, so that nobody can strip the seal and load the rest.
"""

import hashlib
import hmac
import json
import secrets
from typing import Any

from dpbandits.core.values import damaged, finite, once, part, require_shallow

SHORTEST = 16
"""Bytes of a key."""

WIDTH = 24
"""Characters of each number in an encrypted part: a float has no more, and no sum of rewards."""

WITH_KEY = "This session was saved with a key: give the same one, from_json(text, key=…)."


def sealed(document: dict[str, Any], key: bytes | None, room: int = 0) -> str:
    """The document's text with its seal.

    room: characters that the rewards held in its private part may take, however few there are.
    """
    plain = json.loads(json.dumps(document))  # tuples as lists, as it will be read
    key = checked_key(key)
    if key is not None and isinstance(plain.get("private"), dict):
        plain["private"] = encrypted(plain["private"], key, room)
    return json.dumps(plain | {"seal": seal(plain, key)})


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
            WITH_KEY
            if key is None
            else (
                "This session was saved without a key, so anybody may have changed it. If you "
                "trust the file, load it without key=, and say noise=."
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
    if key is not None and "private" in document:
        document["private"] = decrypted(document["private"], key)
    elif isinstance(document.get("private"), str):
        raise ValueError(WITH_KEY)  # somebody put a checksum in the place of its seal
    return document


def encrypted(private: dict[str, Any], key: bytes, room: int) -> str:
    """A private part as text that tells nothing but its length, which does not depend on rewards:
    numbers take the same width, and so do rewards that are held and those that are not.
    """
    nonce, held = secrets.token_bytes(12), len(spread(private["held"]))
    text = spread(private) + " " * (room - held)
    body: bytes = cipher_of(key).encrypt(nonce, text.encode(), None)
    return (nonce + body).hex()


def decrypted(body: object, key: bytes) -> dict[str, Any]:
    """What `encrypted` made of it. The seal over all of it was checked."""
    try:
        data = bytes.fromhex(body)  # type: ignore[arg-type]  # and caught
        text = cipher_of(key).decrypt(data[:12], data[12:], None)
        found = json.loads(text, object_pairs_hook=once, parse_float=finite, parse_constant=finite)
    except Exception:  # of whatever kind: it would have the text
        found = None
    require_shallow(found)
    return part(found, "private")


def cipher_of(key: bytes) -> Any:
    """AES-GCM under a key of its own, made from this one."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(hmac.digest(key, b"dpbandits private part", "sha256"))


def spread(value: object) -> str:
    """JSON in which numbers, and what is not there, take at least `WIDTH` characters each."""
    if isinstance(value, dict):
        rows = [f"{json.dumps(name)}:{spread(each)}" for name, each in value.items()]
        return "{" + ",".join(rows) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(spread, value)) + "]"
    return json.dumps(value) if isinstance(value, str) else json.dumps(value).rjust(WIDTH)


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
