"""The privacy statement of one session, in plain words: for an ethics board, a data protection
officer, or the people themselves. All of it is public.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from fractions import Fraction
from textwrap import fill
from typing import TYPE_CHECKING

from dpbandits.core.contexts import names_of_outcomes
from dpbandits.core.privacy import Guarantee, printed
from dpbandits.policies.contextual import ContextualPolicy
from dpbandits.session.beliefs import OVER_TIME, TOGETHER, Beliefs
from dpbandits.session.times import MOST_COMPARED, length_words
from dpbandits.version import __version__

if TYPE_CHECKING:
    from dpbandits.session.session import Session

WIDTH = 88

NEWEST = 50
"""Events that are printed."""


def statement(
    session: Session,
    users: int | None,
    in_window: int | None = None,
    where: str = "",
    fences: int = 0,
) -> str:
    """The statement as text, lines of at most 88 characters.

    Args:
        users: how many have learned rounds; None if that is said elsewhere or not known here.
        in_window: how many were learned from in the window that is open, where rows say so.
        where: over what these are counted, in words.
        fences: how often a store gave up what it could not tell from what was read before.
    """
    people, rail, view = session._tables.people, session.guardrail, session._current
    about, waits, ranged = session.policy.about, session.attribution_window, session.rewards
    if people is not None and users is not None and in_window is None:
        in_window = people.in_window
    is_stored = session._tables.chosen is None
    source = about.paper if about.paper == "dpbandits" else f"{about.paper}, {about.algorithm}"
    responsible = "No responsible person was named."
    if session.responsible is not None:
        responsible = f"Responsible: {session.responsible}."
    parts = [
        f"PRIVACY STATEMENT of the {'campaign' if is_stored else 'session'} {session.campaign}",
        f"Date: {datetime.now(UTC):%Y-%m-%d}. {responsible}",
        f"Policy: {session.policy.name} ({source}).",
        guarantee_words(session),
        unit_words(session),
        price_words(session),
        f"Rewards: {reward_words(session)}. {'' if ranged is None else ranged.caution or ''}",
        context_words(session),
    ]
    if waits is not None:
        parts.append(
            f"Answers are waited for {length_words(waits)}; whoever gave none by then counts "
            f"with {session.default:g}, as was declared. "
            + (
                "Who answered is as private as the answer."
                if session._hides_answers
                else "The server knows who answered."
            )
        )
    if rail is not None:
        parts.append(
            f"Guardrail: {rail.name}, a second number in [0, 1] of each record, is read in the "
            "same draw as the reward, so it is part of what the guarantee protects. An arm is "
            f"suspended, which is public, once its mean is above {rail.limit:g} at confidence "
            f"{rail.confidence:g}."
        )
    recorded = "Rounds whose rewards were recorded" if is_several(session) else "Rewards recorded"
    parts += [
        arms_words(session),
        choice_words(session),
        people_words(users, in_window, where, None if people is None else people.caution),
        f"Decisions made: {view.asked:,}. {recorded}: {view.records:,}. Resolved without reading a "
        f"reward: {view.unread:,}. Waiting: {len(view.pending):,}.",
        ledger_words(session, fences),
        stored_words(session),
        closing_words(session),
        results_words(session, fences),
        harm_words(session),
    ]
    window = session._tables.attribution
    if window is not None and window.due_now():  # this process does not record them
        parts.append(
            f"As of {time_words(window.clock.latest)}: decisions whose time has passed since are "
            "recorded by the next call that changes something."
        )
    parts += [each.advice for each in session.alarms if each.what == "clock"]
    parts.append(f"Software: dpbandits {__version__}.")
    return "\n\n".join(fill(part, WIDTH) for part in parts if part) + "\n"


def is_several(session: Session) -> bool:
    """Whether a round has several rewards, which are protected together."""
    return session.policy.about.feedback != "bandit"


def cap_and_span(session: Session) -> tuple[int | None, str | None]:
    """Learned rounds of a user, and in which window, in words; None without users, or windows."""
    people = session._tables.people
    return (None, None) if people is None else (people.cap, people.span)


def context_words(session: Session) -> str:
    """What holds of contexts, and which are kept."""
    policy = session.policy
    if not isinstance(policy, ContextualPolicy):
        return ""
    kept, extra = policy.kept_contexts, ""
    if kept:
        extra = (
            f"; of each arm the newest {kept:,} are kept, without outcomes, to choose what is "
            "measured next"
        )
    extra += "."
    if kept and session._tables.people is not None:
        extra += " Whoever is erased, their contexts are deleted."
    doubtful = names_of_outcomes(policy.feature_names or ()) if policy.private else []
    if doubtful:
        extra += (
            f" WARNING: features named {', '.join(doubtful[:5])} sound like recorded outcomes; if "
            "they are, the guarantee does not hold."
        )
    return (
        "Contexts: decisions depend on what is known of a visitor. That is public by this "
        "guarantee, which does not protect it, and personal data nevertheless. It must not carry "
        "recorded outcomes, such as what the visitor did last time. A decision's own context goes "
        f"once its reward is recorded{extra}"
    )


def unit_words(session: Session) -> str:
    """What is protected as one, and what ε means for a belief about it."""
    guarantee, (_, span) = session.guarantee, cap_and_span(session)
    if guarantee is None:
        return ""
    unit = "all rewards of one round" if is_several(session) else "the reward of one round"
    if guarantee.unit == "user":
        unit = "all rewards of one user" + ("" if span is None else f" in one window of {span}")
    odds = ""
    if guarantee.measure == "pure" and guarantee.epsilon is not None:
        odds = f" In odds: {odds_words(float(guarantee.epsilon))}."
    return f"Unit: {unit}.{odds}"


def odds_words(epsilon: float) -> str:
    """What ε means for somebody's belief about a person, in words.

    >>> odds_words(1.0)
    'someone who thought an outcome 10 % likely may think 23.2 % after seeing everything'
    >>> odds_words(9.3)
    'someone who thought an outcome 10 % likely may be certain after seeing everything'
    """
    percent = 100.0 * posterior_after(0.1, epsilon)
    rounded_up = math.ceil(10 * percent - 1e-9) / 10
    may = "be certain" if percent > 99.9 else f"think {rounded_up:g} %"
    return f"someone who thought an outcome 10 % likely may {may} after seeing everything"


def posterior_after(before: float, epsilon: float) -> float:
    """The most that somebody may think likely who thought `before` likely, in [0, 1].

    >>> round(posterior_after(0.5, 1.0), 3)
    0.731
    """
    return before / (before + (1.0 - before) * math.exp(-epsilon))


def stored_words(session: Session) -> str:
    """What is stored for how long."""
    is_stored, people = session._tables.chosen is None, session._tables.people
    life = "campaign" if is_stored else "session, and its saved copies"
    single = "rewards are not kept, but"
    if session.attribution_window is not None:
        single = (
            f"answers are held for {length_words(session.attribution_window)}, until their time "
            "has passed, and then kept"
        )
    items = [
        f"single {single} as sums of open blocks, until these are released or dropped",
        f"decisions with their probabilities, as long as the {life}",
    ]
    if people is not None:
        items.append(
            f"a pseudonym of each user with a count of learned rounds, as long as the {life}"
        )
    if people is not None and people.kept is not None:
        items.append(
            "encrypted, which arm each user keeps, as long as the campaign or until the user is "
            "erased"
            if is_stored
            else f"which arm each user keeps, as long as the {life}"
        )
    if session._current.elsewhere:
        items.append(
            "of outcomes that were recorded in batches, a digest of each batch's key and its "
            f"number of people, as long as the {life}"
        )
    items.append("released values and the ledger, without end: they are what was published")
    return f"Stored: {'; '.join(items)}."


def results_words(session: Session, fences: int) -> str:
    """What is known once the session is over. Of a retired arm that is what was released before."""
    closing = session.closed
    if closing is None or not closing.is_done:
        return ""
    if session._contextual:
        return (
            "Results: an arm has no one mean where decisions are made by context; what was learned "
            "is in the predictions, for given contexts."
        )
    estimates = session.beliefs()
    advice = TOGETHER if estimates.together else estimates.advice
    said = f"Results: {advice} {means_words(session, estimates)}."
    if fences:  # proofs/evidence.md
        said += (
            " Names and intervals that were shown before a fence may be wrong with as much "
            "probability of their own."
        )
    if estimates.changed:
        changed = ", ".join(arm_name(session, label) for label in estimates.changed)
        said += f" The mean of {changed} has changed meanwhile."
    if estimates.in_periods:
        return f"{said} {OVER_TIME}"
    if not 1 < len(estimates) <= MOST_COMPARED or estimates.together:
        return said
    lift = session.lift()
    compared = [
        f"{name} {row.difference:+.4g} ({row.low:+.4g} to {row.high:+.4g})"
        if row.difference is not None
        else f"{name} unknown"
        for row in lift
        for name in [arm_name(session, row.label, ":")]
    ]
    at = f"{lift.confidence:.4g}".replace("0.", ".")
    return (
        f"{said} Difference to {arm_name(session, lift.control)}: {'; '.join(compared)}. All "
        f"intervals hold together, at all times, with confidence {at}."
    )


def harm_words(session: Session) -> str:
    """What is known of harm once the session is over."""
    closing, rail = session.closed, session.guardrail
    if closing is None or not closing.is_done or rail is None:
        return ""
    harm = session.harm()
    return (
        f"Harm ({rail.name}): {harm.advice} {means_words(session, harm)}. These intervals hold "
        "together, at all times, with that confidence."
    )


def means_words(session: Session, estimates: Beliefs) -> str:
    """Each arm's mean with its interval, and of how many rounds."""
    rows = []
    for row, (_, status) in zip(estimates, session.arms, strict=True):
        name = arm_name(session, row.label, ":")
        if row.mean is not None:
            retired = ", until it was retired" if status == "retired" else ""
            span = f"{row.low:.4g} to {row.high:.4g}, {row.people:,} rounds{retired}"
            rows.append(f"{name} {row.mean:.4g} ({span})")
        elif status == "retired":
            rows.append(f"{name} unknown, for it was retired before its first release")
        else:
            rows.append(f"{name} unknown")
    return f"Mean of each arm, with its interval: {'; '.join(rows)}"


