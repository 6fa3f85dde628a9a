"""Classes that explain their arguments: if a call does not fit the constructor, the error lists the
arguments that it takes, with an example to copy.
"""

import re
from abc import ABCMeta
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, Signature, cleandoc, signature
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

EXAMPLES: Mapping[str, str] = {
    "policy": "dpbandits.DPKLUCB(arms=5, epsilon=1)",
    "rule": "dpbandits.DPNAS(alpha=0.1, beta=0.05, cap=10**6, epsilon=1)",
    "segments": "['DE', 'FR']",
    "noise": "dpbandits.SecureNoise()",
    "description": "session.description()",
    "most": "1",
}
"""Example values, for every argument that such a constructor requires."""


class Explained(ABCMeta):
    """The kind of class that explains its arguments. A call that fits costs nothing more;
    `inspect.signature` sees the constructor.
    """

    def __call__(cls, *given: Any, **named: Any) -> Any:
        try:
            return super().__call__(*given, **named)
        except TypeError:
            wrong = misfit(cls, given, named)
            if wrong is None:
                raise
        # outside the handler: Python's own words about __init__ would only stand in the way
        raise TypeError(wrong)

    @property
    def __signature__(cls) -> Signature:
        # the class itself is asked, not an instance
        own = signature(cls.__init__)  # type: ignore[misc]
        return own.replace(
            parameters=list(own.parameters.values())[1:], return_annotation=Signature.empty
        )


def with_example(example: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function that explains its arguments as these classes do. example: a call to copy."""

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*given: P.args, **named: P.kwargs) -> R:
            try:
                return function(*given, **named)
            except TypeError:
                wrong = misfit(call, given, named)
                if wrong is None:
                    raise
            raise TypeError(wrong)

        vars(call)["example"] = example
        return call

    return decorated


def argument_texts(cls: type) -> dict[str, str]:
    """What the class says of each argument of its constructor, by name.

    Read from the `Args:` sections of its docstring and those of its bases, of which the nearest to
    the class counts: an entry is a line "name: text", and further lines of it are indented more.
    """
    texts: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        _, _, section = cleandoc(base.__dict__.get("__doc__") or "").partition("\nArgs:\n")
        entries = re.findall(
            r"^    (\w+): (.+(?:\n     .+)*)", section.split("\n\n")[0], re.MULTILINE
        )
        texts |= {name: " ".join(text.split()) for name, text in entries}
    return texts


def misfit(cls: Callable[..., Any], given: tuple[Any, ...], named: Mapping[str, Any]) -> str | None:
    """What is wrong with a constructor's arguments; None if they fit."""
    takes = signature(cls)
    try:
        takes.bind(*given, **named)
    except TypeError:
        parameters = list(takes.parameters.values())
    else:
        return None
    needed = [p for p in parameters if p.default is Parameter.empty]
    example = ", ".join(
        f"{p.name}={EXAMPLES.get(p.name, '...')}"
        for p in needed
        if p.kind is not Parameter.VAR_KEYWORD
    )
    shown = str(getattr(cls, "example", "")) or f"{cls.__name__}({example})"
    names = ", ".join(takes.parameters) or "nothing"
    wrong = signature_flaw(parameters, given, named)
    return f"{cls.__name__} {wrong}. It takes {names}; for example {shown}."


def signature_flaw(
    parameters: list[Parameter],
    given: tuple[Any, ...],
    named: Mapping[str, Any],
) -> str:
    """The first thing that is wrong: too many arguments, an unknown one or a missing one."""
    # beside options that are passed on, nothing is unknown here, nor needed
    passes_on = any(p.kind is Parameter.VAR_KEYWORD for p in parameters)
    parameters = [p for p in parameters if p.kind is not Parameter.VAR_KEYWORD]
    names = [p.name for p in parameters]
    placed = [
        p.name
        for p in parameters
        if p.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    ]
    if given and not placed:
        return f"takes its arguments by name, got {len(given)} without"
    if len(given) > len(placed):
        return f"takes at most {len(placed)} arguments without a name, got {len(given)}"
    unknown = [name for name in named if name not in names]
    if unknown and not passes_on:
        return f"does not take {', '.join(unknown)}{hint(unknown[0], names)}"
    twice = [name for name in placed[: len(given)] if name in named]
    if twice:
        return f"was given {twice[0]} twice"
    missing = [
        p.name
        for p in parameters
        if p.default is Parameter.empty
        and p.name not in named
        and p.name not in placed[: len(given)]
    ]
    return f"needs {' and '.join(missing)}{', too' if given or named else ''}"


def hint(unknown: str, names: list[str]) -> str:
    """Which one was meant."""
    close = get_close_matches(unknown, names, n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def options_of(cls: type) -> list[str]:
    """What the constructor takes, by name."""
    # the class itself is asked, not an instance
    return list(signature(cls.__init__).parameters)[1:]  # type: ignore[misc]


def require_options(whose: str, options: Iterable[str], known: Iterable[str]) -> None:
    """Refuse an option that there is not, and say which there are.

    Raises:
        TypeError: such an option.

    >>> require_options("A session", ["nois"], ["policy", "noise"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    TypeError: A session does not take nois (did you mean noise?). It takes policy, noise. ...
    """
    names = list(known)
    for option in options:
        if option not in names:
            close = "".join(f" (did you mean {n}?)" for n in get_close_matches(option, names, n=1))
            raise TypeError(
                f"{whose} does not take {option}{close}. It takes {', '.join(names)}. Nothing was "
                "made."
            )
