"""The privacy statement of one session, in plain words: for an ethics board, a data protection
officer, or the people themselves. All of it is public.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from textwrap import fill

from dpbandits.core.privacy import Entry, Guarantee, printed
from dpbandits.session.beliefs import Beliefs
from dpbandits.session.guardrail import Guardrail
from dpbandits.session.lift import Lift
from dpbandits.session.times import length_words
from dpbandits.version import __version__

WIDTH = 88

NEWEST = 50
"""Events that are printed."""


@dataclass(frozen=True, slots=True)
class StatementFacts:
    """What a statement is made of. All of it is public.

    guarantee: of the session, in its unit. each: of one learned round; the same where rounds are
        the unit. reward_range: in words; None: from 0 to 1. assignment: in words; None: nothing is
        left to chance. chooses:
        whether a decision may be restricted to some arms. events: what was done to arms, and after
        how many decisions.
    several: whether a round has several rewards, which are protected together. closing: how the
        session was closed, in words. as_of: when answers were recorded last, in seconds since 1970,
        if more are due; None: none are.
    asked: decisions; told: rounds whose rewards were recorded; unread: decisions resolved without
        reading any reward.
    cap, span: learned rounds of a user, and in which window, in words. people: users that were
        asked for; None where they are not counted here. caution: on the bias of means. waits: the
        attribution window, in seconds. default: what counts where nobody answered.
    contexts: of how many visitors of each arm the contexts are kept; None: it decides without them.
        doubtful: names of features that sound like outcomes.
    date: of the statement. responsible: who answers for the session, in its own words. in_window:
        users that were asked for in the window that is open; None: there is none, or they are not
        counted here. elsewhere: people whose outcomes were recorded in batches. results: what is
        known at the end of a session that was closed. in_store: whether a database keeps it.
    sticky: whether people keep their arm. counted: over what users are counted, in words.
    """

    campaign: str
    policy: str
    source: str
    guarantee: Guarantee | None
    each: Guarantee | None
    reward_range: str | None
    arms: Sequence[tuple[object, str]]
    asked: int
    told: int
    unread: int
    waiting: int
    ledger: Sequence[Entry]
    spent: Fraction | None
    guardrail: Guardrail | None = None
    waits: float | None = None
    default: float = 0.0
    assignment: str | None = None
    chooses: bool = False
    events: Sequence[tuple[str, object, int]] = ()
    cap: int | None = None
    span: str | None = None
    caution: str | None = None
    people: int | None = None
    several: bool = False
    closing: str | None = None
    as_of: float | None = None
    contexts: int | None = None
    doubtful: Sequence[str] = ()
    date: str = ""
    responsible: str | None = None
    in_window: int | None = None
    elsewhere: int = 0
    results: str = ""
    in_store: bool = False
    sticky: bool = False
    counted: str = ""


def statement(facts: StatementFacts) -> str:
    """The statement as text, lines of at most 88 characters."""
    parts = [
        f"PRIVACY STATEMENT of the {'campaign' if facts.in_store else 'session'} {facts.campaign}",
        f"Date: {facts.date}. {responsible_words(facts.responsible)}",
        f"Policy: {facts.policy} ({facts.source}).",
        guarantee_sentence(facts.guarantee, facts.span, facts.several),
        unit_words(facts),
        price_words(facts),
        f"Rewards: {reward_words(facts)}. {facts.caution or ''}",
        context_words(facts),
        window_words(facts.waits, facts.default),
        rail_words(facts.guardrail),
        arms_words(facts.arms),
        choice_words(facts),
        people_words(facts.people, facts.in_window, facts.counted),
        f"Decisions made: {facts.asked:,}. {record_words(facts.several)}: {facts.told:,}. Resolved "
        f"without reading a reward: {facts.unread:,}. Waiting: {facts.waiting:,}.",
        ledger_words(facts),
        stored_words(facts),
        facts.closing or "",
        facts.results,
        as_of_words(facts.as_of),
        f"Software: dpbandits {__version__}.",
    ]
    return "\n\n".join(fill(part, WIDTH) for part in parts if part) + "\n"


def context_words(facts: StatementFacts) -> str:
    """What holds of contexts, and which are kept."""
    kept = facts.contexts
    if kept is None:
        return ""
    stays = ""
    if kept:
        stays = (
            f"; of each arm the newest {kept:,} are kept, without outcomes, to choose what is "
            "measured next"
        )
    known = facts.cap is not None  # people are
    erased = " Whoever is erased, their contexts are deleted." if known and kept else ""
    names = ", ".join(facts.doubtful[:5])
    doubt = (
        f" WARNING: features named {names} sound like recorded outcomes; if they are, the "
        "guarantee does not hold."
        if names
        else ""
    )
    return (
        "Contexts: decisions depend on what is known of a visitor. That is public by this "
        "guarantee, which does not protect it, and personal data nevertheless. It must not carry "
        "recorded outcomes, such as what the visitor did last time. A decision's own context goes "
        f"once its reward is recorded{stays}.{erased}{doubt}"
    )


def responsible_words(responsible: str | None) -> str:
    """Who answers for it."""
    if responsible is None:
        return "No responsible person was named."
    return f"Responsible: {responsible}."


def unit_words(facts: StatementFacts) -> str:
    """What is protected as one, and what ε means for a belief about it."""
    guarantee = facts.guarantee
    if guarantee is None:
        return ""
    unit = "all rewards of one round" if facts.several else "the reward of one round"
    if guarantee.unit == "user":
        span = "" if facts.span is None else f" in one window of {facts.span}"
        unit = f"all rewards of one user{span}"
    text = f"Unit: {unit}."
    if guarantee.measure == "pure" and guarantee.epsilon is not None:
        text += f" In odds: {odds_words(float(guarantee.epsilon))}."
    return text


def odds_words(epsilon: float) -> str:
    """What ε means for somebody's belief about a person, in words.

    >>> odds_words(1.0)
    'someone who thought an outcome 10 % likely may think 23.2 % after seeing everything'
    >>> odds_words(20.0)
    'someone who thought an outcome 10 % likely may be certain after seeing everything'
    """
    percent = 100.0 * posterior_after(0.1, epsilon)
    may = "be certain" if percent > 99.95 else f"think {rounded_up(percent)} %"
    return f"someone who thought an outcome 10 % likely may {may} after seeing everything"


def rounded_up(percent: float) -> str:
    return f"{math.ceil(10 * percent - 1e-9) / 10:g}"


def posterior_after(before: float, epsilon: float) -> float:
    """The most that somebody may think likely who thought `before` likely, in [0, 1].

    >>> round(posterior_after(0.5, 1.0), 3)
    0.731
    """
    return before / (before + (1.0 - before) * math.exp(-epsilon))


def stored_words(facts: StatementFacts) -> str:
    """What is stored for how long."""
    life = "campaign" if facts.in_store else "session, and its saved copies"
    items = [
        "single rewards are not kept, but as sums of open blocks, until these are released or "
        "dropped"
    ]
    if facts.waits is not None:
        items = [
            f"single answers are held for {length_words(facts.waits)}, until their time has "
            "passed, and then kept as sums of open blocks, until these are released or dropped"
        ]
    items.append(f"decisions with their probabilities, as long as the {life}")
    if facts.cap is not None:
        items.append(
            f"a pseudonym of each user with a count of learned rounds, as long as the {life}"
        )
    if facts.sticky:
        items.append(
            "encrypted, which arm each user keeps, as long as the campaign or until the user is "
            "erased"
            if facts.in_store
            else f"which arm each user keeps, as long as the {life}"
        )
    if facts.elsewhere:
        items.append(
            "of outcomes that were recorded in batches, a digest of each batch's key and its "
            f"number of people, as long as the {life}"
        )
    items.append("released values and the ledger, without end: they are what was published")
    return f"Stored: {'; '.join(items)}."


def results_words(estimates: Beliefs, arms: Sequence[tuple[object, str]], lift: Lift | None) -> str:
    """What is known at the end. Of a retired arm that is what was released before.

    Args:
        arms: with their status.
        lift: the other arms against a control arm; None: they are not compared.
    """
    rows = list[str]()
    for row, (_, status) in zip(estimates, arms, strict=True):
        if row.mean is not None:
            retired = ", until it was retired" if status == "retired" else ""
            span = f"{row.low:.4g} to {row.high:.4g}, {row.people:,} people{retired}"
            rows.append(f"{row.label} {row.mean:.4g} ({span})")
        elif status == "retired":
            rows.append(f"{row.label} unknown, for it was retired before its first release")
        else:
            rows.append(f"{row.label} unknown")
    said = f"Results: {estimates.advice} Mean of each arm, with its interval: {'; '.join(rows)}."
    if lift is None:
        return said
    compared = [
        f"{row.label} {row.difference:+.4g} ({row.low:+.4g} to {row.high:+.4g})"
        if row.difference is not None
        else f"{row.label} unknown"
        for row in lift
    ]
    at = f"{lift.confidence:.4g}".replace("0.", ".")
    return (
        f"{said} Difference to {lift.control}: {'; '.join(compared)}. All intervals hold together, "
        f"at all times, with confidence {at}."
    )


def participant_text(facts: StatementFacts) -> str:
    """One page for participants, in plain words, lines of at most 88 characters."""
    guarantee, names = facts.guarantee, [str(arm) for arm, to in facts.arms if to != "retired"]
    asks = facts.responsible or "the people who gave you this page"
    parts = ["INFORMATION FOR PARTICIPANTS", f"Name of the trial: {facts.campaign}. {facts.date}."]
    parts.append(
        f"What this is. We compare {len(names)} options: {', '.join(names[:20])}. A computer "
        "program chooses which one you get. It learns from how earlier participants did, so that "
        "more people get what works better."
    )
    parts.append(
        "What we record. Which option you got, when, and how it went for you (your outcome), as "
        "a number." + (" If you come back, you get the same option again." if facts.sticky else "")
    )
    if guarantee is None:
        parts.append(
            "How your outcome is protected. It is not: from the program's choices somebody may be "
            "able to find it out."
        )
    else:
        parts.append(protection_words(facts))
    parts.append(
        "What is not hidden. That you took part, when, which option you got, and what we find out "
        "about people in general. "
        + (
            "Whether we got your outcome is hidden, too."
            if facts.waits is not None
            else "Also whether we got your outcome."
        )
    )
    central = guarantee is None or guarantee.trust == "central"
    parts.append(
        "Who sees your outcome. "
        + (
            "Our own server gets it, and adds it to a sum. It does not keep single outcomes"
            + ("." if facts.waits is None else f" for longer than {length_words(facts.waits)}.")
            if central
            else "Nobody. Your own device changes it at random before it is sent."
        )
    )
    parts.append(
        "How long things are kept. Sums of outcomes until they are published with noise or thrown "
        "away; the list of choices, without outcomes, as long as the trial is kept; published "
        "numbers for ever."
    )
    if facts.cap is not None and facts.in_store:
        span = "" if facts.span is None else f" in the running {facts.span}"
        parts.append(
            f"If you change your mind. Tell us: from then on we learn nothing more from you{span}. "
            "Outcomes that are in a sum already stay in it, where nobody can find yours."
        )
    parts.append(f"Questions? Ask {asks}.")
    return "\n\n".join(fill(part, WIDTH) for part in parts) + "\n"


def protection_words(facts: StatementFacts) -> str:
    """How an answer is protected, for everybody to understand."""
    guarantee = facts.guarantee
    assert guarantee is not None
    text = (
        "How your outcome is protected. The program adds random noise before it learns anything. "
        "So nobody who sees all of its choices and all published numbers can be sure of your "
        "outcome, even if they know everybody else's."
    )
    if guarantee.measure == "pure" and guarantee.epsilon is not None:
        text += f" In numbers: {odds_words(float(guarantee.epsilon))}."
    if guarantee.unit == "user":
        span = "" if facts.span is None else f" in each {facts.span}"
        if facts.cap == 1:
            text += f" We learn from you once at most{span}."
        else:
            text += f" We learn from you at most {facts.cap:,} times{span}; "
            text += "this holds for all these times together."
        if facts.span is not None:
            text += " If you take part for longer, the protection gets weaker each time."
    else:
        text += (
            " This is about one outcome. Several outcomes of one person are each protected like "
            "this, and all of them together less."
        )
    if guarantee.noise != "secure":
        text += " WARNING: this is a test with simulated noise, which protects nobody."
    return text


def record_words(several: bool) -> str:
    return "Rounds whose rewards were recorded" if several else "Rewards recorded"


def guarantee_sentence(guarantee: Guarantee | None, span: str | None, several: bool) -> str:
    """The guarantee, and what it means. span: one window of a user's, in words."""
    if guarantee is None:
        return "Guarantee: NONE. This policy is not private: its decisions may reveal a reward."
    if guarantee.measure == "pure":
        other = "all rewards of one round been others" if several else "one reward been another"
        if guarantee.unit == "user":
            other = "all rewards of one user been others"
            if span is not None:
                other = f"all rewards of one user in one window of {span} been others"
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