def arm_name(session: Session, label: object, colon: str = "") -> str:
    """A label; where arms have no names "arm 0", with a colon before a number."""
    return str(label) if session.policy.labels else f"arm {label}{colon}"


def participant_text(
    session: Session,
    name: str | None = None,
    holdout: Fraction | None = None,
    segments: Iterable[str] = (),
    others: Iterable[Session] = (),
) -> str:
    """One page for participants, in plain words, lines of at most 88 characters.

    Args:
        session: one part of the trial; the others differ in nothing else that is said.
        name: the trial's; by default the session's.
        holdout: the share of people who get the control arm all the time.
        segments: their names.
        others: parts whose arms may be others.
    """
    guarantee, waits, people = session.guarantee, session.attribution_window, session._tables.people
    rail, policy = session.guardrail, session.policy
    arms = [arm for each in (session, *others) for arm in each.arms]
    names = list(dict.fromkeys(str(arm) for arm, status in arms if status != "retired"))
    is_sticky = people is not None and people.kept is not None
    held = "" if waits is None else f" for longer than {length_words(waits)}"
    pseudonym = "" if people is None else "a pseudonym of you and how often we learned from you, "
    parts = [
        "INFORMATION FOR PARTICIPANTS",
        f"Name of the trial: {name or session.campaign}. {datetime.now(UTC):%Y-%m-%d}.",
        f"What this is. We compare {len(names)} options: {', '.join(names[:20])}. A computer "
        "program chooses which one you get. It learns from how earlier participants did, so that "
        "more people get what works better.",
        "What we record. Which option you got, when, and how it went for you (your outcome), as "
        f"{'a number' if rail is None else f'two numbers, one of them for {rail.name}'}."
        f"{' If you come back, you get the same option again.' if is_sticky else ''}",
        protection_words(session),
        "What is not hidden. That you took part, when, which option you got, and what we find out "
        "about people in general. "
        + (
            "Also whether we got your outcome."
            if not session._hides_answers
            else "Whether we got your outcome is hidden, too."
        ),
        "Who sees your outcome. "
        + (
            f"Our own server gets it, and adds it to a sum. It does not keep single outcomes{held}."
            if guarantee is None or guarantee.trust == "central"
            else "Nobody. Your own device changes it at random before it is sent."
        ),
        "How long things are kept. Sums of outcomes until they are published with noise or thrown "
        f"away; {pseudonym}the list of choices, without outcomes, as long as the trial is kept; "
        "published numbers for ever.",
    ]
    if isinstance(policy, ContextualPolicy):
        known = policy.feature_names or (f"{policy.features} numbers",)
        kept = ", and beside those of many others for longer" if policy.kept_contexts else ""
        parts.append(
            f"What else we know of you. The program chooses by it: {', '.join(known)}. Unlike your "
            f"outcome, this is not hidden. It is kept until we get your outcome{kept}."
        )
    if groups := list(segments):
        parts.append(
            "Your group. The program learns separately for each group of people, such as "
            f"{', '.join(groups[:20])}. Which one you are in is not hidden."
        )
    if people is not None and session._tables.chosen is None:
        span = "" if people.span is None else f" in the running {people.span}"
        parts.append(
            f"If you change your mind. Tell us: from then on we learn nothing more from you{span}. "
            "Outcomes that are in a sum already stay in it, where nobody can find yours."
        )
    if holdout is not None:
        parts.append(
            f"Not for everybody. A share of {float(holdout):g} of people, drawn by lot, gets one "
            "option all the time, whatever was learned. Who they are is not hidden."
        )
    asks = session.responsible or "the people who gave you this page"
    parts.append(f"Questions? Ask {asks}.")
    return "\n\n".join(fill(part, WIDTH) for part in parts) + "\n"


