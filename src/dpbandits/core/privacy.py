"""Guarantees, ledger entries and the sum of a ledger. All numbers are exact fractions."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from dpbandits.core.inputs import refuse_others, require_one_of, shown, whole_number

Measure = Literal["pure", "zCDP"]
NoiseKind = Literal["secure", "simulated"]
Real = int | float | str | Fraction | Decimal


LARGEST = 10**100
"""The largest privacy parameter. Its products with counts and scales are still finite floats."""


def as_fraction(value: Real, name: str) -> Fraction:
    """Return the positive exact number that the user meant: `0.1` is one tenth, not the nearest
    binary float.

    Args:
        value: a number, or its text.
        name: the argument's name, for the error.

    Raises:
        ValueError: `value` is not a finite number above 0, or is above 1e100.
    """
    exact = finite_number(value, name, "a finite number > 0", "1/10")
    if exact <= 0:
        raise ValueError(
            f"Expected {name}={value} to be > 0; a policy without privacy is another class (see "
            "dpbandits.list_policies())."
        )
    return exact


def finite_number(
    value: object, name: str, kind: str = "a finite number", example: str = "-1/2"
) -> Fraction:
    """Return the exact number that the user meant, between -1e100 and 1e100.

    Args:
        value: a number, or its text.
        name: the argument's name, for the error.
        kind: what is expected, for the error.
        example: a text that is such a number, for the error.

    Raises:
        ValueError: `value` is no such number.
    """
    exact = read_exactly(value)
    if exact is None:
        raise ValueError(
            f"Expected {name}={shown(value)} to be {kind}, for example {name}=1 or "
            f"{name}='{example}'."
        )
    if abs(exact) > LARGEST:
        raise ValueError(f"Expected {name} to be {kind} up to 1e100 in size, got a larger one.")
    return exact


def read_exactly(value: object) -> Fraction | None:
    """Return the exact value of a number or of its text. A float means the decimal that it prints
    as. None if it is no number, or has too many digits to be read quickly.
    """
    plain: Any = value
    with suppress(ValueError, ZeroDivisionError):
        if not isinstance(value, (int, Fraction)) or type(value) is bool:
            plain = spelled(value)
        return Fraction(plain)
    return None


def spelled(value: object) -> str:
    """Return a number's text if it can be read quickly: a few characters can name a number of
    millions of digits.

    Spaces beside the slash are refused, as devices do. (Python refuses them up to 3.11 only.)
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
    """Format a positive number of a guarantee so that the text is never below the number.

    Short numbers are exact. Others are rounded up to six digits.

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
    """Format an ε that results keep as a float, in the same way as `printed`: that of 1/3 is 1/3.

    >>> printed_epsilon(0.1), printed_epsilon(1.0000004), printed_epsilon(1 / 3)
    ('0.1', '1.0000004', '1/3')
    """
    exact = as_fraction(epsilon, "epsilon")
    short = exact.limit_denominator(1_000)
    return printed(short if float(short) == epsilon else exact)


def above(value: Fraction) -> Decimal:
    """Return the least number of six digits that is at least `value`."""
    return Context(prec=6, rounding=ROUND_CEILING).divide(
        Decimal(value.numerator), Decimal(value.denominator)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The public fixed-point grid that rewards are rounded to before they are added. It is part of
    the guarantee.

    Args:
        steps: grid steps per unit of reward, 1 to 2^20. Use 1 for 0/1 rewards (least noise), more
            for fractional rewards.
        rounding: "nearest" rounds to the nearest grid point. "bernoulli" rounds to 0 or 1 with a
            coin whose bias is the reward, which keeps the mean.

    Raises:
        ValueError: an argument is outside its range.
    """

    steps: int = 1024
    rounding: Literal["nearest", "bernoulli"] = "nearest"

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "steps", whole_number(self.steps, "grid", 1, 2**20, of="steps per unit of reward")
        )
        require_one_of(self.rounding, "rounding", "nearest", "bernoulli")


