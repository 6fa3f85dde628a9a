"""What a forecast is asked and what it says: a prior of the arms' rates, and a row for each policy
at each ε, as a table, a figure and a page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, final

import numpy as np

from dpbandits.core.inputs import MOST_ARMS, Floats, real_number, shown, whole_number
from dpbandits.core.privacy import as_fraction, printed_epsilon
from dpbandits.core.tables import Tabular, aligned, in_columns
from dpbandits.policies.contract import checked_arm_labels, refuse_unlisted_names
from dpbandits.session.ranges import Range

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EQUAL = "equal shares"
"""The label of an A/B test that gives every arm the same share of all visitors."""


class Foreseen(NamedTuple):
    """One policy at one ε. Losses are in the user's units, against the best arm for everybody; with
    `features=` for each visitor, with `lasting=` at each time.

    epsilon: None for what has no privacy. loss: its expectation over draws. error: its standard
    error, as `privacy_error` and `saved_error` are those of the next two. privacy: loss less that
    of the same policy without privacy, draw by draw; None for what has no privacy. saved: how much
    less is lost than by equal shares. q95, q99, worst: quantiles of the loss. leads: chance that
    the best arm is the one most shown by the end; by equal shares, that it has the highest mean
    then. named: visitors after which the best arm is named at 95 %, the median over draws; None
    where most draws never come to that. chance_named: chance that it is named by the end. width: of
    an arm's final interval at 95 %, on average over arms and draws. These three come from trials
    that are played; for what has no ε, in the local model, and where arms are not compared in
    pairs, from intervals at expected totals. These name later than pairs do, and the chance is
    then mostly 0 or 1. None where answers say nothing of means.
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
    chance_named: float | None = None
    width: float | None = None


HEADS = (
    "policy",
    "ε",
    "loss",
    "to privacy",
    "saved",
    "95 %",
    "99 %",
    "worst",
    "leads",
    "named",
    "width",
)
"""Titles of the columns of `cells_of_row`."""

MEANINGS = {
    "loss": "expected loss against the best arm for everybody (with features: for each visitor; "
    "with lasting: at each time)",
    "to privacy": "of that, what privacy costs: less the loss of the same policy without privacy",
    "saved": "how much less is lost than by an A/B test that gives all visitors equal shares",
    "95 %": "one trial in twenty loses more",
    "99 %": "one trial in a hundred loses more",
    "worst": "the worst of the draws",
    "leads": "chance that the best arm is shown most by the end (equal shares: has the best mean)",
    "named": "visitors until the best arm is named at 95 % (median; –: more than there are); and "
    "the chance that it is by the end (without ε, in the local model, and where arms are not "
    "compared in pairs: until intervals are apart, which is later)",
    "width": "of an arm's final interval at 95 %, on average",
}


FEWEST, BEYOND = 30, 10
"""Draws in all, and draws beyond a quantile, of which fewer are few."""

FEW = "~"
"""Stands before a figure that comes from few draws."""


def notes_of(draws: int, played_as: str = "") -> dict[str, str]:
    """What the signs in a table of so many draws say, and how rewards are played.

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
    return found | ({"rewards:": played_as} if played_as else {})


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
        "–" if row.width is None else f"{row.width:.2g}",
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
        "named": "" if row.chance_named is None else f"{100 * row.chance_named:.0f} %",
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


RateSpan = int | float | tuple[float, float]
"""A number, or a range: each draw is uniform in it."""

RATES = 2
"""Sets the stream of a draw's rates apart from the streams of its run."""


