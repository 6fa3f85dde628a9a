"""Names of arms: what a user calls them."""

from collections import Counter
from collections.abc import Sequence

from dpbandits.core.inputs import shown
from dpbandits.core.plan import Action

ArmLabel = str | tuple[str, ...] | None
"""What a user calls an action."""


class ArmLabels(tuple[str, ...]):
    """The names of the arms, by their numbers; none where arms have no names.

    >>> ArmLabels(("blue", "green")).of(1)
    'green'
    """

    __slots__ = ()

    def of(self, action: Action) -> ArmLabel:
        """What an action is called: an arm's name, or those of a super arm's arms."""
        if not self or (isinstance(action, tuple) and any(type(arm) is float for arm in action)):
            return None
        if isinstance(action, tuple):
            return tuple(self[int(arm)] for arm in action)
        return self[action]


LONGEST = 200
"""Characters of a name."""


def refuse_one_text(arms: object) -> None:
    """Refuse names that are given as one text, such as "blue,green".

    Raises:
        ValueError: it is one.
    """
    if isinstance(arms, str) and not arms.strip().isdecimal():
        names = [part.strip() for part in arms.split(",")]
        raise ValueError(
            f"Expected arms={shown(arms)} to be a whole number or a list of names; write "
            f"arms={shown(names)}."
        )


def checked_arm_labels(labels: Sequence[object]) -> tuple[str, ...]:
    """Names of arms: text that can be printed, each once.

    Raises:
        ValueError: another thing, or one twice.

    >>> checked_arm_labels(["blue", "blue"])
    Traceback (most recent call last):
    ValueError: Expected each arm to have a name of its own; 'blue' stands there twice.
    """
    for label in labels:
        if not isinstance(label, str) or not label.isprintable() or not 1 <= len(label) <= LONGEST:
            raise ValueError(
                f"Expected names of arms to be text of 1 to {LONGEST} characters that can be "
                f"printed, got {shown(label)}."
            )
    names = tuple(str(label) for label in labels)
    if len(set(names)) < len(names):
        twice = next(name for name, times in Counter(names).items() if times > 1)
        raise ValueError(
            f"Expected each arm to have a name of its own; {shown(twice)} stands there twice."
        )
    return names