def protection_words(session: Session) -> str:
    """How an answer is protected, for everybody to understand."""
    guarantee, (cap, span) = session.guarantee, cap_and_span(session)
    if guarantee is None:
        return (
            "How your outcome is protected. It is not: from the program's choices somebody may be "
            "able to find it out."
        )
    text = (
        "How your outcome is protected. The program adds random noise before it learns anything. "
        "So nobody who sees all of its choices and all published numbers can be sure of your "
        "outcome, even if they know everybody else's."
    )
    if guarantee.measure == "pure" and guarantee.epsilon is not None:
        text += f" In numbers: {odds_words(float(guarantee.epsilon))}."
    if guarantee.unit == "user":
        each = "" if span is None else f" in each {span}"
        if cap == 1:
            text += f" We learn from you once at most{each}."
        else:
            text += (
                f" We learn from you at most {cap:,} times{each}; this holds for all these times "
                "together."
            )
        if span is not None:
            text += " If you take part for longer, the protection gets weaker each time."
    else:
        text += (
            " This is about one outcome. Several outcomes of one person are each protected like "
            "this, and all of them together less."
        )
    if guarantee.noise != "secure":
        text += " WARNING: this is a test with simulated noise, which protects nobody."
    return text


def guarantee_words(session: Session) -> str:
    """The guarantee, and what it means."""
    guarantee, (_, span) = session.guarantee, cap_and_span(session)
    if guarantee is None:
        return "Guarantee: NONE. This policy is not private: its decisions may reveal a reward."
    if guarantee.measure == "pure":
        other = "one reward been another"
        if guarantee.unit == "user":
            window = "" if span is None else f" in one window of {span}"
            other = f"all rewards of one user{window} been others"
        elif is_several(session):
            other = "all rewards of one round been others"
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