@final
@dataclass(frozen=True)
class Prior:
    """Expected rates in a sentence: base 3 %, the best +20 %, 4 arms. One arm has the base rate,
    one is the best, the others lie anywhere between. In each draw the arms come in a random
    order.

    Args:
        base: the rate of the arm in use today, a number or a range (low, high).
        best: by how much the best arm is better, relative to base: .2 is +20 %. A number or a
            range.
        arms: how many there are, the base and the best included; or their names, of which the
            first has the base rate and comes first in each draw.

    Raises:
        ValueError: a number out of its range.

    >>> Prior(base=.03, best=.2, arms=4).draw(np.random.default_rng(1)).max().round(6)
    np.float64(0.036)
    >>> Prior(base=.2, best=.5, arms=["usual", "new"]).draw(np.random.default_rng(1)).round(6)
    array([0.2, 0.3])
    """

    base: RateSpan
    best: RateSpan
    arms: int | Sequence[str] = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", checked_span(self.base, "base"))
        object.__setattr__(self, "best", checked_span(self.best, "best"))
        refuse_unlisted_names(self.arms)
        named = isinstance(self.arms, (list, tuple))
        arms: Any = checked_arm_labels(self.arms) if named else self.arms  # type: ignore[arg-type]
        many = whole_number(len(arms) if named else arms, "arms", 2, MOST_ARMS)
        object.__setattr__(self, "arms", arms if named else many)
        if span_ends(self.best)[0] < 0:
            raise ValueError(f"Expected best={shown(self.best)} to be at least 0: .2 is +20 %.")

    @property
    def labels(self) -> tuple[str, ...]:
        """The arms' names; empty if they have none."""
        return () if isinstance(self.arms, int) else tuple(self.arms)

    @property
    def size(self) -> int:
        """How many arms there are."""
        return self.arms if isinstance(self.arms, int) else len(self.arms)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Rates of all arms, shape (arms,)."""
        base = rng.uniform(*span_ends(self.base))
        best = base * (1.0 + rng.uniform(*span_ends(self.best)))
        others = rng.uniform(base, best, self.size - 2)
        if self.labels:
            return np.array([base, *rng.permutation(np.array([best, *others]))])
        return rng.permutation(np.array([base, best, *others]))


@dataclass(frozen=True)
class EachRate:
    """A number or a range for each arm."""

    spans: tuple[RateSpan, ...]
    labels: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        return len(self.spans)

    def draw(self, rng: np.random.Generator) -> Floats:
        return np.array([rng.uniform(*span_ends(span)) for span in self.spans])


def rates_given(
    rates: Prior | Sequence[RateSpan], arms: Sequence[str] | None = None
) -> Prior | EachRate:
    """What a caller says of the rates. arms: their names.

    Raises:
        ValueError: neither a prior nor a number or a range for each of two arms or more; or names
            of other arms than these.
    """
    if isinstance(rates, Prior):
        if arms is not None:
            raise ValueError(
                f"Expected arms={shown(arms)} in the prior, the arm of today first: "
                f"Prior(base=…, best=…, arms={shown(arms)})."
            )
        return rates
    if not isinstance(rates, (list, tuple, np.ndarray)) or len(rates) < 2:
        raise ValueError(
            f"Expected rates={shown(rates)} to be a list with a number or a (low, high) for each "
            "of two arms or more, or dpb.Prior(base=.03, best=.2, arms=4)."
        )
    if arms is not None and (not isinstance(arms, (list, tuple)) or len(arms) != len(rates)):
        raise ValueError(
            f"Expected arms={shown(arms)} to be a list of {len(rates)} names, one a rate."
        )
    spans = tuple(checked_span(rate, "rates") for rate in rates)
    return EachRate(spans, checked_arm_labels(arms or ()))


def drawn_means(prior: Prior | EachRate, ruler: Range, draws: int, seed: int) -> Floats:
    """The arms' means in [0, 1], a row a draw: shape (draws, arms). Draw d depends on (seed, d)
    only.

    Raises:
        ValueError: a rate outside the range of rewards, or a prior whose best arm is not the best.
    """
    if isinstance(prior, Prior) and (ruler.minimise or span_ends(prior.base)[0] < 0.0):
        raise ValueError(
            "Expected a list with a number or a (low, high) for each arm: in a Prior the best arm "
            "has the largest rate, and rates are positive. Here smaller or negative ones are meant."
        )
    rates = np.stack(
        [prior.draw(np.random.default_rng([seed, draw, RATES])) for draw in range(draws)]
    )
    low, high = float(ruler.low), float(ruler.high)
    if not ((rates >= low) & (rates <= high)).all():
        raise ValueError(
            f"Expected every rate to lie in [{low:g}, {high:g}], the range of rewards; one of "
            f"{float(rates[(rates < low) | (rates > high)][0]):.4g} was drawn (3 % is .03). "
            "Give other rates, or rewards=dpb.Range(low, high)."
        )
    means = (rates - low) / (high - low)
    return np.asarray(1.0 - means if ruler.minimise else means)


def span_ends(span: Any) -> tuple[float, float]:
    """The low and the high end."""
    return span if isinstance(span, tuple) else (float(span), float(span))


def checked_span(value: object, name: str) -> RateSpan:
    """A number, or a range of them."""
    if isinstance(value, (tuple, list)) and len(value) == 2:
        low, high = real_number(value[0]), real_number(value[1])
        if low is not None and high is not None and abs(low) + abs(high) < 1e100 and low <= high:
            return float(low), float(high)
    else:
        single = real_number(value)
        if single is not None and abs(single) < 1e100:
            return float(single)
    raise ValueError(
        f"Expected {name}={shown(value)} to be a number, or a range (low, high) with low <= high."
    )


@final
@dataclass(frozen=True, repr=False)
class Forecast(Tabular):
    """The expected loss of a trial: a row for each policy and ε; iterate over it.

    rows: policies, small ε first, then what they are compared with: the same without privacy, and
    equal shares. units: what losses are counted in. max_contributions: the most rounds in which one
    user is learned from, whom each ε is promised to; None: everybody comes once. played_as: how
    single rewards are played, in words.
    """

    rows: tuple[Foreseen, ...]
    visitors: int
    draws: int
    arms: int
    seed: int
    units: str
    about: str = field(default="", repr=False)
    max_contributions: int | None = None
    played_as: str = ""

    def __iter__(self) -> Iterator[Foreseen]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def row(self, policy: str, epsilon: float | str | Fraction | None = None) -> Foreseen:
        """The row of a policy at an ε.

        Args:
            policy: its name; "equal shares" for an A/B test.
            epsilon: one of those that were forecast; None: of what has no privacy.

        Raises:
            KeyError: there is none.
        """
        wanted = None if epsilon is None else float(as_fraction(epsilon, "epsilon"))
        for row in self.rows:
            if row.policy == policy and row.epsilon == wanted:
                return row
        found = ", ".join(repr((row.policy, row.epsilon)) for row in self.rows)
        raise KeyError(
            f"Nothing was forecast of {shown(policy)} at epsilon={shown(epsilon)}, but of {found}."
        )

    def _columns(self) -> dict[str, list[Any]]:
        return in_columns(self.rows, Foreseen)

    def __str__(self) -> str:
        cells: list[tuple[str, ...]] = [HEADS]
        for row in self.rows:
            cells += [cells_of_row(row, self.draws), errors_of_row(row, self.draws)]
        notes = [f"{head}: {meaning}" for head, meaning in MEANINGS.items()]
        notes += [f"{sign} {words}" for sign, words in notes_of(self.draws, self.played_as).items()]
        return "\n".join((self.title, aligned(cells), *notes))

    __repr__ = __str__

    @property
    def title(self) -> str:
        """
        >>> Forecast((), 1000, 10, 4, 0, "clicks").title
        'Expected loss in clicks, 1,000 visitors, 4 arms, 10 draws'
        """
        size = f"{self.visitors:,} visitors, {self.arms} arms, {self.draws:,} draws"
        k = self.max_contributions
        cap = "" if k is None else f", ε per user of at most {k} learned rounds (ε/{k} each)"
        return f"Expected loss in {self.units}, {size}{cap}"

    def within(
        self, loss: float, policy: str | None = None, of: Literal["loss", "privacy"] = "loss"
    ) -> Foreseen | None:
        """What ε can be afforded: of the rows that are expected to lose no more than `loss`, the
        one with the smallest ε (of several, the one that loses least); None if all lose more.

        Args:
            loss: the most that may be lost, in units of reward.
            policy: look at this one alone.
            of: "privacy" compares what is lost to privacy.
        """
        most = real_number(loss)
        if most is None or of not in ("loss", "privacy"):
            raise ValueError(
                f"Expected loss={shown(loss)} to be a number of {self.units}, and of={shown(of)} "
                "to be 'loss' or 'privacy'."
            )
        found = []
        for row in self.rows:
            lost = row.loss if of == "loss" else row.privacy
            asked = policy in (None, row.policy) and row.epsilon is not None
            if asked and lost is not None and lost <= most:
                found.append(row)
        return min(found, key=lambda row: (row.epsilon, row.loss)) if found else None

    def figure(self, stem: Path | str) -> tuple[Path, Path]:
        """Draw loss against ε; returns the files stem.png and stem.svg. Needs the `experiments`
        extra.
        """
        from dpbandits.plots import save

        return save(forecast_figure(self), Path(stem))

    def page(self, path: Path | str) -> Path:
        """Write one page of HTML with figure and table. Needs the `experiments` extra."""
        from dpbandits.pages import write_page

        with TemporaryDirectory() as folder:
            figure = self.figure(Path(folder) / "figure")[1].read_bytes()
        return write_page(
            Path(path),
            "forecast.html",
            title="What will privacy cost?",
            lead=self.title,
            figure=figure,
            heads=HEADS,
            meanings=MEANINGS | notes_of(self.draws, self.played_as),
            rows=[(row.epsilon is None, with_errors(row, self.draws)) for row in self],
            about=self.about,
            seed=self.seed,
        )


def forecast_figure(found: Forecast) -> Figure:
    """Draw expected loss against ε, a curve for each policy; what has no ε is a level line."""
    import matplotlib

    from dpbandits.plots import STYLE, blank, error_bars, legend, looks_of, mark_only

    groups: dict[str, list[Foreseen]] = {}
    for row in found:
        groups.setdefault(row.policy, []).append(row)
    styles = looks_of(
        {name: None if rows[0].epsilon is None else name for name, rows in groups.items()}
    )
    epsilons = sorted({row.epsilon for row in found if row.epsilon is not None})
    ends = [epsilons[0] / 1.15, epsilons[-1] * 1.15]
    with matplotlib.rc_context(STYLE):
        figure = blank(1, 1)
        ax = figure.subplots()
        for name, rows in groups.items():
            loss, look = [row.loss for row in rows], styles[name]
            if rows[0].epsilon is None:
                ax.plot(ends, loss * 2, color=look.colour, linestyle=look.dash)
            else:
                x = [row.epsilon for row in rows]
                error_bars(ax, x, loss, [row.error for row in rows], look)
        ax.set_xscale("log")
        ax.set_xlim(*ends)
        mark_only(ax, epsilons, printed_epsilon)
        ends = [row.loss + by * row.error for row in found for by in (-2, 2)]
        ax.set_ylim(1.12 * min(0.0, *ends), 1.12 * max(0.0, *ends) or 1.0)
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        ax.set_title(f"What {found.visitors:,} visitors are expected to lose")
        ax.set_ylabel(found.units)
        ax.set_xlabel("privacy budget ε (log scale); bars: 95 % intervals")
        legend(figure, styles, {name: rows[-1].loss for name, rows in groups.items()})
    return figure