def require_grid(grid: object) -> None:
    """Raise TypeError unless a mechanism's grid is a `Grid`."""
    refuse_others(grid, Grid, "grid= to be a dpbandits.Grid", "Grid(steps=1)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """The differential-privacy guarantee of a whole sequence of decisions.

    It covers any one round's reward, or all rewards of one user, and it never ends. `str()` shows
    short numbers exactly and rounds others up; `repr()` shows exact fractions. A policy without
    privacy has the guarantee `None`, never 0.

    Args:
        measure: "pure" (ε-DP) or "zCDP".
        epsilon: ε under "pure".
        rho: ρ under "zCDP".
        zero_out: a smaller ε, where one is proved against neighbours whose rewards in that round
            are all 0.
        claimed: ε that the publication claims, where it differs from the proved one.
        unit: what is protected: "round", or "user" where people come back.
        people: for the unit "user", how many rounds of one person are learned from, as text.
        neighbours: the neighbouring relation: one record is replaced.
        trust: "central" (the server sees rewards) or "local" (the server sees reports only).
        noise: "secure" or "simulated"; None until a session or simulation has chosen.
        grid: the grid that rewards are rounded to.
        refined_from: grid steps that the user requested, where the noise needs a finer grid.
        proof: name of the proof.
        public: what the guarantee treats as public.
        duty: what it rests on that nobody here can see; none by default.
    """

    measure: Measure
    epsilon: Fraction | None = None
    rho: Fraction | None = None
    zero_out: Fraction | None = None
    claimed: Fraction | None = None
    unit: Literal["round", "user"] = "round"
    people: str = ""
    neighbours: Literal["replace"] = "replace"
    trust: Literal["central", "local"] = "central"
    noise: NoiseKind | None = None
    grid: Grid = Grid()
    refined_from: int | None = None
    proof: str = ""
    public: tuple[str, ...] = ("decisions", "number and time of asks, tells and expiries")
    duty: str = ""

    @property
    def cost(self) -> Fraction:
        """The number that the ledger must add up to: ε, or ρ under zCDP."""
        cost = self.epsilon if self.measure == "pure" else self.rho
        if cost is None:
            raise ValueError(f"Expected a {self.measure} guarantee to have its number.")
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
        return f"{text}; {self.duty}" if self.duty else text


class Entry(NamedTuple):
    """One line of the ledger: records [start, stop) of one coordinate were released, each once.

    Args:
        coordinate: the arm, or -1 for whole records.
        start: the coordinate's first record in this line, counted from 0.
        stop: the record after its last one.
        cost: privacy cost of one such release to a record; None without noise.
        releases: number of consecutive releases, each of other records, that this line stands for.
        width: number of coordinates that one record may enter, each at that cost (the arms of a
            super arm).
        most: the most that the coordinates of one record cost together, where their costs differ;
            None: `width` times `cost`.
    """

    coordinate: int
    start: int
    stop: int
    cost: Fraction | None
    releases: int = 1
    width: int = 1
    most: Fraction | None = None


def entries_of(ledger: Iterable[Entry]) -> Iterable[Entry]:
    """Return a ledger's entries as a tuple.

    Raises:
        TypeError: something in it is not an entry.
    """
    entries = tuple(ledger) if isinstance(ledger, Iterable) else (ledger,)
    if not all(isinstance(entry, Entry) for entry in entries):
        raise TypeError(f"Expected a ledger, the entries of session.ledger, got {shown(ledger)}.")
    return entries


def spent(ledger: Iterable[Entry]) -> Fraction | None:
    """Return the exact privacy cost to the record that is charged most.

    Disjoint releases cost their maximum, overlapping ones their sum. A record that enters up to
    `width` coordinates is charged the sum of that many of the largest costs, and no more than
    `most` where no record was released twice.

    Args:
        ledger: entries, such as `session.ledger`.

    Returns:
        The cost; 0 for an empty ledger, None if anything was released without noise.

    Raises:
        TypeError: something in the ledger is not an entry.

    Example:
        >>> first, second = Entry(0, 0, 10, Fraction(1)), Entry(0, 10, 20, Fraction(1))
        >>> spent([first, second])
        Fraction(1, 1)
    """
    edges: dict[int, list[tuple[int, Fraction]]] = {}
    width, caps, largest = 1, set[Fraction | None](), dict[int, Fraction]()
    for entry in entries_of(ledger):
        if entry.cost is None:
            return None
        width = max(width, entry.width)
        caps.add(entry.most)
        largest[entry.coordinate] = max(entry.cost, largest.get(entry.coordinate, entry.cost))
        edges.setdefault(entry.coordinate, []).extend(
            [(entry.start, entry.cost), (entry.stop, -entry.cost)]
        )
    worst = {}
    for coordinate, marks in edges.items():
        level = highest = Fraction(0)
        for _, step in sorted(marks):
            level += step
            highest = max(highest, level)
        worst[coordinate] = highest
    together = sum(sorted(worst.values())[-width:], Fraction(0))
    known = [cap for cap in caps if cap is not None]
    once = worst == largest and len(known) == len(caps) > 0
    return min(together, max(known)) if once else together
