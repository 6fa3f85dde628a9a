"""What a session's options come to: a policy whose words and mechanism agree, its budget where
people come back, the promise to each of them, and rewards in the user's units.
"""

import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any, TypeVar

import numpy as np

from dpbandits.core.contexts import by_name, refused_context
from dpbandits.core.errors import PrivacyWarning, RewardError, TooManyPendingError, coded
from dpbandits.core.inputs import (
    as_int,
    is_line,
    number,
    number_within,
    refuse_others,
    shown,
    whole_number,
)
from dpbandits.core.privacy import Guarantee
from dpbandits.mechanisms.base import Mechanism
from dpbandits.mechanisms.joint import GuardedBatches
from dpbandits.mechanisms.rewards import read_or_none
from dpbandits.policies.base import PrivatePolicy
from dpbandits.policies.contextual import ContextualPolicy
from dpbandits.policies.contract import Policy
from dpbandits.policies.joint_contexts import JointDPLinTS
from dpbandits.session.guardrail import Guardrail
from dpbandits.session.people import SIDES, Register
from dpbandits.session.ranges import Range
from dpbandits.session.state import LONGEST_WHY, Batch, Closing
from dpbandits.session.statement import odds_words

SegmentPart = TypeVar("SegmentPart")


def require_policy(policy: object) -> None:
    """Refuse what is no policy, and a class of them."""
    refuse_others(policy, Policy, "a policy", "dpbandits.DPKLUCB(arms=5, epsilon=1)")
    if isinstance(policy, JointDPLinTS):
        raise ValueError(
            f"{policy.name} keeps decisions private, and sessions and stores show them: play it in "
            "a dpbandits.JointDPSession, which shows releases only. Nothing was made."
        )


MOST_EPSILON = 10
"""Beyond it, a session for people's data warns: their odds may move by a factor of 22,026."""


def warn_about(policy: Policy, guarantee: Guarantee | None, rewards: Range | None = None) -> None:
    """Warn of a session with secure noise, which is for people's data, that promises them little or
    nothing, has nothing to decide, or holds numbers on a scale as its two ends.
    """
    if guarantee is None:
        message = (
            f"{policy.name} is not private: its decisions may reveal a person's reward, whatever "
            "the noise. dpbandits.recommend(arms=…, epsilon=1) returns a policy that is."
        )
    elif guarantee.noise == "secure" and (guarantee.epsilon or 0) > MOST_EPSILON:
        odds = odds_words(float(guarantee.epsilon or 0))
        message = f"ε = {guarantee.epsilon} promises little: {odds}. An ε of 1 or less is usual."
    elif policy.arms == 1 and policy.about.goal == "regret" and not hasattr(policy, "problem"):
        message = f"{policy.name} has one arm, so there is nothing to decide. Give it two or more."
    elif rewards is not None and (rewards.low, rewards.high) != (0, 1) and holds_ends_only(policy):
        message = (
            f"With grid=1 {policy.name} holds each reward as the nearer end of {rewards!r}: unless "
            "all rewards are ends, means and intervals are wrong. Give the policy a finer grid."
        )
    else:
        return
    warnings.warn(message, PrivacyWarning, stacklevel=3)


LONGEST_KEY = 200
"""Characters of the key of a call."""


def checked_why(why: object) -> str:
    """Return why a session is closed, as one line."""
    if isinstance(why, str) and (not why or is_line(why, LONGEST_WHY)):
        return why
    raise ValueError(
        f"Expected why={shown(why)} to be a text of at most {LONGEST_WHY} characters that can be "
        "printed. Nothing was changed."
    )


def checked_responsible(responsible: object) -> str | None:
    """Who answers for a session, as one line."""
    if responsible is None:
        return None
    if isinstance(responsible, str) and is_line(responsible, LONGEST_WHY) and responsible.strip():
        return str(responsible)
    raise ValueError(
        f"Expected responsible={shown(responsible)} to be a name and how to reach it, a text of at "
        f"most {LONGEST_WHY} characters that can be printed."
    )


