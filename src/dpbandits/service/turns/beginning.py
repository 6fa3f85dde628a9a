"""What a campaign begins with: its session, or one for each segment, as first rows."""

import json
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import Any

from dpbandits.core.errors import EditedRowsError
from dpbandits.core.inputs import checked_name, options_of, require_options, shown
from dpbandits.noise.protocol import Noise
from dpbandits.noise.sources import SecureNoise, SimulatedNoise
from dpbandits.policies.contract import Policy
from dpbandits.service.rows.backend import Part
from dpbandits.service.rows.records import CampaignRow, HeadRow, RowChange
from dpbandits.service.sealing import EDITED, StoreSeal
from dpbandits.service.turns.ids import DecisionIds
from dpbandits.service.turns.waiting_rows import WaitingRows
from dpbandits.service.turns.writing import compact, head_public, next_chain
from dpbandits.session.holdout import HoldoutRule
from dpbandits.session.options import checked_segments
from dpbandits.session.saving import policy_to_data
from dpbandits.session.session import Session
from dpbandits.session.storing import small_parts

KEPT = {"campaign", "user_key", "clock"}
"""Options of a session that a store knows by itself."""

OPTIONS = "holdout", "ramp", "control"
"""The options of a campaign that its sessions do not know."""

TAKEN = [
    *(name for name in options_of(Session) if name not in KEPT | {"policy"}),
    "segments",
    *OPTIONS,
]
"""What may be said of a new campaign beside its name and scope."""

MOST_ARMS, MOST_SEGMENTS = 10_000, 1_000
"""Arms of a campaign, in all its segments together, and segments. Each call reads and writes what
is known of every arm, while other campaigns of the process wait.
"""

LONGEST_NAME = 200
"""Characters of a campaign's name and its segment's together, with a stroke between them."""


def require_creatable(name: str, noise: Noise | None, options: Mapping[str, Any]) -> None:
    """Refuse what no campaign can be made of.

    Raises:
        ValueError: of the name, or of the options. Nothing was created.
        TypeError: of the noise.
    """
    if set(checked_name(name)) & set("/\\?#%") or name in (".", ".."):
        raise ValueError(
            f"Expected name={shown(name)} to be without / \\ ? # and %: it stands in "
            "addresses. Nothing was created."
        )
    if KEPT & options.keys():
        raise ValueError(
            "Expected neither campaign=, user_key= nor clock=: a campaign is known by its "
            "name, its people under a key made from the store's, and the clock is the store's."
        )
    require_options("create()", options, TAKEN)
    if noise is not None and type(noise) not in (SecureNoise, SimulatedNoise):
        raise TypeError(
            "Expected noise= to be SecureNoise or SimulatedNoise: a source of your own cannot "
            "be made again from what a database holds. Nothing was created."
        )


def require_few_arms(arms: int, segments: int = 1) -> None:
    """Refuse a campaign whose every call would take long.

    Raises:
        ValueError: it has too many arms.
    """
    if arms * segments > MOST_ARMS:
        raise ValueError(
            f"Expected a campaign to have at most {MOST_ARMS:,} arms, over all its segments; this "
            f"one would have {arms * segments:,}. Each call reads and writes what is known of "
            "every arm. Nothing was created."
        )


def first_sessions(
    name: str, policy: Policy, *, noise: Noise, segments: object = None, **options: Any
) -> dict[str | None, Session]:
    """The session of each segment; where there are none, one under None.

    Raises:
        ValueError: they are no names of segments, or too long. Nothing was created.
    """
    if segments is None:
        return {None: Session(policy, noise=noise, campaign=name, **options)}
    seed, made = options.pop("seed", None), dict[str | None, Session]()
    names = checked_segments(segments)
    if len(names) > MOST_SEGMENTS:
        raise ValueError(
            f"Expected at most {MOST_SEGMENTS:,} segments=; this campaign would have "
            f"{len(names):,}. Nothing was created."
        )
    require_few_arms(policy.arms, len(names))
    for place, segment in enumerate(names):
        own = {} if seed is None else {"seed": seed + place}
        draws = SimulatedNoise(noise.seed + place) if type(noise) is SimulatedNoise else noise
        made[segment] = Session(policy, noise=draws, campaign=name, **own, **options)
        made[segment].campaign = segment_name(name, segment)
    return made