def price_words(facts: StatementFacts) -> str:
    """What one round costs, and what a user pays in all."""
    if facts.guarantee is None or facts.each is None:
        return ""
    one, power = figure(facts.each), "" if facts.each.measure == "pure" else "²"
    if facts.guarantee.unit == "round":
        return (
            f"Price: {one} for each round. Whoever appears in m rounds is protected in each of "
            f"them, and in all of them together at m{power} times that."
        )
    where = "in all" if facts.span is None else f"in each window of {facts.span}"
    text = (
        f"Price: {one} for each learned round. A user has at most {facts.cap:,} of them {where}, "
        f"their first ones, so {figure(facts.guarantee)} per user"
    )
    if facts.span is None:
        return f"{text}. Rewards of further rounds are not read."
    return (
        f"{text} and window. The promise is for one window: over w windows a user who has learned "
        f"rounds in all of them pays w{power} times that, and no bound on w is promised. Rewards "
        "of further rounds are not read."
    )


def figure(guarantee: Guarantee) -> str:
    """The number of a guarantee."""
    if guarantee.epsilon is not None:
        return f"ε = {printed(guarantee.epsilon)}"
    assert guarantee.rho is not None
    return f"ρ = {printed(guarantee.rho)}"


def people_words(people: int | None, in_window: int | None = None, where: str = "") -> str:
    """How many users took part. where: over what they are counted."""
    sentences = []
    if people is not None:
        sentences.append(f"Users asked for, whether learned from or not{where}: {people:,}.")
    if in_window is not None:
        sentences.append(f"Users learned from in the window that is open{where}: {in_window:,}.")
    return " ".join(sentences)