def require_same(closing: Closing, winner: int | None, read: bool) -> None:
    """Refuse to close a session in another way than it was."""
    if (closing.winner, closing.read) != (winner, read):
        raise coded(
            "closed_otherwise",
            ValueError,
            "This session is closed already, with another winner= or read=. Nothing was changed.",
        )


def checked_rewards_range(rewards: Any, local: bool) -> Range | None:
    """The declared range of rewards; None: [0, 1]."""
    if rewards is None:
        return None
    if local:
        raise ValueError(
            "In the local model the users' devices hold the rewards: they scale them to [0, 1] "
            "before they report, so rewards= is not for this session."
        )
    what = "rewards= to be None, for [0, 1], or a range"
    refuse_others(rewards, Range, what, "dpbandits.Range(0, 10)")
    return rewards


def default_of(default: float | None, rewards: Range | None, policy: Policy) -> float:
    """The default for expired decisions, in the user's units, as a plain float. None: 0, or the
    worse end of a range that 0 is not in, or within which the policy holds nothing.
    """
    if rewards is None:
        return 0.0 if default is None else number_within(default, "default", 0, 1, of="a reward")
    if default is None:
        worst = rewards.high if rewards.minimise else rewards.low
        ends = rewards.low, rewards.high
        is_held = 0 in ends or (ends[0] < 0 < ends[1] and not holds_ends_only(policy))
        return 0.0 if is_held else float(worst)
    try:
        if not isinstance(default, (bool, np.bool_)):
            rewards.to_unit(default)
            return number(default)
    except RewardError:
        pass
    raise ValueError(
        f"Expected default={shown(default)} to be a reward in {rewards!r}: what enters "
        "where nobody answered."
    )


def holds_ends_only(policy: Policy) -> bool:
    """Whether each reward enters as the nearer end of its range, as those of 0 and 1 are held."""
    grid = (policy.randomizer() or policy.mechanism()).grid
    return grid.steps == 1 and grid.rounding == "nearest"


def require_held_default(policy: Policy, default: float, rail: Guardrail | None) -> None:
    """Refuse a default that would enter as another number.

    Args:
        default: in [0, 1]. rail: with a guardrail, whose default is a harm.

    Raises:
        ValueError: it would.
    """
    harm = 0.0 if rail is None else rail.default
    for value, what in ((default, "default="), (harm, "the guardrail's default=")):
        if 0.0 < value < 1.0 and holds_ends_only(policy):
            raise ValueError(
                f"Expected {what} to be an end of its range: with grid=1 {policy.name} holds each "
                "number as the nearer end, so whoever gave no answer would not count with what is "
                "declared. Give it a finer grid, or another default."
            )


def require_agreement(policy: Policy, kept: Guarantee | None) -> None:
    """Refuse a policy whose words and mechanism disagree.

    kept: what its mechanism (or its users' randomizer) promises.

    Raises:
        ValueError: they disagree.
    """
    said = policy.guarantee
    if said is not None and kept is not None and kept.refined_from == said.grid.steps:
        kept = replace(kept, grid=said.grid, refined_from=None)  # by a guardrail
    if said != kept:
        raise ValueError(
            f"{policy.name} says that it guarantees {said}; its mechanism promises "
            f"{kept}. Correct one of them."
        )
    privacy, declared = policy.about.privacy, "none"
    if kept is not None:
        declared = "local" if kept.trust == "local" else kept.measure
    if declared != privacy or (privacy == "local") is (policy.randomizer() is None):
        raise ValueError(
            f'{policy.name} says privacy="{privacy}" in `about`; what its mechanism or '
            f'randomizer keeps is "{declared}". Correct one.'
        )
    if (
        isinstance(policy, PrivatePolicy)
        and kept is not None
        and kept.claimed is None
        and (kept.epsilon or 0) > policy.budget
    ):
        raise ValueError(
            f"{policy.name} has a budget of {policy.budget}; its mechanism spends "
            f"{kept.epsilon}. Share the budget out, or give the "
            "mechanism claimed= where a publication says otherwise."
        )