def price_words(session: Session) -> str:
    """What one round costs, and what a user pays in all."""
    guarantee, (cap, span) = session.guarantee, cap_and_span(session)
    each = session._vault.guarantee
    if guarantee is None or each is None:
        return ""
    one, power = figure(each), "" if each.measure == "pure" else "²"
    if guarantee.unit == "round":
        return (
            f"Price: {one} for each round. Whoever appears in m rounds is protected in each of "
            f"them, and in all of them together at m{power} times that."
        )
    where, more = "in all", ""
    if span is not None:
        where = f"in each window of {span}"
        more = (
            " and window. The promise is for one window: over w windows a user who has learned "
            f"rounds in all of them pays w{power} times that, and no bound on w is promised"
        )
    return (
        f"Price: {one} for each learned round. A user has at most {cap:,} of them {where}, their "
        f"first ones, so {figure(guarantee)} per user{more}. Rewards of further rounds are not "
        "read."
    )


def figure(guarantee: Guarantee) -> str:
    """The number of a guarantee."""
    if guarantee.epsilon is not None:
        return f"ε = {printed(guarantee.epsilon)}"
    assert guarantee.rho is not None
    return f"ρ = {printed(guarantee.rho)}"


def people_words(
    people: int | None,
    in_window: int | None = None,
    where: str = "",
    caution: str | None = None,
) -> str:
    """How many users may be learned from. where: over what they are counted. caution: see
    `Register.caution`.
    """
    sentences = []
    if people is not None:
        void = "" if in_window is None else ", void ones included"  # see `Register.people`
        sentences.append(f"Users with learned rounds, answered or not{void}{where}: {people:,}.")
    if in_window is not None:
        sentences.append(f"Users learned from in the window that is open{where}: {in_window:,}.")
    if caution is not None:
        sentences.append(caution)
    return " ".join(sentences)


