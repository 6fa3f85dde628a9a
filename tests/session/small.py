"""The small session that most tests here begin with, and saved sessions as data."""

from __future__ import annotations

import json
from typing import Any

import dpbandits as dpb
from dpbandits.noise.sources import noise_from_state
from dpbandits.session.saving.seal import sealed


def session(**kwargs: Any) -> dpb.Session:
    return dpb.Session(
        dpb.DPKLUCB(arms=3, epsilon=1, first=4), noise=dpb.SimulatedNoise(1), seed=2, **kwargs
    )


def content(s: Any) -> dict[str, Any]:
    """What a session (or estimator) is, without what each save changes: the number of the save, and
    the seal over it.
    """
    data: dict[str, Any] = json.loads(s.to_json())
    del data["seal"], data["public"]["generation"]
    return data


def resealed(data: dict[str, Any], key: bytes | None = None) -> str:
    """A changed document as somebody would write it who knows how seals are made."""
    return sealed({name: part for name, part in data.items() if name != "seal"}, key)


def loaded(text: str, **options: Any) -> Any:
    """A session that was saved without a key, with the noise that it says: no other would be taken
    from such a document.
    """
    data: Any = json.loads(text)
    kind: Any = dpb.SegmentedSession if "segments" in data else dpb.Session
    one = json.loads(data["segments"][0][1]) if "segments" in data else data
    return kind.from_json(text, **{"noise": noise_from_state(one["private"]["noise"]), **options})