def require_choice(policy: Policy, what: str) -> None:
    """Refuse what needs a policy that can choose among some of its arms.

    Raises:
        ValueError: this one cannot.
    """
    if not policy.chooses:
        can = (
            "Index policies can: DPRateIMED, for example, with which `beliefs()` names the best "
            "arm, too (dpbandits.list_policies() lists others), or your own over `IndexPolicy` of "
            "dpbandits.policies.base."
        )
        if hasattr(policy, "problem"):
            can = (
                "No policy on super arms can: where arms come or go, begin a session with a "
                "problem that has those in play."
            )
        raise coded(
            "arms_fixed",
            ValueError,
            f"{policy.name} cannot choose among some of its arms, so {what} is not for it; nothing "
            f"was done. {can}",
        )


def require_one_mean(policy: Policy) -> None:
    """Refuse a policy that decides by context, whose arms have no one mean.

    Raises:
        TypeError: it does.
    """
    if isinstance(policy, ContextualPolicy):
        raise coded(
            "by_context",
            TypeError,
            f"Expected a policy without contexts: with {policy.name} an arm's mean depends on the "
            "context. Use `session.predictions()`, whose means, effects and values are for given "
            "contexts.",
        )


def require_rounds(policy: Policy) -> None:
    """Refuse a user-defined policy whose arms cannot be drawn by chance.

    Raises:
        ValueError: its state does not say how many rewards of each arm were released.
    """
    if len(getattr(policy.init(), "rounds", ())) != policy.arms:
        raise ValueError(
            f"Expected the state of {policy.name} to have `rounds`, the number of released rewards "
            "of each arm, as dpbandits.policies.base.Statistics has it: assignment= and min_share= "
            "draw an arm that has none as long as its first batch is open."
        )


def require_clock(clock: object, *windows: object) -> None:
    """Check a clock.

    Args:
        windows: the options that need a clock; if given, one of them has to be set.

    Raises:
        TypeError: it is not callable.
        ValueError: nothing needs a clock.
    """
    if clock is None:
        return
    if not callable(clock):
        raise TypeError(
            f"Expected clock={shown(clock)} to be a function that returns the time, as a datetime "
            "or a number of seconds; for example time.time."
        )
    if windows and all(window is None for window in windows):
        raise ValueError(
            "Expected no clock=: this session has nothing to time. Make it with window=, "
            "attribution_window= or period=, too."
        )


def require_single_arms(policy: Policy) -> None:
    """Refuse `sticky=` for a policy that does not play one arm at a time.

    Raises:
        ValueError: it plays several, or weighs all of them.
    """
    if policy.about.feedback != "bandit":
        raise ValueError(
            f"{policy.name} does not play one arm at a time, so sticky= is not for it. Leave it "
            "out."
        )


OPTIONS_WITH_CONTEXTS: dict[str, str] = {
    "rewards": "",
    "default": "",
    "max_pending": "",
    "privacy_unit": "",
    "max_contributions": "",
    "window": "",
    "attribution_window": "",
    "eligible": "",
    "add_arm": "",
    "pause_arm": "",
    "resume_arm": "",
    "retire_arm": "",
    "drop_open": "",
    "close": "",
    "scope": "",
    "assignment": "its choice is a draw of its own",
    "min_share": "its choice is a draw of its own",
    "period": "an arm has no one mean that could be compared within periods",
    "guardrail": "its blocks hold one number a record",
    "sticky": "it chooses anew for each visit, by what is known of the visitor then",
    "segments": "it learns for all visitors together; make the segment a feature, with 1 in the "
    "visitor's own and 0 in the others",
    "holdout": "it releases no mean of an arm, with which the holdout's mean could be compared",
}
"""By option of a session or campaign: why policies that decide by contexts do not take it; empty
for those that they take. The guide lists the same.
"""


