"""Campaigns in one place, by their names; and a store that is only looked at."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Generic, Self, TypeVar, final

from dpbandits.core.errors import EditedRowsError, UnknownCampaignError
from dpbandits.core.inputs import is_line, shown
from dpbandits.policies.contract import Policy
from dpbandits.service.looks.campaign import ShownCampaign
from dpbandits.service.looks.looking import Looking
from dpbandits.service.looks.reports import Summary
from dpbandits.service.looks.segments import ShownHoldout, ShownSegments
from dpbandits.service.rows.backend import Backend
from dpbandits.service.rows.records import CampaignRow, ScopeRow
from dpbandits.service.scope import Scope, scope_of
from dpbandits.service.sealing import EDITED, StoreSeal
from dpbandits.service.turns.beginning import (
    LONGEST_NAME,
    holdout_in,
    segment_name,
    segments_of,
)
from dpbandits.service.turns.working import CampaignSetting
from dpbandits.service.witness import WitnessFile
from dpbandits.session.people import Clock

Opened = TypeVar("Opened")


class Campaigns(ABC, Generic[Opened]):
    """Campaigns of a database, each opened once."""

    def __init__(self, backend: Backend, witness: WitnessFile, clock: Clock) -> None:
        self._backend, self._witness, self._clock = backend, witness, clock
        self._open = dict[str, Opened]()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} campaigns)"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def backend(self) -> Backend:
        """Where its rows are kept."""
        return self._backend

    def close(self) -> None:
        """Let go of the database."""
        self._backend.close()

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[str]:
        return iter([row.name for row in self._backend.campaigns() if row.group == row.uid])

    def __contains__(self, name: object) -> bool:
        row = self._found(name)
        return row is not None and row.group == row.uid

    def __getitem__(self, name: str) -> Opened:
        """A campaign of this store.

        Raises:
            UnknownCampaignError: there is none of this name.
        """
        if name not in self._open:
            self._open[name] = self._campaign(self._row(name), None)
        return self._open[name]

    def open(self, name: str, *, policy: Policy | type[Policy]) -> Opened:
        """A campaign whose policy is one of your own: a database names no code."""
        self._open[name] = self._campaign(self._row(name), policy)
        return self._open[name]

    def summaries(self) -> tuple[list[Summary], list[str]]:
        """Where every campaign stands; and the names of those that cannot be opened here: their
        policy is somebody's own, and a database names no code (see `open`).
        """
        found, others = list[Summary](), list[str]()
        for name in self:
            campaign: Any = self[name]
            try:
                found.append(campaign.summary())
            except ValueError:
                others.append(name)
        return found, others

    @abstractmethod
    def _campaign(self, row: CampaignRow, policy: Policy | type[Policy] | None) -> Opened:
        """A campaign, opened. policy: of the caller's own."""

    def _row(self, name: str) -> CampaignRow:
        """
        Raises:
            UnknownCampaignError: there is no campaign of this name.
        """
        row = self._found(name)
        if row is None or row.group != row.uid:
            raise UnknownCampaignError(
                f"There is no campaign {shown(name)} in this store. list(store), or `dpbandits "
                "campaign list`, names all there are."
            )
        return row

    def _found(self, name: object) -> CampaignRow | None:
        """The row of this name. A database is not asked for what it could not keep."""
        return self._backend.campaign(name) if is_line(name, LONGEST_NAME) else None

    def _part_rows(self, row: CampaignRow) -> dict[str, CampaignRow]:
        """The rows of a campaign's segments, or of its sides; none, where it has none."""
        names = segments_of(row)
        if not names:
            return {}
        rows = {each.name: each for each in self._backend.campaigns() if each.group == row.uid}
        parts = {name: rows.get(segment_name(row.name, name)) for name in names}
        if None in parts.values():
            raise EditedRowsError(EDITED)
        return {name: part for name, part in parts.items() if part is not None}

    def _seen(self, row: ScopeRow) -> ScopeRow:
        """A scope as it stands. What a witness saw spent is spent, and what it saw fixed is fixed,
        whatever a copy says.
        """
        seen = self._witness.scope(row.name)
        if seen is None:
            return row
        kind = row.kind if seen.kind.unit is None else seen.kind
        spent = max(Fraction(seen.spent), Fraction(row.spent))
        return row._replace(spent=str(spent), **kind._asdict())


@final
class ShownStore(Campaigns[Any]):
    """A store that is only looked at: `dpbandits.open_store(url, looking=True)`.

    It never reads a private row, and writes nothing: the database may refuse it both. Its campaigns
    have the looks of a `Campaign`, and none of its verbs.
    """

    def _campaign(self, row: CampaignRow, policy: Policy | type[Policy] | None) -> Any:
        parts, rule = self._part_rows(row), holdout_in(row)
        if not parts:
            return self._shown(row, policy)
        opened = {
            name: self._shown(own, policy if rule is None or place == 0 else None)
            for place, (name, own) in enumerate(parts.items())
        }
        return ShownSegments(row, opened) if rule is None else ShownHoldout(row, opened, rule)

    def _shown(self, row: CampaignRow, policy: Policy | type[Policy] | None) -> ShownCampaign:
        setting = CampaignSetting(StoreSeal(None), self._clock, None, policy, looking=True)
        return ShownCampaign(Looking(row, self._backend, self._witness, setting))

    def scope(self, name: str) -> Scope:
        """A budget over campaigns, and how much of it is taken.

        Raises:
            ValueError: there is none of this name.
        """
        known = self._backend.scope(name) if is_line(name, LONGEST_NAME) else None
        if known is None:
            raise ValueError(f"There is no scope {shown(name)} in this store.")
        return scope_of(self._seen(known))
