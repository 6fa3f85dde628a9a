"""Several tells at a time: all pairs are checked before the first is told."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from types import GeneratorType
from typing import Any

from dpbandits.mechanisms.rewards import tried
from dpbandits.session.decisions import Decision, Play, decision_first, find_each
from dpbandits.session.wheel.turn import Wheel, settle
from dpbandits.vault import Vault

Answered = tuple[Any, object]
"""A decision (or its id) and its reward."""

RUNS_HERE = (GeneratorType, map, filter, str)
"""What is read as it is: generators, `map` and `filter` run the caller's own code, whose errors are
theirs to see.
"""

ReadPair = tuple[int, Play, Any]
"""Its id, what it plays, and its reward as plain numbers."""


def listed_tells(tells: object) -> list[Any]:
    """What came as pairs, one by one; the error shows none of them."""
    if not tried(is_iterable, tells):
        raise TypeError(
            f"Expected (decision, reward) pairs, got an object of type {type(tells).__name__}. "
            "Nothing was recorded."
        )
    given: Any = tells
    pairs = list(given) if type(tells) in RUNS_HERE else tried(list, given)
    if pairs is None:
        cure = " Are all that it zips of one length?" if type(tells) is zip else ""
        raise TypeError(
            f"Expected (decision, reward) pairs, got an object of type {type(tells).__name__} that "
            f"cannot be read. Nothing was recorded.{cure}"
        )
    return pairs


def checked_pairs(tells: object) -> list[Answered]:
    """(decision, reward) pairs; the error shows none of them."""
    pairs = listed_tells(tells)
    if pairs and all(type(pair) is Decision for pair in pairs):
        raise TypeError(
            "Expected (decision, reward) pairs, got decisions alone: tell_many(zip(decisions, "
            "rewards)). Nothing was recorded."
        )
    plain = [tried(two_of, pair) for pair in pairs]  # what comes with a reward may bring code along
    for place, pair in enumerate(pairs):
        if plain[place] is None:
            raise TypeError(
                f"Expected (decision, reward) pairs; entry {place} (counted from 0) of "
                f"{len(pairs)} is an object of type "
                f"{type(pair).__name__} that is none. Nothing was recorded."
            )
    return [pair for pair in plain if pair is not None]


def is_iterable(value: object) -> bool:
    return isinstance(value, Iterable)


def two_of(pair: Any) -> Answered | None:
    """A decision and its reward, as a plain pair; None if this is none."""
    if isinstance(pair, Decision) or not isinstance(pair, (tuple, list)):
        return None
    decision, reward = pair  # an error here says that it is none, too
    return decision, reward


def read_pairs(pairs: list[Answered], wheel: Wheel, campaign: str) -> list[ReadPair]:
    """Each pair read once, so that what is told is what was checked; all are refused for one wrong
    one, and the error says which.
    """
    read, refused = list[ReadPair](), None
    try:
        for id, play in find_each(
            (decision for decision, _ in pairs), wheel.pending, wheel.asked, campaign
        ):
            reward = wheel.vault.check(play.observe or play.action, pairs[len(read)][1])
            read.append((id, play, reward))
    except Exception as error:
        refused = pair_refused(error, pairs, len(read))
    if refused is not None:  # outside the handler, for the first error would say more
        raise refused
    return read


def pair_refused(error: Exception, pairs: Sequence[Answered], at: int) -> Exception:
    """The same error, which says about which pair it is."""
    if type(pairs[at][1]) is Decision:
        error = decision_first()
    return type(error)(f"Pair {at} (counted from 0) of {len(pairs)}: {error}")


def tell_pairs(pairs: list[ReadPair], wheel: Wheel) -> None:
    """Tell pairs that were read; an error passes with a note that says how many are resolved."""
    before = len(wheel.pending)
    try:
        for id, play, reward in pairs:
            settle(wheel)
            wheel.tell(id, play, reward)
    except BaseException as error:
        note_resolved(error, before - len(wheel.pending), len(pairs))
        raise


def note_resolved(error: BaseException, done: int, of: int) -> None:
    """Say with an error how many pairs are resolved."""
    with suppress(AttributeError):  # a frozen dataclass takes no note, and passes as it is
        error.add_note(
            f"tell_many: the first {done} of {of} pairs are resolved; the others are "
            "pending and can be told again."
        )


def hold_pairs(pairs: list[ReadPair], vault: Vault) -> None:
    """Keep the rewards of pairs that were read until their time has passed; the first stays."""
    steps = [(id, vault.on_grid(play.observe or play.action, reward)) for id, play, reward in pairs]
    for id, value in steps:
        vault.held.setdefault(id, value)