def choice_words(facts: StatementFacts) -> str:
    """How arms are chosen beside the policy's plan, and what was done to them."""
    sentences = []
    if facts.assignment is not None:
        sentences.append(f"Assignment: {facts.assignment}.")
    if facts.sticky:
        sentences.append(
            "A user gets the same arm at every visit, as long as it is in play; chance and least "
            "shares are about first visits. Who returns is learned from again up to the cap, where "
            "the policy takes eligible= and there are no periods, and so counts more in a mean."
        )
    if facts.chooses:
        sentences.append(
            "Arms may be added, paused or retired, and a decision may be restricted to some arms. "
            "This is public and costs no privacy, provided that nobody does it because of rewards "
            "that they saw elsewhere."
        )
    if facts.events:
        newest = facts.events[-NEWEST:]
        done = "; ".join(event_words(*event) for event in newest)
        which = "Events" if len(newest) == len(facts.events) else f"The newest {NEWEST} events"
        sentences.append(f"{which}: {done}.")
    return " ".join(sentences)


def event_words(what: str, arm: object, asked: int) -> str:
    about = "open blocks" if arm is None else f"arm {arm}"
    return f"{what} {about} after {asked:,} decisions"


def reward_words(facts: StatementFacts) -> str:
    """The range of rewards, and how they are held."""
    steps = None if facts.guarantee is None else facts.guarantee.grid.steps
    if steps == 1 and facts.reward_range is None:
        return "0 or 1; a number between is held as one of them"
    words = facts.reward_range or "numbers in [0, 1]"
    if steps is None:
        return words
    if steps == 1:
        return f"{words}; held as one of its two ends"
    return f"{words}; held in steps of 1/{steps:,} of that range"