def require_for_contexts(policy: Policy, given: Iterable[str]) -> None:
    """Refuse what a policy that decides by contexts does not take.

    Args:
        given: names of options that are given.

    Raises:
        ValueError: the policy is such a one, and does not take one of them.
    """
    if not isinstance(policy, ContextualPolicy):
        return
    for option in given:
        why = OPTIONS_WITH_CONTEXTS.get(option, "")
        if why:
            raise ValueError(
                f"{policy.name} decides by contexts, and {option}= is not for it: {why}. Leave it "
                "out, or take a policy without contexts."
            )


def checked_contexts(policy: Policy, context: Any, count: int | None) -> list[Any] | None:
    """The contexts of the decisions that are asked for; None for a policy without contexts.

    Raises:
        ValueError: they are missing, not expected, or not as they have to be.
    """
    if not isinstance(policy, ContextualPolicy):
        if context is not None:
            raise refused_context(
                f"Expected no context=: {policy.name} decides by released rewards alone. Policies "
                "that decide by contexts: DPLinTS, DPLinUCB."
            )
        return None
    if count is None or context is None:
        return [policy.context(context)]
    context = by_name(context, policy.feature_names)
    is_several = isinstance(context, (list, tuple)) or (
        isinstance(context, np.ndarray) and context.ndim > 0
    )
    rows: Any = context if is_several else ()
    many = whole_number(count, "count")
    if len(rows) != many:
        raise refused_context(
            f"Expected context= to be {many} contexts, one for each decision, got {len(rows)}."
        )
    return [policy.context(row) for row in rows]


FINE = 1024
"""Steps of a grid that is fine enough for every guardrail."""


def checked_guardrail(rail: Any) -> Guardrail | None:
    """The guardrail that was given, if any."""
    if rail is not None:
        example = "dpbandits.Guardrail('refunds', limit=.02)"
        refuse_others(rail, Guardrail, "guardrail= to be None or a guardrail", example)
    return rail


def mechanism_with_guardrail(policy: Policy, rail: object) -> Mechanism:
    """What reads the rewards; with a guardrail, the harm beside them.

    Raises:
        ValueError: this policy's rewards are not read so.
    """
    rail = checked_guardrail(rail)
    if rail is None:
        return policy.mechanism()
    require_choice(policy, "guardrail=")
    if policy.randomizer() is not None:
        raise ValueError(
            f"In the local model users report their rewards alone, so guardrail= is not for "
            f"{policy.name}."
        )
    least = min(FINE, math.ceil(1.0 / max(rail.limit, 1.0 / FINE)))
    if 1 < getattr(policy, "grid", FINE) < least:
        raise ValueError(
            f"Expected grid=1, for rewards and harms of 0 and 1, or grid= of at least {least:,} "
            f"steps with limit={rail.limit:g}; got {policy.grid}: a harm between two steps could "  # type: ignore[attr-defined]
            "be off by as much as the limit, and no arm near it would ever be paused."
        )
    return GuardedBatches(inner=policy.mechanism())


def require_recordable(policy: Policy, people: Register | None, waits: bool) -> None:
    """Refuse a session that has to make its decisions itself.

    Args:
        waits: whether answers count only once their time has passed.

    Raises:
        ValueError: it has to.
    """
    why = ""
    if policy.about.feedback != "bandit" or policy.reader.together:
        why = f"{policy.name} plays no single arms"
    elif isinstance(policy, ContextualPolicy):
        why = f"{policy.name} decides by contexts"
    elif policy.randomizer() is not None:
        why = "in the local model each person's device reports about a decision"
    elif people is not None:
        why = "privacy_unit='user' counts people as they ask"
    elif waits:
        why = "with attribution_window= an answer belongs to a decision that is waited for"
    if why:
        raise coded(
            "not_recordable",
            ValueError,
            f"Expected a session that takes outcomes of people who were assigned elsewhere; {why}. "
            "Ask for each decision, and tell its reward. Nothing was recorded.",
        )
    require_choice(policy, "record")


MOST_OUTCOMES = 100_000
"""Outcomes of one batch."""


