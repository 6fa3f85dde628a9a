"""How decisions came about is kept for as long as a session is: in few bytes each, and nothing
where the last one says the same.
"""

from __future__ import annotations

import copy
import json
import sys
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.campaign.watching.answers import Answers, Unanswered
from dpbandits.policies import DPSE, DPTSMAT, LazyDPTS
from dpbandits.session.wheel.choices import answers_in
from dpbandits.session.wheel.chosen import HowChosen, KeptChoices, packed_action, unpacked
from tests.session.small import loaded, resealed

DRAWN = 3_000
"""Decisions, enough for what columns keep in reserve to be small beside them."""

RANK_50 = DPTSMAT(problem=dpb.UniformMatroid(arms=60, rank=50), epsilon=1)


def memory_of(value: Any) -> int:
    """Bytes of a value and all that it holds."""
    inside: list[Any] = [getattr(value, name) for name in getattr(type(value), "__slots__", ())]
    inside += value if isinstance(value, (dict, tuple)) else ()
    inside += value.values() if isinstance(value, dict) else ()
    return sys.getsizeof(value) + sum(map(memory_of, inside))


def played(policy: Any, rounds: int, **options: Any) -> tuple[dpb.Session, list[Any]]:
    s, made = dpb.Session(policy, noise=dpb.SimulatedNoise(1), seed=1, **options), []
    for _ in range(rounds):
        decision = s.ask()
        reward = 0.5 if decision.observe is None else [0.5] * len(decision.observe)
        s.tell(decision, reward)
        made.append((decision.id, decision.action))
    return s, made


@pytest.mark.parametrize(
    ("policy", "options", "in_memory", "in_json"),
    [
        (RANK_50, {}, 45, 45),
        (LazyDPTS(arms=5, epsilon=1), {}, 40, 5),
        (dpb.DPKLUCB(arms=5, epsilon=1), {"min_share": 0.05}, 30, 5),
        (DPSE(arms=2, epsilon=1, beta=0.1), {}, 1, 1),
    ],
    ids=["super arms of rank 50", "drawn", "least share", "cycles"],
)
def test_a_decision_is_kept_in_few_bytes(
    policy: Any, options: Any, in_memory: float, in_json: float
) -> None:
    s, made = played(policy, DRAWN, **options)
    assert memory_of(s._wheel.chosen) < in_memory * DRAWN
    text = s.to_json()
    said = json.loads(text)["public"]["chosen"]
    assert len(json.dumps(said, separators=(",", ":"))) < in_json * DRAWN
    rows = list(s.decisions())
    assert [(row.id, row.action) for row in rows] == made
    assert list(loaded(text).decisions()) == rows


@pytest.mark.parametrize(
    "action",
    [
        0,
        np.int64(3),
        127,
        128,
        -1,
        10**20,
        (0,),
        (-1, 3),
        (3, 9),
        (7, 2, 5),
        (1, 10**6),
        tuple(range(50)),
        (0.25, 0.75),
        (1.0, 0.0),
    ],
)
def test_an_action_is_unpacked_as_it_was(action: Any) -> None:
    found = unpacked(packed_action(action))
    assert found == action
    assert type(found) is (tuple if isinstance(action, tuple) else int)


def test_what_is_said_later_of_a_decision_stands() -> None:
    """And what was said of it, or of later ones, is forgotten, as if it was never said."""
    rng = np.random.default_rng(1)
    chosen, plain = KeptChoices(), dict[int, HowChosen]()
    for _ in range(500):
        since = int(rng.integers(max(plain, default=0) - 3, max(plain, default=0) + 4))
        how = HowChosen((0, int(rng.integers(1, 3))), None, bool(rng.integers(2)))
        chosen.note(max(1, since), how)
        plain = {id: said for id, said in plain.items() if id < max(1, since)}
        plain[max(1, since)] = how
        ids = range(min(plain), max(plain) + 3)
        assert [chosen.at(id) for id in ids] == [
            plain[max(since for since in plain if since <= id)] for id in ids
        ]
        spans = [(id, how) for a, b, how in chosen.runs(ids.stop) for id in range(a, b)]
        assert spans == [(id, chosen.at(id)) for id in ids]


CHANGED: dict[str, Any] = {
    "no arm": {"ways": [[7, 1.0, True]]},
    "no probability": {"ways": [[0, 1.5, True]]},
    "an arm where super arms are played": {"ways": [["0000", 1.0, True]]},
    "no digits": {"ways": [["zz", 1.0, True]]},
    "no bytes": {"ways": [["", 1.0, True]]},
    "no arms": {"ways": [["01", 1.0, True]]},
    "an odd number of bytes": {"ways": [["0201", 1.0, True]]},
    "no ways": {"ways": []},
    "a way that is none": {"runs": [1, 9]},
    "a way before the first": {"runs": [1, -1]},
    "half a run": {"runs": [1]},
    "not from the first decision on": {"runs": [2, 0]},
    "one decision twice": {"runs": [1, 0, 0, 0]},
    "decisions that were never made": {"runs": [1, 0, 99, 0]},
    "nothing": {"runs": []},
}


@pytest.mark.parametrize("changed", CHANGED.values(), ids=CHANGED.keys())
@pytest.mark.parametrize("policy", [LazyDPTS(arms=3, epsilon=1), RANK_50], ids=["arm", "super arm"])
def test_choices_are_read_strictly(policy: Any, changed: dict[str, Any]) -> None:
    s, _ = played(policy, 9)
    data = json.loads(s.to_json())
    damaged = copy.deepcopy(data)
    damaged["public"]["chosen"] |= changed
    assert loaded(resealed(data)).decisions().asked == 9
    with pytest.raises(ValueError, match=r"public\.chosen|action"):
        dpb.Session.from_json(resealed(damaged))


def test_unanswered_decisions_are_counted_while_more_are_noted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As where another thread tells while one looks: a set that grew ended the look."""
    unanswered, chosen, at = Unanswered({1, 2}, set()), KeptChoices(), KeptChoices.at
    chosen.note(1, HowChosen(0, 1.0, True))

    def told_meanwhile(chosen: KeptChoices, id: int) -> HowChosen:
        unanswered.expired.add(100 + id)
        return at(chosen, id)

    monkeypatch.setattr(KeptChoices, "at", told_meanwhile)
    assert answers_in(chosen, unanswered, 9, 1) == Answers((6,), (2,))