def window_words(waits: float | None, default: float) -> str:
    """How long answers are waited for, and what counts without one."""
    if waits is None:
        return ""
    return (
        f"Answers are waited for {length_words(waits)}; whoever gave none by "
        f"then counts with {default:g}, as was declared. Who answered is as private as the "
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


def closing_words(why: str, winner: object, read: bool, waits: bool, until: float | None) -> str:
    """How a session was closed. until: when the last answer is due, in seconds since 1970."""
    sentences = [f"Closed: {why}." if why else "Closed."]
    if waits:
        when = "" if until is None else f" until {time_words(until)}"
        sentences.append(f"Answers are waited for{when}.")
    if read:
        sentences.append(
            "What is open then is released once where that says something of means, and dropped "
            "unread elsewhere; the policy does not learn from it."
            if waits
            else "What was open was released once where that says something of means, as a first "
            "and only reading, and dropped unread elsewhere; the policy did not learn from it."
        )
    else:
        sentences.append(
            "What is open is never read." if waits else "What was open was never read."
        )
    if winner is not None:
        sentences.append(f"Further decisions show {winner}, and nobody learns from them.")
    return " ".join(sentences)


def as_of_words(as_of: float | None) -> str:
    """That answers are due which whoever shows this does not record."""
    if as_of is None:
        return ""
    return (
        f"As of {time_words(as_of)}: decisions whose time has passed since are recorded by the "
        "next call that changes something."
    )


def time_words(seconds: float) -> str:
    """
    >>> time_words(0.0), time_words(1e15)
    ('1970-01-01 00:00 UTC', '1e+15 seconds')
    """
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, OSError, ValueError):  # a clock of the caller's own
        return f"{seconds:g} seconds"


