"""Guarantees as data: what is promised, what was read, and the sum of the ledger. All numbers are
exact fractions.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Literal, NamedTuple

from dpbandits.core.inputs import shown, whole_number

Measure = Literal["pure", "zCDP"]
NoiseKind = Literal["secure", "simulated"]
Real = int | float | str | Fraction | Decimal


LARGEST = 10**100
"""The largest price. Nobody needs a larger one, and its products with counts and scales are still
floats.
"""


def as_fraction(value: Real, name: str) -> Fraction:
    """The positive exact number a user meant: `0.1` is one tenth, not the binary float next to it.

    Raises:
        ValueError: `value` is not a finite number above 0, or it is larger than anybody can use.
    """
    try:
        exact = read_exactly(value)
    except (ValueError, ZeroDivisionError):
        raise ValueError(
            f"Expected {name}={shown(value)} to be a finite number > 0, for example {name}=1 or "
            f"{name}='1/10'."
        ) from None
    if abs(exact) > LARGEST:
        raise ValueError(
            f"Expected {name} to be > 0 and at most 1e100, got a number of more digits."
        )
    if exact <= 0:
        raise ValueError(
            f"Expected {name}={value} to be > 0; a policy without privacy is another class (see "
            "dpbandits.list_policies())."
        )
    return exact


def read_exactly(value: object) -> Fraction:
    """The exact number that a number, or its text, stands for. A float stands for the decimal that
    it is written as.

    Raises:
        ValueError, ZeroDivisionError: it does not stand for a number, or the number has so many
            digits that reading it would take too long.
    """
    return (
        Fraction(value)
        if isinstance(value, (int, Fraction)) and type(value) is not bool
        else Fraction(spelled(value))
    )


def spelled(value: object) -> str:
    """A number's text, if it can be read quickly: a few characters can name a number of millions of
    digits. Spaces beside the slash are refused, as devices do; Python does so up to 3.11 only.
    """
    text = repr(value) if type(value) is float else str(value)
    exponent = text.lower().partition("e")[2]
    numerator, _, denominator = text.strip().partition("/")
    spaced = numerator != numerator.rstrip() or denominator != denominator.lstrip()
    if len(text) > 4000 or len(exponent) > 5 or spaced:
        raise ValueError
    return text


SHORT = 9
"""Characters up to which a number is printed exactly."""


def printed(value: Fraction) -> str:
    """A positive number of a guarantee as text that never says less: exact where that is short,
    else six digits, rounded up.

    >>> printed(Fraction(1, 10)), printed(Fraction(1, 3))
    ('0.1', '1/3')
    >>> printed(Fraction(10000004, 10**7)), printed(Fraction(123456789, 10**9 + 7))
    ('1.0000004', '0.123457')
    """
    decimal = Context(prec=SHORT).divide(Decimal(value.numerator), Decimal(value.denominator))
    for text in (f"{decimal.normalize():f}", f"{decimal.normalize()}"):
        if len(text) <= SHORT and Fraction(text) == value:
            return text
    if len(str(value)) <= SHORT:
        return str(value)
    return f"{float(above(value)):g}"


def printed_epsilon(epsilon: float) -> str:
    """An ε that results keep as a float, as `printed` says it.

    >>> printed_epsilon(0.1), printed_epsilon(1.0000004)
    ('0.1', '1.0000004')
    """
    return printed(as_fraction(epsilon, "epsilon"))


def above(value: Fraction) -> Decimal:
    """The least number of six digits that is not below `value`."""
    return Context(prec=6, rounding=ROUND_CEILING).divide(
        Decimal(value.numerator), Decimal(value.denominator)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The public fixed-point grid on which rewards are put before they are added. It is part of the
    guarantee.

    steps: grid steps per unit of reward; 1 is right for 0/1 rewards (least noise), more for
        fractional ones.
    rounding: "nearest" grid point, or "bernoulli": a coin with the reward's value as its bias (mean
        kept, always 0 or 1).
    """

    steps: int = 1024
    rounding: Literal["nearest", "bernoulli"] = "nearest"

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "steps", whole_number(self.steps, "grid", 1, 2**20, of="steps per unit of reward")
        )
        if self.rounding not in ("nearest", "bernoulli"):
            raise ValueError(
                f"Expected rounding={shown(self.rounding)} to be 'nearest' or 'bernoulli'."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """What the whole sequence of decisions promises about any one round's reward, until the end of
    time; or about all rewards of one user.

    unit: "user" where people come back; `people` then says how many of their rounds are learned
        from.

    zero_out: a smaller epsilon, if one is proved for comparing a round only with a round whose
        rewards are all 0.

    The text of a guarantee shows short numbers exactly and rounds the others up; its repr shows
    exact fractions. A policy without privacy has no guarantee: it says `None`, never 0.
    """

    measure: Measure
    epsilon: Fraction | None = None
    rho: Fraction | None = None
    zero_out: Fraction | None = None
    claimed: Fraction | None = None  # what the publication says, where that differs from what holds
    unit: Literal["round", "user"] = "round"
    people: str = ""
    neighbours: Literal["replace"] = "replace"
    trust: Literal["central", "local"] = "central"
    noise: NoiseKind | None = None  # None until a host has chosen
    grid: Grid = Grid()
    refined_from: int | None = None  # grid steps that were asked for, where the noise needs more
    proof: str = ""
    public: tuple[str, ...] = ("decisions", "number and time of asks, tells and expiries")

    @property
    def cost(self) -> Fraction:
        """The one number the ledger must add up to: epsilon, or rho under zCDP."""
        cost = self.epsilon if self.measure == "pure" else self.rho
        if cost is None:
            raise ValueError(f"A {self.measure} guarantee without its number is no guarantee.")
        return cost

    def __str__(self) -> str:
        letter = "ε" if self.measure == "pure" else "ρ-zCDP, ρ"
        text = (
            f"{letter} = {printed(self.cost)} per {self.unit} "
            f"({self.people or f'{self.neighbours}-one'}), "
            f"{self.trust} trust"
        )
        text += f", {self.noise} noise" if self.noise else ", noise not chosen yet"
        if self.zero_out is not None and self.zero_out < self.cost:
            text += f"; {printed(self.zero_out)} under zero-out"
        if self.claimed is not None and self.claimed != self.cost:
            text += f"; the publication claims {printed(self.claimed)}"
        if self.refined_from is not None:
            text += f"; grid={self.grid.steps:,}, refined from {self.refined_from:,}"
        return text


class Entry(NamedTuple):
    """One line of the ledger: rounds [start, stop) of a coordinate's own clock were read, each
    once.

    cost: what one such reading costs a record for ever; None if it is read without noise.
    releases: the number of consecutive releases, each of its own rounds, that the line stands for.
    width: the number of coordinates in which one record may be read, each at that cost (the arms of
        a super arm).
    """

    coordinate: int
    start: int
    stop: int
    cost: Fraction | None
    releases: int = 1
    width: int = 1


def entries_of(ledger: Iterable[Entry]) -> Iterable[Entry]:
    """Check that this is a ledger, and return its entries.

    Raises:
        TypeError: something in it is not an entry.
    """
    entries = tuple(ledger) if isinstance(ledger, Iterable) else (ledger,)
    if not all(isinstance(entry, Entry) for entry in entries):
        raise TypeError(f"Expected a ledger, the entries of session.ledger, got {shown(ledger)}.")
    return entries


def spent(ledger: Iterable[Entry]) -> Fraction | None:
    """The exact cost to the record that pays most: disjoint readings cost their maximum,
    overlapping ones their sum.

    A record that enters up to `width` coordinates pays the sum of that many of the dearest ones.

    Returns 0 for an empty ledger and None if anything was read without noise.
    """
    edges: dict[int, list[tuple[int, Fraction]]] = {}
    width = 1
    for entry in entries_of(ledger):
        if entry.cost is None:
            return None
        width = max(width, entry.width)
        edges.setdefault(entry.coordinate, []).extend(
            [(entry.start, entry.cost), (entry.stop, -entry.cost)]
        )
    worst = []
    for marks in edges.values():
        level = highest = Fraction(0)
        for _, step in sorted(marks):
            level += step
            highest = max(highest, level)
        worst.append(highest)
    return sum(sorted(worst)[-width:], Fraction(0))
