"""Small documents that would fill the memory, hang or crash whatever reads them: refused before
anything of that size is made.
"""

from __future__ import annotations

import contextlib
import json
import tracemalloc
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.session.traffic import unanswered_from_data
from dpbandits.core.values import DEEPEST, SAVES
from dpbandits.noise import SimulatedNoise
from dpbandits.oracles import inputs
from dpbandits.session.saving.position import MOST_PENDING
from tests.session.small import loaded, resealed, session

KEY = b"a key of at least sixteen bytes"


def saved() -> dict[str, Any]:
    s = session()
    s.ask()
    return json.loads(s.to_json())  # type: ignore[no-any-return]


def nested(levels: int) -> Any:
    inner: Any = 0
    for _ in range(levels):
        inner = [inner]
    return inner


def test_pending_runs_are_summed_before_a_decision_is_made() -> None:
    """Eight short runs say 80 million decisions, which took 3 GB."""
    data, many = saved(), MOST_PENDING
    data["public"] |= {
        "asked": 2**40,
        "max_pending": many,
        "pending": [[1 + i * many, many, 0, None, True] for i in range(8)],
    }
    text = resealed(data)
    tracemalloc.start()
    try:
        with pytest.raises(
            ValueError, match=r"public.pending has more decisions than public.max_pending"
        ):
            dpb.Session.from_json(text)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_fewer_may_wait_than_the_document_has() -> None:
    s = session(max_pending=3)
    s.ask(3)
    data = json.loads(s.to_json())
    assert len(loaded(resealed(data)).pending) == 3
    data["public"]["max_pending"] = 2
    with pytest.raises(
        ValueError, match=r"public.pending has more decisions than public.max_pending"
    ):
        dpb.Session.from_json(resealed(data))


LONG = [
    "1e101",
    "1e99999",
    "-1e-00099999",
    "1e9_9_9_9",
    "1" * 102,
    "1/" + "7" * 102,
    10**101,
    "7" * 3000,
    1e-300,
]


@pytest.mark.parametrize("number", LONG, ids=lambda number: f"{number!s:.12}")
def test_numerals_of_a_problem_are_short(number: Any) -> None:
    """Vectors of such numbers took 14 s for 4 kB, and far more for a little more text."""
    assert inputs.exact_number("1e99") == 10**99
    with pytest.raises(ValueError, match=r"vectors\[1\]\[0\] to be a number of at most 100 digits"):
        dpb.LinearMatroid([[1, 0], [number, 1]])


def test_a_vector_of_many_denominators_is_refused() -> None:
    with pytest.raises(ValueError, match="common denominator of at most 100 digits"):
        dpb.LinearMatroid([[f"1/{7**100}", f"1/{11**90}"]])


@pytest.mark.parametrize(
    "path",
    [
        ("public", "told_in_plan"),
        ("public", "state"),
        ("private", "memory"),
        ("policy", "arms"),
        ("extra",),
    ],
)
def test_deep_nesting_is_a_value_error(path: tuple[str, ...]) -> None:
    for levels in (DEEPEST, 900):
        data = saved()
        at: Any = data
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = nested(levels)
        with pytest.raises(ValueError, match=f"nested more than {DEEPEST} levels"):
            dpb.Session.from_json(resealed(data))


@pytest.mark.parametrize("key", [None, KEY])
def test_a_name_twice_is_refused(key: bytes | None) -> None:
    """Readers differ in which of the two they take; under a MAC another part could be shown to one
    who does not have the key.
    """
    text = session().to_json(key=key)
    for twice in (
        '{"policy": {"class": "forged"}, ' + text[1:],
        text.replace('"lost": 0', '"lost": 1, "lost": 0'),
    ):
        assert twice != text
        with pytest.raises(ValueError, match="has a name twice"):
            dpb.Session.from_json(twice, key=key)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_are_finite(number: str) -> None:
    data = saved()
    data["public"]["default"] = 0.125
    text = resealed(data)
    assert loaded(text).default == 0.125
    with pytest.raises(ValueError, match="a number that is not finite"):
        dpb.Session.from_json(text.replace("0.125", number))


@pytest.mark.parametrize("seal", ["sha256:é", "sha256:\ud800", "sha256:", "hmac-sha256:é"])
def test_a_seal_of_any_text_is_a_value_error(seal: str) -> None:
    data = saved() | {"seal": seal}
    with pytest.raises(ValueError, match=r"damaged: it was changed after it was saved"):
        dpb.Session.from_json(json.dumps(data), key=KEY if seal.startswith("hmac") else None)


