"""The document of a session with segments: those of its segments, sealed as a whole."""

import json
from collections.abc import Mapping
from typing import Any

from dpbandits.core.values import NAME, damaged, entries, once, part, require_shallow
from dpbandits.session.saving.seal import unsealed

FORMAT = "dpbandits session with segments"


def segment_campaign(base: str, segment: str) -> str:
    """What the decisions of a segment carry.

    Raises:
        ValueError: both names together are too long.
    """
    if len(base) + 1 + len(segment) > NAME:
        raise ValueError(
            f"Expected campaign= and each segment to have at most {NAME - 1} characters together, "
            f"got {len(base)} and {len(segment)}: decisions carry both names."
        )
    return f"{base}/{segment}"


def saved_segments(text: object, key: bytes | None) -> list[list[Any]]:
    """Name and document of each segment."""
    try:
        data = json.loads(text, object_pairs_hook=once)  # type: ignore[arg-type]  # and caught
        require_shallow(data)
    except (TypeError, ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or data.get("format") != FORMAT or data.get("version") != 1:
        raise ValueError(
            f'Expected a document with "format": "{FORMAT}", version 1; a session without segments '
            "is loaded by Session.from_json(text)."
        )
    rows = part(unsealed(data, key), "the document", "segments")["segments"]
    return [entries(row, "a segment", 2) for row in entries(rows, "segments")]


def require_one_campaign(campaigns: Mapping[str, str]) -> None:
    """Refuse what are not the segments of one campaign. campaigns: by segment."""
    first, campaign = next(iter(campaigns.items()))
    base = campaign.removesuffix(f"/{first}")
    # a campaign without a name was once written with the first segment's name in the others'
    if not all(
        each in (f"{base}/{name}", f"{base}/{first}/{name}") for name, each in campaigns.items()
    ):
        raise damaged("its segments are not those that were saved")