def listed_outcomes(outcomes: object) -> list[Any]:
    """The outcomes of a batch, one a person; of (people, successes), successes first.

    Raises:
        RewardError: they are neither. They are not shown.
        ValueError: there are none, or too many.
    """
    known: Any = outcomes
    if type(outcomes) is tuple:
        counts = [as_int(each) for each in known]
        people, successes = counts if len(counts) == 2 else (None, None)
        if people is None or successes is None or not 0 <= successes <= people:
            raise RewardError(
                "Expected outcomes= to be a list of rewards, or for rewards of 0 and 1 a tuple "
                "(people, successes) of whole numbers with 0 <= successes <= people; got another "
                "tuple (not shown). Nothing was recorded."
            )
        require_few_outcomes(people)
        return [1.0] * successes + [0.0] * (people - successes)
    is_list = isinstance(outcomes, Iterable) and not isinstance(outcomes, (str, bytes, Mapping))
    listed = read_or_none(list, known) if is_list else None
    if listed is None:
        raise RewardError(
            "Expected outcomes= to be a list of rewards, one a person, or (people, successes); got "
            f"an object of type {type(outcomes).__name__}. Nothing was recorded."
        )
    require_few_outcomes(len(listed))
    return listed


def require_few_outcomes(people: int) -> None:
    """Refuse a batch without people, or one that would hold up all other calls."""
    if not 1 <= people <= MOST_OUTCOMES:
        raise coded(
            "outcomes_count",
            ValueError,
            f"Expected the outcomes of 1 to {MOST_OUTCOMES:,} people in one batch, got {people:,}. "
            "Record larger ones as several, each with a key of its own. Nothing was recorded.",
        )


def checked_batch_key(key: object) -> str:
    """The word by which a batch is known, as a digest."""
    if not isinstance(key, str) or not is_line(key, LONGEST_KEY) or not key.strip():
        raise ValueError(
            f"Expected key={shown(key)} to be a text of at most {LONGEST_KEY} characters, another "
            "one for each batch, such as 'blue, week 3': the call made again with it records "
            "nothing twice. Nothing was recorded."
        )
    return sha256(key.encode()).hexdigest()[:32]


def require_same_batch(known: Batch | None, batch: Batch) -> None:
    """Refuse the key of another batch."""
    if known != batch:
        raise ValueError(
            "Expected key= to be this batch's own: with this one a batch of another arm or "
            "segment, or of another number of people, was recorded. Nothing was recorded."
        )


def too_many_pending(waiting: int, number: int, limit: int) -> TooManyPendingError:
    return TooManyPendingError(
        f"Expected at most max_pending={limit} decisions to wait for their rewards; {waiting} "
        f"do, and {number} more were asked for. "
        "Tell or expire some of `session.pending`, or make the session with a larger "
        "max_pending. None was made."
    )


def one_segment(parts: Mapping[str, SegmentPart], segment: object) -> SegmentPart:
    """What is known under a segment's name.

    Raises:
        ValueError: it was not declared.
    """
    part = parts.get(segment) if isinstance(segment, str) else None
    if part is None:
        names = ", ".join(map(repr, parts))
        raise ValueError(
            f"Expected segment={shown(segment)} to be one of the declared segments: {names}. "
            "None was made."
        )
    return part


def checked_segments(segments: object) -> tuple[str, ...]:
    """Names of segments.

    Raises:
        ValueError: none, or one twice, or they are the two sides of a holdout.
    """
    if isinstance(segments, str) or not isinstance(segments, Iterable):
        raise ValueError(
            f"Expected segments={shown(segments)} to be a list of names, such as ['DE', 'FR']."
        )
    names = tuple(segments)
    fits = all(isinstance(n, str) and n.isprintable() and 0 < len(n) <= 100 for n in names)
    if not names or not fits or len(set(names)) < len(names) or set(names) == set(SIDES):
        raise ValueError(
            f"Expected segments={shown(segments)} to be names, at least one and each once, other "
            "than the two sides of a holdout."
        )
    return names
