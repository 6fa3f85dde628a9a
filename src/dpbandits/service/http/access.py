"""Who may do what: bearer keys, of which only hashes are kept."""

import hashlib
import secrets
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple, final

from fastapi import HTTPException, Request

from dpbandits.core.inputs import is_line, normalised, shown
from dpbandits.service.rows.backend import Backend
from dpbandits.service.rows.records import KeyRow
from dpbandits.service.turns.beginning import LONGEST_NAME as LONGEST_CAMPAIGN

LONGEST_NAME = 64
"""Characters of a key's name."""

ROLES = ("ask", "tell", "read", "admin")
"""admin may do everything."""

COOKIE = "dpbandits_key"
"""Holds the key of whoever logged in."""


class Principal(NamedTuple):
    """Who calls. campaign: the only one they may touch; None: any."""

    name: str
    roles: frozenset[str]
    campaign: str | None


EVERYBODY = Principal("", frozenset(ROLES), None)
"""Whoever calls a server without keys, which listens on this machine only."""


def hash_of(key: str) -> str:
    return hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()


@final
class Access:
    """The keys of a store.

    open: whether the server asks for no key for as long as none was ever made.
    """

    def __init__(self, backend: Backend, *, open: bool) -> None:
        self._backend, self.open = backend, open

    def create(self, name: str, roles: Iterable[str], campaign: str | None = None) -> str:
        """A new key, which is shown this once.

        name: of whoever has it. No other key of this store has it, or had it before it was revoked:
            what was asked under `key=` is kept by this name, and answered again to its owner only.

        Raises:
            ValueError: no role, or one that there is not.
            NameTakenError: some key has the name, or had it.
        """
        name = normalised(name) if isinstance(name, str) else name  # which may make it longer
        if not is_line(name, LONGEST_NAME):
            raise ValueError(
                f"Expected a name of at most {LONGEST_NAME} characters for a key, which can be "
                f"printed; got {shown(name)}. No key was made."
            )
        if campaign is not None and not is_line(campaign, LONGEST_CAMPAIGN):
            raise ValueError(f"Expected a campaign's name, got {shown(campaign)}. No key was made.")
        wanted = sorted(set(roles))
        if not wanted or not set(wanted) <= set(ROLES):
            raise ValueError(f"Expected roles among {', '.join(ROLES)}; got {shown(wanted)}.")
        key = "dpb_" + secrets.token_urlsafe(32)
        row = KeyRow(hash_of(key), name, " ".join(wanted), campaign, time.time())
        self._backend.add_key(row)
        return key

    def keys(self) -> list[KeyRow]:
        """All keys, by their hashes."""
        return self._backend.access_keys()

    def revoke(self, name: str) -> int:
        """Keys of this name open nothing any more; how many there were."""
        named = (name, normalised(name))
        rows = [row for row in self.keys() if row.name in named and row.revoked is None]
        for row in rows:
            self._backend.put_key(row._replace(revoked=time.time()))
        return len(rows)

    def principal(self, request: Request, *, page: bool = False) -> Principal:
        """Who calls. A key that there is not takes as long to refuse as one that was revoked.

        page: one of our own pages sends this, which was seen to: its cookie counts whatever it
            asks for. Otherwise a cookie is enough to look, and for nothing else: a browser sends it
            by itself.

        Raises:
            HTTPException: 401, nobody that is known.
        """
        if self.open and not self._backend.access_keys():
            return EVERYBODY
        said = request.headers.get("authorization")
        if said is None and (page or request.method == "GET"):
            said = f"Bearer {request.cookies.get(COOKIE, '')}"
        kind, _, key = (said or "").partition(" ")
        row = self._backend.key(hash_of(key.strip()))
        if kind.lower() != "bearer" or row is None or row.revoked is not None:
            raise HTTPException(401, "Expected a key: Authorization: Bearer dpb_….")
        return Principal(row.name, frozenset(row.roles.split()), row.campaign)

    def opens(self, key: str) -> bool:
        """Whether this is a key."""
        row = self._backend.key(hash_of(key))
        return row is not None and row.revoked is None

    def needs(self, role: str, *, page: bool = False) -> Callable[[Request], Principal]:
        """What a route depends on: somebody with this role, for this campaign. page: see
        `principal`.

        Raises:
            HTTPException: 401 or 403.
        """

        def allowed(request: Request) -> Principal:
            who = self.principal(request, page=page)
            name = request.path_params.get("name")
            if role not in who.roles and "admin" not in who.roles:
                raise HTTPException(403, f"This key is not for this: it needs the role {role}.")
            if who.campaign is not None and name != who.campaign:
                raise HTTPException(403, "This key is for another campaign.")
            return who

        return allowed