def segment_name(name: str, segment: str) -> str:
    """How the decisions of a segment name their campaign."""
    both = f"{name}/{segment}"
    if len(both) > LONGEST_NAME:
        raise ValueError(
            f"Expected the names of campaign and segment {shown(segment)} to have fewer than "
            f"{LONGEST_NAME} characters together. Nothing was created."
        )
    return both


def options_in(row: CampaignRow) -> dict[str, Any]:
    """How a campaign was made.

    Raises:
        EditedRowsError: its row does not say so.
    """
    found: Any = None
    with suppress(ValueError, TypeError, RecursionError):
        found = json.loads(row.options)
    if not isinstance(found, dict):
        raise EditedRowsError(EDITED)
    return found


def segments_of(row: CampaignRow) -> tuple[str, ...]:
    """The segments of a campaign, or its sides; none, where it has none."""
    return tuple(map(str, options_in(row).get("segments", ())))


def holdout_in(row: CampaignRow) -> HoldoutRule | None:
    """Who is on which side of a campaign; None where it has no sides."""
    found = options_in(row).get("holdout")
    return None if found is None else HoldoutRule.restored(found)


def beginning(
    uid: str,
    name: str,
    sessions: Mapping[str | None, Session],
    seal: StoreSeal,
    options: Mapping[str, Any],
    now: float,
    rule: HoldoutRule | None = None,
) -> tuple[CampaignRow, list[Part]]:
    """The row of a campaign, and what is asked and told of it: itself, or its segments, or the
    sides of `rule`.
    """
    session = next(iter(sessions.values()))
    known = {key: str(value) for key, value in options.items() if key != "seed"}
    said = {"policy": repr(session.policy), **known}
    if None in sessions:
        part = first_rows(CampaignRow(uid, name, uid, "", now), session, seal, said)
        return part[0], [part]
    parts = list[Part]()
    for own in sessions.values():
        row = CampaignRow(secrets.token_hex(16), own.campaign, uid, "", now)
        parts.append(first_rows(row, own, seal, said))
    told: dict[str, Any] = {"shown": said, "segments": list(sessions)}
    if rule is not None:
        told["holdout"] = rule.to_data()
    return CampaignRow(uid, name, uid, compact(told), now), parts


def first_rows(
    row: CampaignRow, session: Session, seal: StoreSeal, said: Mapping[str, str]
) -> Part:
    """What is written of a session as it begins. said: how it was made."""
    public, private = small_parts(session)
    row = row._replace(options=compact({"shown": said}))
    chain = next_chain("", row.uid, row.name)
    head = HeadRow(1, 1, 0, chain, 0, "", 0, 0, head_public(public, None, None))
    own, ids = seal.of(row), DecisionIds.fresh().key.hex()
    none = {"ids": ids, "waiting": WaitingRows(own.waiting_key()).said(), "lines": ""}
    return row, RowChange(head, private=own.private({**private, **none}, head))


def kept_under(parts: Sequence[Part], place: str, said: str) -> list[Part]:
    """The first rows, and beside them what was said by the call that made them. place: under what
    it is kept.
    """
    (row, change), *others = parts
    return [(row, replace(change, responses={place: said})), *others]


def creation_mark(policy: Policy, row: CampaignRow, scope: str | None) -> str:
    """What is kept of a call that creates a campaign, which tells whether another call creates the
    same one. All that it is made of is public.
    """
    how = [row.name, policy_to_data(policy), json.loads(row.options)["shown"], scope]
    made = json.dumps(how, sort_keys=True, default=str)
    return compact([sha256(made.encode()).hexdigest(), None])
