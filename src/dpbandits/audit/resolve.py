"""What is to be audited, from what a user names: a policy, module:object, a class, a function that makes one, or the thing itself."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from typing import Any

from dpbandits.audit.foreign import made_once
from dpbandits.checks.examples import examples
from dpbandits.mechanisms.base import Mechanism
from dpbandits.policies import POLICIES
from dpbandits.policy import Policy
from dpbandits.privacy import Real, as_fraction


def resolve(subject: object, epsilon: Real | None, arms: int) -> Any:
    """The thing itself: classes are made with `epsilon`; an instance has its own already.

    Raises:
        ValueError: no such name, or an epsilon the subject has no use for.
        TypeError: a class that cannot be made from epsilon and the number of arms alone.
    """
    if isinstance(subject, str):
        subject = POLICIES[subject] if subject in POLICIES else imported(subject)
    if isinstance(subject, type) and issubclass(subject, (Policy, Mechanism)):
        return made_from_class(subject, epsilon, arms)
    if callable(subject) and not isinstance(subject, (Policy, Mechanism)) and not is_subject(subject):
        one = made_once(subject)
        subject = one if isinstance(one, (Policy, Mechanism)) else subject
    if isinstance(subject, (Policy, Mechanism)):
        refuse_another_epsilon(subject, epsilon)
    return subject


def is_subject(made: object) -> bool:
    """Whether it is ready to be played as a black box (`Subject`)."""
    return hasattr(made, "outcomes") and hasattr(made, "pairs")


def imported(text: str) -> object:
    module, colon, attribute = text.partition(":")
    if not colon:
        near = get_close_matches(text, POLICIES, n=3, cutoff=0.5)
        raise ValueError(f"There is no policy {text!r}." + (f" Did you mean {' or '.join(near)}?" if near else " See `dpbandits list`."))
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:  # the file is the user's: whatever it raises, it cannot be audited
        said = f"{type(error).__name__}: {error}"
        raise ValueError(f"Expected {text!r} to be module:object, importable from here: {said}.") from error
    return found


def made_from_class(cls: type[Policy] | type[Mechanism], epsilon: Real | None, arms: int) -> Any:
    """A small instance; of our policies, the one the checks use, on a grid of 0/1 rewards, which tells most."""
    known = {f.name for f in fields(cls)} if is_dataclass(cls) else set()
    if epsilon is not None and "epsilon" not in known:
        raise ValueError(f"{cls.__name__} takes no epsilon. What it is to be held to is its claim: claim=... or --claim.")
    budget = {"epsilon": as_fraction(1 if epsilon is None else epsilon, "epsilon")} if "epsilon" in known else {}
    if issubclass(cls, Policy) and POLICIES.get(cls.__name__) is cls:
        change: dict[str, Any] = {"grid": 1} if "grid" in known else {}
        return replace(examples(cls.__name__, arms=arms)[0], **change | (budget if epsilon is not None else {}))
    size = {cls.size_name: arms} if issubclass(cls, Policy) and cls.size_name else {}
    make_it: Callable[..., Any] = cls
    try:
        return make_it(**size, **budget)
    except TypeError as error:
        raise TypeError(
            f"{cls.__name__} cannot be made from {' and '.join([*size, *budget]) or 'nothing'} alone ({error}). Pass an instance of it."
        ) from error


def refuse_another_epsilon(made: Policy | Mechanism, epsilon: Real | None) -> None:
    """An instance is audited as it is: another epsilon would be ignored without a word."""
    if epsilon is None:
        return
    own = getattr(made, "epsilon", None) or own_claim(made)
    if own is None or as_fraction(own, "epsilon") != as_fraction(epsilon, "epsilon"):
        has = f"its budget is {own}" if own is not None else "it has none"
        raise ValueError(
            f"Got epsilon={epsilon} for an instance of {type(made).__name__}, which is audited as it is ({has}). "
            "Leave epsilon out; what it is to be held to is its claim: claim=... or --claim."
        )


def own_claim(made: Any) -> Fraction | None:
    """The epsilon it says of itself; of a publication's constants, what the publication says is another matter (`claimed`)."""
    guarantee = guarantee_of(made)
    return guarantee.epsilon if guarantee is not None and guarantee.measure == "pure" else None


def why_no_claim(made: Any) -> str:
    guarantee = guarantee_of(made)
    return "It claims no privacy." if guarantee is None else f"It claims {guarantee.measure}, which promises no epsilon."


def guarantee_of(made: Any) -> Any:
    return made.guarantee if isinstance(made, Policy) else made.promise() if isinstance(made, Mechanism) else None


def title_of(made: Any) -> str:
    if isinstance(made, (Policy, Mechanism)):
        return repr(made)
    return str(getattr(made, "name", None) or getattr(made, "__name__", type(made).__name__))
