"""Who may do what: bearer keys, of which only hashes are kept."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterable
from typing import NamedTuple, final, get_args

from fastapi import Request
from fastapi.routing import APIRoute

from dpbandits.core.inputs import is_line, normalised, shown
from dpbandits.service.operations import OPERATIONS, Role
from dpbandits.service.refusals import refusal
from dpbandits.service.store import CampaignStore
from dpbandits.service.tables import KeyRow

LONGEST_NAME = 64
"""Characters of a key's name."""

ROLES = get_args(Role)
"""admin may do everything."""


class Principal(NamedTuple):
    """Who calls. campaign: the only one they may touch; None: any."""

    name: str
    roles: frozenset[str]
    campaign: str | None


EVERYBODY = Principal("", frozenset(ROLES), None)
"""Whoever calls a server without keys, which listens on this machine only."""


WITHOUT_ROLE = frozenset({"/", "/docs", "/healthz", "/readyz", "/v1/me"})
"""Paths that need none."""


def role_for(route: APIRoute) -> Role | None:
    """Return the role that a route needs; None: no role."""
    if route.path in WITHOUT_ROLE:
        return None
    if route.methods == {"GET"}:
        return "read"
    return OPERATIONS[route.name].role if route.name in OPERATIONS else "admin"


def hash_of(key: str) -> str:
    return hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()


@final
class Access:
    """The keys of a store. Its witness sees them, too: in a copy that is put back, a store that had
    keys is not open, and a key that was revoked is revoked again.

    Args:
        open: whether the server asks for no key for as long as none was ever made.
    """

    def __init__(self, store: CampaignStore, *, open: bool) -> None:
        self._store, self.open = store, open

    def create(self, name: str, roles: Iterable[str], campaign: str | None = None) -> str:
        """Make a key, and return it: it is shown this once.

        Args:
            name: of whoever has it. No other key of this store has it, or had it before it was
                revoked: what was asked under `key=` is kept by this name, and answered again to its
                owner only.

        Raises:
            ValueError: no role, or one that there is not; no such campaign.
            NameTakenError: some key has the name, or had it.
            WitnessError: it is another store's, or cannot be written.
        """
        name = normalised(name) if isinstance(name, str) else name  # which may make it longer
        if not is_line(name, LONGEST_NAME):
            raise ValueError(
                f"Expected a name of at most {LONGEST_NAME} characters for a key, which can be "
                f"printed; got {shown(name)}. No key was made."
            )
        if campaign is not None and campaign not in self._store:
            raise ValueError(
                f"Expected a campaign of this store, got {shown(campaign)}. No key was made."
            )
        wanted = sorted(set(roles))
        if not wanted or not set(wanted) <= set(ROLES):
            raise ValueError(f"Expected roles among {', '.join(ROLES)}; got {shown(wanted)}.")
        key = "dpb_" + secrets.token_urlsafe(32)
        row = KeyRow(hash_of(key), name, " ".join(wanted), campaign, time.time())
        self._store.require_own_witness()
        self._store.witness.add_key(row.hash)
        self._store.database.add_key(row)
        return key

    def keys(self) -> list[KeyRow]:
        """All keys, oldest first."""
        return self._store.database.access_keys()

    def revoke(self, name: str) -> int:
        """Keys of this name open nothing any more; returns how many there were.

        Raises:
            WitnessError: it is another store's, or cannot be written. None was revoked.
        """
        self._store.require_own_witness()
        named = (name, normalised(name))
        rows = [row for row in self.keys() if row.name in named and row.revoked is None]
        for row in rows:
            at = time.time()
            self._store.witness.add_key(row.hash, at)
            self._store.database.revoke(row, at)
        return len(rows)

    def revoke_again(self) -> None:
        """Keys that the witness saw revoked open nothing, whatever a copy says."""
        seen = self._store.witness.keys()
        for row in self.keys():
            at = seen.get(row.hash)
            if at is not None and row.revoked is None:
                self._store.database.revoke(row, at)

    def principal(self, request: Request) -> Principal:
        """Return who calls. A key that there is not takes as long to refuse as a revoked one.

        Raises:
            NoKeyError: nobody that is known.
        """
        if self.open:
            if not self._store.database.has_keys():
                return EVERYBODY
            self.open = False  # a key is asked for from now on, though it may be revoked
        kind, _, key = request.headers.get("authorization", "").partition(" ")
        row = self._store.database.key(hash_of(key.strip()))
        if kind.lower() != "bearer" or row is None or row.revoked is not None:
            raise refusal("no_key")
        return Principal(row.name, frozenset(row.roles.split()), row.campaign)

    def caller(self, request: Request) -> Principal:
        """Return who calls a route that needs a role. It asks the database, so call it in the
        thread of the work.

        Raises:
            NoKeyError: nobody that is known.
            NotForThisKeyError: without the role, or for another campaign.
        """
        who, role = self.principal(request), role_for(request.scope["route"])
        if role not in who.roles and "admin" not in who.roles:
            raise refusal("role")
        if who.campaign is not None and request.path_params.get("name") != who.campaign:
            raise refusal("other_campaign")
        return who

    def require(self, request: Request) -> None:
        """Refuse a request whose route needs another key than it has.

        Raises:
            NoKeyError, NotForThisKeyError: as in `caller`.
        """
        route = request.scope.get("route")
        if isinstance(route, APIRoute) and role_for(route) is not None:
            self.caller(request)
