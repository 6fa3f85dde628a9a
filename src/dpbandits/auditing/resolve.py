"""What a user gives to an audit: numbers and levels, read strictly, and the subject, made from the
name of a policy, from module:object, a class or a function that makes one, or taken as it is.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

from dpbandits.auditing.foreign import made_once
from dpbandits.auditing.functions import ARMS, arms_for, takes_data, with_arms
from dpbandits.checks.examples import examples
from dpbandits.core.inputs import LARGEST_SEED, real_number, shown, whole_number
from dpbandits.core.privacy import Real, as_fraction
from dpbandits.mechanisms import Mechanism, Randomizer
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy, size_argument
from dpbandits.policies.named import policy_class

MOST_AUDITED_ROUNDS = 10**6
"""The most rounds of one counted run: its transcript is kept as a whole."""

MOST_AUDITED_ARMS = 10**4

MOST_REWARDS = 10**7
"""The most rewards of one table."""

WHITE = (Policy, Mechanism, Randomizer)
"""The kinds of subjects that declare their own promise and can be looked into."""


def resolve(subject: object, epsilon: Real | None, arms: int | None) -> Any:
    """The subject itself. Classes are made with `epsilon`, and with `arms` if they take them; an
    instance has its own already.

    subject: a policy, a mechanism or a local randomizer (white box: all levels that fit), its
        class, or a function that makes one; or a class or function that makes a fresh object with
        `ask()` and `tell(decision, reward)`, or with `select()` and `update(arm, reward)`, for each
        run (black box: the statistical level); or a plain function of data. What makes a subject
        takes no arguments but `seed` (it is given one, below 2³²) and `arms`; a function with one
        other argument that it cannot do without is a function of data, and is called with it for
        each run: rewards, shape (rounds,), or with `arms=` a table, shape (rounds, arms). It
        answers with numbers, text or lists of them. Text is the name of a policy of ours, or
        "module:object".

    Raises:
        ValueError: there is no such name, or the subject has no use for an epsilon.
        TypeError: a class that cannot be made from epsilon and the number of arms alone.
    """
    if isinstance(subject, str):
        subject = policy_class(subject)
    if isinstance(subject, type) and issubclass(subject, WHITE):
        return made_from_class(subject, epsilon, ARMS if arms is None else arms)
    if (
        callable(subject)
        and not isinstance(subject, WHITE)
        and not is_subject(subject)
        and not takes_data(subject)
    ):
        one = made_once(with_arms(subject, arms_for(subject, arms)))
        subject = one if isinstance(one, WHITE) else subject
    if isinstance(subject, WHITE):
        refuse_another_epsilon(subject, epsilon)
    elif not (callable(subject) or is_subject(subject)):
        raise TypeError(
            "Expected a policy, a mechanism, a randomizer, a function of data, or a function "
            "that makes a fresh object for each run, got "
            f"{type(subject).__name__}. Pass `lambda: Yours(...)`: runs must not share what an "
            "earlier one has learnt."
        )
    return subject


def is_subject(made: object) -> bool:
    """Whether this can be played as a black box (`Subject`) as it is."""
    return hasattr(made, "outcomes") and hasattr(made, "pairs")


def made_from_class(
    cls: type[Policy] | type[Mechanism] | type[Randomizer], epsilon: Real | None, arms: int
) -> Any:
    """A small instance. Of a policy of this package it is the one that the checks use, on a grid of
    0/1 rewards, which tells most.
    """
    known = {f.name for f in fields(cls)} if is_dataclass(cls) else set()
    if epsilon is not None and "epsilon" not in known:
        raise ValueError(
            f"{cls.__name__} takes no epsilon. What it is to be held to is its claim: claim=... "
            "or --claim."
        )
    budget = (
        {"epsilon": as_fraction(1 if epsilon is None else epsilon, "epsilon")}
        if "epsilon" in known
        else {}
    )
    if issubclass(cls, Policy) and POLICIES.get(cls.__name__) is cls:
        change: dict[str, Any] = {"grid": 1} if "grid" in known else {}
        return replace(
            examples(cls.__name__, arms=arms)[0], **change | (budget if epsilon is not None else {})
        )
    argument = size_argument(cls) if issubclass(cls, Policy) else None
    size = {} if argument is None else {argument: arms}
    make_it: Callable[..., Any] = cls
    try:
        return make_it(**size, **budget)
    except TypeError as error:
        raise TypeError(
            f"{cls.__name__} cannot be made from {' and '.join([*size, *budget]) or 'nothing'} "
            f"alone ({error}). Pass an instance of it."
        ) from error


def refuse_another_epsilon(made: Policy | Mechanism | Randomizer, epsilon: Real | None) -> None:
    """Refuse another epsilon for an instance: it is audited as it is, and the epsilon would be
    ignored silently.
    """
    if epsilon is None:
        return
    own = getattr(made, "epsilon", None) or own_claim(made)
    if own is None or as_fraction(own, "epsilon") != as_fraction(epsilon, "epsilon"):
        has = f"its budget is {own}" if own is not None else "it has none"
        raise ValueError(
            f"Got epsilon={epsilon} for an instance of {type(made).__name__}, which is audited "
            f"as it is ({has}). "
            "Leave epsilon out; what it is to be held to is its claim: claim=... or --claim."
        )


def own_claim(made: Any) -> Fraction | None:
    """The epsilon that the subject itself claims. What a publication claims for its constants is in
    `claimed`.
    """
    guarantee = guarantee_of(made)
    return guarantee.epsilon if guarantee is not None and guarantee.measure == "pure" else None


def why_no_claim(made: Any) -> str:
    guarantee = guarantee_of(made)
    return (
        "It claims no privacy."
        if guarantee is None
        else f"It claims {guarantee.measure}, which promises no epsilon."
    )


def guarantee_of(made: Any) -> Any:
    return (
        made.guarantee
        if isinstance(made, Policy)
        else made.promise()
        if isinstance(made, (Mechanism, Randomizer))
        else None
    )


def title_of(made: Any) -> str:
    if isinstance(made, WHITE):
        return repr(made)
    return str(getattr(made, "name", None) or getattr(made, "__name__", type(made).__name__))


class AuditSetting(NamedTuple):
    """The arguments of an audit, checked and as plain numbers; what the subject is called, and who
    is told what is being done.
    """

    budget: float
    seed: int
    arms: int | None
    rounds: int
    workers: int
    runs: int | None
    title: str = ""
    progress: Callable[[str], None] | None = None

    def tell(self, doing: str) -> None:
        if self.progress is not None:
            self.progress(f"{self.title}: {doing}")


def checked_numbers(
    budget: object, seed: object, arms: object, rounds: object, workers: object, runs: object
) -> AuditSetting:
    """The numbers as plain ones. arms, runs: None if the caller gives none.

    Raises:
        ValueError: a number is of the wrong kind or out of range.
    """
    seconds = real_number(budget)
    if seconds is None or not 0 < seconds < math.inf:
        raise ValueError(f"Expected budget={shown(budget)} to be a finite number of seconds > 0.")
    columns = None if arms is None else whole_number(arms, "arms", 1, MOST_AUDITED_ARMS)
    long = whole_number(rounds, "rounds", 1, MOST_AUDITED_ROUNDS)
    if long * (columns or 1) > MOST_REWARDS:
        raise ValueError(
            f"Expected rounds × arms to be at most {MOST_REWARDS:,}, got {long:,} rounds of "
            f"{columns:,} arms: a table of so many rewards does not fit. Take fewer rounds."
        )
    return AuditSetting(
        budget=float(seconds),
        seed=whole_number(seed, "seed", 0, LARGEST_SEED),
        arms=columns,
        rounds=long,
        workers=whole_number(workers, "workers", 1, 10_000),
        runs=None if runs is None else whole_number(runs, "runs", 1),
    )


def checked_levels(levels: object, known: Sequence[str]) -> tuple[str, ...]:
    """Some of the levels, by name.

    Raises:
        ValueError: something else.
    """
    named = tuple(levels) if isinstance(levels, (list, tuple, set, frozenset)) else ()
    unknown = [shown(level) for level in named if level not in known]
    if unknown or not named:
        came = ", ".join(unknown) or shown(levels)
        raise ValueError(
            f"Expected levels, a list of some of {', '.join(known)}; got {came}. For example "
            f"levels=[{known[0]!r}]."
        )
    return named
