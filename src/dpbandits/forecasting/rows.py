"""One policy's forecast at one ε, and how it is printed: what is uncertain stands with ± two
standard errors, and what comes from few draws says so.
"""

from __future__ import annotations

from typing import NamedTuple

from dpbandits.core.privacy import printed_epsilon

EQUAL = "equal shares"
"""The label of an A/B test that gives every arm the same share of all visitors."""


class Foreseen(NamedTuple):
    """One policy at one ε. Losses are in the user's units, against the best arm for everybody.

    epsilon: None for what has no privacy. loss: its expectation over draws. error: its standard
    error, as `privacy_error` and `saved_error` are those of the next two. privacy: loss less that
    of the same policy without privacy, draw by draw; None for what has no privacy. saved: how much
    less is lost than by equal shares. q95, q99, worst: quantiles of the loss. leads: chance that
    the best arm is the one most shown by the end; by equal shares, that it has the highest mean
    then. named: visitors after which the best arm is named at 95 %, the median over draws, computed
    from expected totals; None where most draws never come to that.
    """

    policy: str
    epsilon: float | None
    loss: float
    error: float
    privacy: float | None
    saved: float
    q95: float
    q99: float
    worst: float
    leads: float
    named: int | None
    privacy_error: float | None
    saved_error: float


HEADS = ("policy", "ε", "loss", "to privacy", "saved", "95 %", "99 %", "worst", "leads", "named")
"""Titles of the columns of `cells_of_row`."""

MEANINGS = {
    "loss": "expected loss against the best arm for everybody",
    "to privacy": "of that, what privacy costs: less the loss of the same policy without privacy",
    "saved": "how much less is lost than by an A/B test that gives all visitors equal shares",
    "95 %": "one trial in twenty loses more",
    "99 %": "one trial in a hundred loses more",
    "worst": "the worst of the draws",
    "leads": "chance that the best arm is shown most by the end (equal shares: has the best mean)",
    "named": "visitors until the best arm is named at 95 % (median; –: more than there are)",
}


FEWEST, BEYOND = 30, 10
"""Draws in all, and draws beyond a quantile, of which fewer are few."""

FEW = "~"
"""Stands before a figure that comes from few draws."""


def notes_of(draws: int) -> dict[str, str]:
    """What the signs in a table of so many draws say.

    >>> list(notes_of(1000)), notes_of(200)["~"]
    (['±'], 'from few draws: of 200 about 2 lie above 99 %; more draws say it better')
    """
    found = {"±": "two standard errors of an expectation over the draws"}
    if draws < FEWEST:
        found["±"] += f"; from {draws} draws they are rough, too"
    beyond = [
        f"about {draws * share:g} lie above {name}"
        for name, share in (("95 %", 0.05), ("99 %", 0.01))
        if draws * share < BEYOND
    ]
    if beyond:
        found[FEW] = f"from few draws: of {draws} {', '.join(beyond)}; more draws say it better"
    return found


def cells_of_row(row: Foreseen, draws: int) -> tuple[str, ...]:
    """A row as text, a cell for each of `HEADS`. draws: from how many it comes."""
    rough = FEW if draws < FEWEST else ""
    q95, q99 = (FEW if draws * share < BEYOND else "" for share in (0.05, 0.01))
    return (
        row.policy,
        "–" if row.epsilon is None else printed_epsilon(row.epsilon),
        amount(row.loss),
        "–" if row.privacy is None else amount(row.privacy),
        amount(row.saved),
        q95 + amount(row.q95),
        q99 + amount(row.q99),
        amount(row.worst),
        f"{row.leads:.0%}".replace("%", " %"),
        "–" if row.named is None else f"{rough}{row.named:,}",
    )


def errors_of_row(row: Foreseen, draws: int) -> tuple[str, ...]:
    """Two standard errors of what a row says, a cell for each of `HEADS`; empty where there is
    none. That of a chance adds two draws of either kind, so that it is not 0 where all agree
    (Agresti and Coull 1998).
    """
    hits = (row.leads * draws + 2) / (draws + 4)
    leads = (hits * (1 - hits) / (draws + 4)) ** 0.5
    privacy = "" if row.privacy_error is None else give_or_take(row.privacy_error)
    found = {
        "loss": give_or_take(row.error),
        "to privacy": privacy,
        "saved": give_or_take(row.saved_error) if row.saved_error else "",
        "leads": f"±{200 * leads:.0f} %",
    }
    return tuple(found.get(head, "") for head in HEADS)


def give_or_take(error: float) -> str:
    """Two standard errors, with two digits.

    >>> give_or_take(.617), give_or_take(61.7)
    ('±1.2', '±123')
    """
    return f"±{2 * error:,.0f}" if 2 * error >= 10 else f"±{2 * error:.2g}"


def with_errors(row: Foreseen, draws: int) -> tuple[str, ...]:
    """A row as text, each cell with its error beside it."""
    pairs = zip(cells_of_row(row, draws), errors_of_row(row, draws), strict=True)
    return tuple(f"{cell} {error.replace('±', '± ')}".strip() for cell, error in pairs)


def amount(value: float) -> str:
    """A loss with three digits that say something.

    >>> amount(12345.6), amount(3.14159), amount(-0.01)
    ('12,346', '3.14', '-0.01')
    """
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
