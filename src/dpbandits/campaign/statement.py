"""The privacy statement of one session, in plain words: for an ethics board, a data protection
officer, or the people themselves. All of it is public.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from textwrap import fill

from dpbandits.campaign.guardrail import Guardrail
from dpbandits.core.privacy import Entry, Guarantee, printed
from dpbandits.version import __version__

WIDTH = 88


@dataclass(frozen=True, slots=True)
class StatementFacts:
    """What a statement is made of. people: decisions asked; told: rewards recorded; unread:
    decisions resolved without reading any reward; reward_range: in words; waits: the
    attribution window, in seconds.
    """

    campaign: str
    policy: str
    source: str
    guarantee: Guarantee | None
    reward_range: str
    arms: Sequence[tuple[object, str]]
    asked: int
    told: int
    unread: int
    waiting: int
    ledger: Sequence[Entry]
    spent: Fraction | None
    guardrail: Guardrail | None = None
    waits: float | None = None


def statement(facts: StatementFacts) -> str:
    """The statement as text, lines of at most 88 characters."""
    parts = [
        f"PRIVACY STATEMENT of the session {facts.campaign}",
        f"Policy: {facts.policy} ({facts.source}).",
        promise(facts.guarantee),
        f"Rewards: {facts.reward_range}{grid_words(facts.guarantee)}.",
        window_words(facts.waits),
        rail_words(facts.guardrail),
        arms_words(facts.arms),
        f"Decisions made: {facts.asked:,}. Rewards recorded: {facts.told:,}. Resolved without "
        f"reading a reward: {facts.unread:,}. Waiting: {facts.waiting:,}.",
        ledger_words(facts),
        f"Software: dpbandits {__version__}.",
    ]
    return "\n\n".join(fill(part, WIDTH) for part in parts if part) + "\n"


def promise(guarantee: Guarantee | None) -> str:
    """The guarantee, and what it means."""
    if guarantee is None:
        return "Guarantee: NONE. This policy is not private: its decisions may reveal a reward."
    if guarantee.measure == "pure":
        other = "one reward been another"
        if guarantee.unit == "user":
            other = "all rewards of one user been others"
        meaning = (
            "whatever anybody learns from all decisions and all that was published together, they "
            f"would have learned with almost the same probability, up to the factor e^ε, "
            f"had {other}"
        )
    else:
        meaning = "in the sense of zero-concentrated differential privacy; no ε is stated"
    warning = ""
    if guarantee.noise != "secure":
        warning = " WARNING: the noise is simulated, so for people's data this promises nothing."
    public = ", ".join(guarantee.public)
    return f"Guarantee: {guarantee}; {meaning}. Public are: {public}.{warning}"


def grid_words(guarantee: Guarantee | None) -> str:
    if guarantee is None:
        return ""
    if guarantee.grid.steps == 1:
        return "; held as one of its two ends"
    return f"; held in steps of 1/{guarantee.grid.steps:,} of that range"


def window_words(waits: float | None) -> str:
    """How long answers are waited for."""
    if waits is None:
        return ""
    return (
        f"Answers are waited for {waits / 86_400:,.4g} days; whoever gave none by "
        "then counts with the value that was declared for that. Who answered is as private as the "
        "answer."
    )


def rail_words(rail: Guardrail | None) -> str:
    """What is watched beside the rewards."""
    if rail is None:
        return ""
    return (
        f"Guardrail: {rail.name}, a second number in [0, 1] of each record, is read in the same "
        "draw as the reward, so it is part of what the guarantee protects. An arm is suspended, "
        f"which is public, once its mean is above {rail.limit:g} at confidence "
        f"{rail.confidence:g}."
    )


def arms_words(arms: Sequence[tuple[object, str]]) -> str:
    """The arms, and those among them that are out of play."""
    names = [
        str(name) if standing == "active" else f"{name} ({standing})"
        for name, standing in arms[:50]
    ]
    more = f" and {len(arms) - 50:,} more" if len(arms) > 50 else ""
    return f"Arms: {', '.join(names)}{more}."


def ledger_words(facts: StatementFacts) -> str:
    """What was read so far."""
    count = sum(line.releases for line in facts.ledger)
    readings = f"{count:,} reading{'' if count == 1 else 's'}"
    read = sum(line.stop - line.start for line in facts.ledger)
    if facts.spent is None:
        return f"Ledger: {readings} of {read:,} rewards, without noise."
    return (
        f"Ledger: {readings} with noise, of {read:,} rewards, each read once at most. "
        f"The most that any one recorded reward has cost is {printed(facts.spent)}."
    )