def arms_words(arms: Sequence[tuple[object, str]]) -> str:
    """The arms, and those among them that are out of play."""
    names = [
        str(name) if status == "active" else f"{name} ({status})" for name, status in arms[:50]
    ]
    more = f" and {len(arms) - 50:,} more" if len(arms) > 50 else ""
    return f"Arms: {', '.join(names)}{more}."


def ledger_words(facts: StatementFacts) -> str:
    """What was read so far."""
    count = sum(line.releases for line in facts.ledger)
    readings = f"{count:,} reading{'' if count == 1 else 's'}"
    number = sum(line.stop - line.start for line in facts.ledger)
    whole = facts.several and all(line.coordinate < 0 for line in facts.ledger)
    read = f"the rewards of {number:,} rounds" if whole else f"{number:,} rewards"
    if facts.spent is None:
        return f"Ledger: {readings} of {read}, without noise."
    one = "the rewards of any one round have" if facts.several else "any one recorded reward has"
    rest = facts.told - number
    left = ""
    if rest > 0 and not facts.several and (facts.each is None or facts.each.trust == "central"):
        left = (
            f" Recorded beside these: {rest:,}, in open blocks or dropped unread (a retired arm's)."
        )
    unit = "ε" if facts.each is None or facts.each.measure == "pure" else "ρ"
    return (
        f"Ledger: {readings} with noise, of {read}, each read once at most, so that their costs do "
        f"not add up. The most that {one} cost in all readings together is {unit} = "
        f"{printed(facts.spent)}.{left}"
    )