def choice_words(session: Session) -> str:
    """How arms are chosen beside the policy's plan, and what was done to them."""
    drawn, tables = session._state.assignment, session._tables
    periods, people = tables.periods, tables.people
    sentences = []
    if drawn is not None:
        sentences.append(f"Assignment: {drawn.words([name for name, _ in session.arms])}.")
        if elsewhere := session._current.elsewhere:
            sentences.append(
                f"Not so for the {elsewhere:,} people of recorded batches, who were assigned "
                "elsewhere."
            )
    if periods is not None:
        sentences.append(
            f"Shares stand still within each period of {length_words(periods.seconds)}; at its end "
            "all open blocks are released."
        )
    if people is not None and people.kept is not None:
        sentences.append(
            "A user gets the same arm at every visit, as long as it is in play; chance and least "
            "shares are about first visits. Who returns is learned from again up to the cap, where "
            "the policy takes eligible= and there are no periods, and so counts more in a mean."
        )
    if session.policy.chooses:
        sentences.append(
            "Arms may be added, paused or retired, and a decision may be restricted to some arms. "
            "This is public and costs no privacy, provided that nobody does it because of rewards "
            "that they saw elsewhere."
        )
    events = [event for event in session.events if event.what != "overdue"]
    if events:
        which = "Events" if len(events) <= NEWEST else f"The newest {NEWEST} events"
        done = [
            f"{what} {'open blocks' if arm is None else f'arm {arm}'} after {asked:,} decisions"
            for what, arm, asked, _ in events[-NEWEST:]
        ]
        sentences.append(f"{which}: {'; '.join(done)}.")
    return " ".join(sentences)


