"""An error of a policy of the user's own, in a sentence: which policy, at which round of what, and
the error's own class and line. Its words are not repeated: somebody may have written a reward into
them. The error itself is the cause where it can know none.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from traceback import walk_tb
from types import CodeType, FrameType
from typing import Any, NamedTuple, TypeVar

from dpbandits.core.errors import Error, PolicyError
from dpbandits.environments.base import Environment, Independent
from dpbandits.environments.reordered import Reordered
from dpbandits.policies.contract import Policy

Played = TypeVar("Played")

OURS = "dpbandits"


class FailedLine(NamedTuple):
    """A frame that an error passed through, and its line."""

    frame: FrameType
    line: int


def with_named_failures(
    play: Callable[[], Played],
    policy: Policy,
    environment: Environment | None = None,
    run: int | None = None,
) -> Played:
    """What `play` returns.

    environment, run: on what the policy was played, if it was.

    Raises:
        PolicyError: the policy is of the user's own, and raised. What we raise is passed on.
    """
    try:
        return play()
    except Exception as error:
        failed = named_failure(error, policy, environment, run)
        if failed is None:
            raise
    raise failed  # outside the handler: the first error is not even its context


def named_failure(
    error: Exception, policy: Policy, environment: Environment | None, run: int | None
) -> PolicyError | None:
    """None if the policy is one of ours, or the error came from nowhere inside it."""
    if isinstance(environment, Reordered):
        environment = environment.of
    own, reading = own_classes(type(policy)), reading_classes(policy)
    if isinstance(error, Error) or not (own or reading):
        return None
    lines = [FailedLine(*each) for each in walk_tb(error.__traceback__)]
    public, reads = codes_of(type(policy).__mro__ if own else ()), codes_of(reading)
    asked = [each for each in lines if each.frame.f_code in public]
    read = [each for each in lines if each.frame.f_code in reads]
    if not (asked or read):
        return None
    files = {code.co_filename for code in codes_of((*own, *reading))}
    last = [each for each in lines if each.frame.f_code.co_filename in files] or asked or read
    verb = (read or asked)[0].frame.f_code.co_name
    where = "" if environment is None else f" in {type(environment).__name__}"
    when = "" if run is None else f" of run {run}"
    failed = PolicyError(
        f"{policy.name} failed in {verb}(){at_round(lines)}{when}{where}: "
        f"{type(error).__name__} at {Path(last[-1].frame.f_code.co_filename).name}, line "
        f"{last[-1].line}. Its own words are not repeated here."
    )
    if not read and knows_no_reward(policy, environment):
        failed.__cause__ = error
    return failed


def with_named_making(kind: type[Policy], make: Callable[[], Policy]) -> Policy:
    """The policy that `make` makes of this class.

    Raises:
        PolicyError: the class is of the user's own, and raised something else than what tells of a
            wrong argument.
    """
    try:
        return make()
    except (ValueError, TypeError):
        raise
    except Exception as error:
        lines = [FailedLine(*each) for each in walk_tb(error.__traceback__)]
        own = codes_of(own_classes(kind))
        last = [each for each in lines if each.frame.f_code in own]
        if isinstance(error, Error) or not last:
            raise
        failed = PolicyError(
            f"{kind.__name__} failed as it was made: {type(error).__name__} at "
            f"{Path(last[-1].frame.f_code.co_filename).name}, line {last[-1].line}."
        )
        failed.__cause__ = error  # no reward was there
    raise failed


def knows_no_reward(policy: Policy, environment: Environment | None) -> bool:
    """Whether what the policy is told holds nobody's reward: it is released with noise, or nothing
    real was played.
    """
    return (
        policy.guarantee is not None or environment is None or isinstance(environment, Independent)
    )


def own_classes(kind: type) -> tuple[type, ...]:
    """Those classes that are not of this package."""
    return tuple(
        each
        for each in kind.__mro__
        if each.__module__.partition(".")[0] not in (OURS, "builtins", "abc", "typing")
    )


def reading_classes(policy: Policy) -> tuple[type, ...]:
    """Classes of the user's own that read rewards for a policy."""
    found: tuple[type, ...] = ()
    for part in ("reader", "randomizer"):
        with suppress(Exception):  # a mechanism that cannot even be made
            made: Any = getattr(policy, part)
            found += own_classes(type(made() if part == "randomizer" else made))
    return found


def codes_of(kinds: tuple[type, ...]) -> set[CodeType]:
    """The code of all that these classes define."""
    return {code for kind in kinds for value in vars(kind).values() for code in codes_in(value)}


def codes_in(value: Any) -> Iterator[CodeType]:
    for each in (value, *(getattr(value, name, None) for name in ("fget", "func", "__func__"))):
        code = getattr(inspect.unwrap(each) if callable(each) else None, "__code__", None)
        if isinstance(code, CodeType):
            yield code


def at_round(lines: list[FailedLine]) -> str:
    """Hosts count the rounds that they have played in `t`."""
    for frame, _ in reversed(lines):
        if frame.f_globals.get("__name__", "").startswith(f"{OURS}.simulation."):
            played = frame.f_locals.get("t")
            if type(played) is int:
                return f" at round {played:,}"
    return ""