def test_no_save_is_written_that_cannot_be_loaded() -> None:
    data = saved()
    for number in (SAVES + 1, 2**62):
        data["public"]["generation"] = number
        with pytest.raises(ValueError, match=r"public.generation"):
            dpb.Session.from_json(resealed(data))
    data["public"]["generation"] = SAVES - 1
    again = loaded(resealed(data))
    last = loaded(again.to_json())
    assert last.generation == SAVES
    with pytest.raises(ValueError, match="saves of one session"):
        last.to_json()
    assert last.generation == SAVES


@pytest.mark.parametrize(
    "policy",
    [dpb.RNMFTNL(actions=2, epsilon=1), dpb.NaiveFTNL(actions=2, epsilon=1)],
    ids=lambda p: p.name,
)
def test_an_epoch_that_outlasts_every_machine_is_no_bomb(policy: Any) -> None:
    """A kilobyte with its counts raised together made 2 to the power of 2⁶¹."""
    session = dpb.Session(policy, noise=SimulatedNoise(1), seed=1)
    for _ in range(13):
        session.tell(session.ask(), [0.5, 0.5])
    data = json.loads(session.to_json())
    for name in ("asked", "lost"):
        data["public"][name] += 2**61
    data["public"]["state"][1] = 2**61
    with contextlib.suppress(ValueError):  # it may be refused; it must not be counted out
        assert loaded(resealed(data)).plan.rounds <= 2**61


def test_a_matroid_of_many_loops_is_small() -> None:
    problem = dpb.TransversalMatroid([[0, 1]], arms=10**7)
    assert (problem.rank, len(problem._sets_of)) == (1, 2)


SNAPSHOTS = dpb.SecureNoise(pool=False)


def unpooled() -> dict[str, Any]:
    return json.loads(
        dpb.Session(dpb.DPKLUCB(arms=2, epsilon=1), noise=SNAPSHOTS, seed=1).to_json()
    )  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ({"kind": "secure"}, None),
        ({"kind": "secure", "pool": 0}, None),
        ({"kind": "secure", "pool": True}, None),
        ({"kind": "secure", "pool": None}, None),
        (None, {"kind": "secure"}),
        (None, {"kind": "secure", "pool": 0}),
        ({"kind": "secure", "pool": 0}, {"kind": "secure", "pool": 0}),
        ({"kind": "secure", "pool": "no"}, {"kind": "secure", "pool": "no"}),
        ({"kind": "secure"}, {"kind": "secure"}),
    ],
)
def test_noise_that_is_never_drawn_ahead_stays_so(said: Any, kept: Any) -> None:
    """One edited part, or no true or false, used to load as noise that is drawn ahead: what a
    snapshot of the machine repeats.
    """
    data = unpooled()
    data["public"]["noise"], data["private"]["noise"] = (
        said or data["public"]["noise"],
        kept or data["private"]["noise"],
    )
    with pytest.raises(ValueError, match=r"kinds of noise|true or false"):
        dpb.Session.from_json(resealed(data))


def test_given_noise_is_no_weaker() -> None:
    text = resealed(unpooled())
    assert repr(dpb.Session.from_json(text, noise=SNAPSHOTS)._noise) == "SecureNoise(pool=False)"
    with pytest.raises(ValueError, match=r"never drawn ahead.*SecureNoise\(pool=False\)"):
        dpb.Session.from_json(text, noise=dpb.SecureNoise())
    pooled = dpb.Session(dpb.DPKLUCB(arms=2, epsilon=1), noise=dpb.SecureNoise(), seed=1).to_json()
    assert repr(dpb.Session.from_json(pooled, noise=SNAPSHOTS)._noise) == "SecureNoise(pool=False)"
    with pytest.raises(ValueError, match="simulated noise would void"):
        dpb.Session.from_json(pooled, noise=SimulatedNoise(1))


def test_unanswered_decisions_that_no_machine_could_hold_are_not_kept() -> None:
    """A short text says so many, and a session without them goes on."""
    assert unanswered_from_data({"expired": [[1, 2**40]], "void": []}, 2**40) is None
    found = unanswered_from_data({"expired": [[1, 3]], "void": [[5, 1]]}, 5)
    assert found is not None
    assert (found.expired, found.void) == ({1, 2, 3}, {5})