def reward_words(session: Session) -> str:
    """The range of rewards, and how they are held."""
    guarantee, ranged = session.guarantee, session.rewards
    words, held = "numbers in [0, 1]" if ranged is None else ranged.words, ""
    if guarantee is not None:
        steps = guarantee.grid.steps
        if steps == 1 and ranged is None:
            return "0 or 1; a number between is held as one of them"
        ends = "as one of its two ends" if steps == 1 else f"in steps of 1/{steps:,} of that range"
        held = f"; held {ends}"
    return words + held


def closing_words(session: Session) -> str:
    """How the session was closed."""
    closing, until = session.closed, session.closes_at
    if closing is None:
        return ""
    sentences = [f"Closed: {closing.why}." if closing.why else "Closed."]
    if not closing.is_done:
        when = "" if until is None else f" until {time_words(until)}"
        sentences.append(f"Answers are waited for{when}.")
    if closing.read:
        sentences.append(
            "What was open was released once where that says something of means, as a first and "
            "only reading, and dropped unread elsewhere; the policy did not learn from it."
            if closing.is_done
            else "What is open then is released once where that says something of means, and "
            "dropped unread elsewhere; the policy does not learn from it."
        )
    else:
        was = "was" if closing.is_done else "is"
        sentences.append(f"What {was} open {was} never read.")
    if closing.winner is not None:
        winner = arm_name(session, session._name(closing.winner))
        sentences.append(f"Further decisions show {winner}, and nobody learns from them.")
    return " ".join(sentences)


def time_words(seconds: float) -> str:
    """
    >>> time_words(0.0), time_words(1e15)
    ('1970-01-01 00:00 UTC', '1e+15 seconds')
    """
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, OSError, ValueError):  # a clock of the caller's own
        return f"{seconds:g} seconds"


def arms_words(session: Session) -> str:
    """The arms, and those among them that are out of play."""
    arms = session.arms
    names = [
        str(name) if status == "active" else f"{name} ({status})" for name, status in arms[:50]
    ]
    more = f" and {len(arms) - 50:,} more" if len(arms) > 50 else ""
    return f"Arms: {', '.join(names)}{more}."


def spent_in_all(session: Session, fences: int) -> Fraction | None:
    """Return `Session.spent`; after a fence all that is promised, for what was read and then lost
    is not known.
    """
    guarantee, spent = session._vault.guarantee, session.spent
    if not fences or guarantee is None or spent is None:
        return spent
    return max(spent, guarantee.cost)


def ledger_words(session: Session, fences: int) -> str:
    """What was read so far."""
    ledger, spent, several = session.ledger, spent_in_all(session, fences), is_several(session)
    each, lost = session._vault.guarantee, ""
    count = sum(line.releases for line in ledger)
    readings = f"{count:,} reading{'' if count == 1 else 's'}"
    number = sum(line.stop - line.start for line in ledger)
    whole = several and all(line.coordinate < 0 for line in ledger)
    read = f"the rewards of {number:,} rounds" if whole else f"{number:,} rewards"
    if spent is None:
        return f"Ledger: {readings} of {read}, without noise."
    one = "the rewards of any one round have" if several else "any one recorded reward has"
    rest, left = session._current.records - number, ""
    if rest > 0 and not several and (each is None or each.trust == "central"):
        fenced = ", or at a fence" if fences else ""
        where = f"in open blocks or dropped unread (a retired arm's{fenced})"
        if session.closed is not None and session.closed.is_done and not fences:
            where = "dropped unread"
        left = f" Recorded beside these: {rest:,}, {where}."
    unit = "ε" if each is None or each.measure == "pure" else "ρ"
    if fences:
        times = "once" if fences == 1 else f"{fences:,} times"
        lost = (
            f" The campaign was fenced {times}: its database was put back, or a release was cut "
            "off after its draw. What was read then and lost is not among these."
        )
    return (
        f"Ledger: {readings} with noise, of {read}, each read once at most, so that their costs do "
        f"not add up.{lost} The most that {one} cost in all readings together is {unit} = "
        f"{printed(spent)}.{left}"
    )
