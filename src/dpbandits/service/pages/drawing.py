"""Where lines, bands and marks of pictures lie. Templates write them as SVG."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from dpbandits.service.looks.trail import Moment

STYLES = 8
"""Colours with their dashes that the style sheet has; further arms begin anew."""

LONGEST = 16
"""Characters of a name in a picture."""

LINE = 15.0
"""Height of a line of text."""


class Tick(NamedTuple):
    """at: where. text: what is written there."""

    at: float
    text: str


class ArmCurve(NamedTuple):
    """One arm over releases. line, band: points as SVG reads them. end: the newest mean; name_at:
    where the name is written, in its height.
    """

    look: int
    label: str
    short: str
    line: str
    band: str
    end: tuple[float, float]
    name_at: float


class ChartPicture(NamedTuple):
    """A picture of curves. left, right, top, bottom: the frame they are drawn in."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    across: tuple[Tick, ...]
    upright: tuple[Tick, ...]
    curves: tuple[ArmCurve, ...]


class Scale(NamedTuple):
    """From values to places."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        kept = min(max(value, self.low), self.high)
        share = (kept - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self, most: int) -> tuple[Tick, ...]:
        return tuple(Tick(self(value), text) for value, text in round_values(*self[:2], most))


def picture_of(moments: Sequence[Moment], width: float, height: float) -> ChartPicture | None:
    """Means and intervals over releases; None: nothing was released that says anything of means."""
    if not any(arm.mean is not None for moment in moments for arm in moment.arms):
        return None
    left, right, top, bottom = 52.0, width - 120.0, 12.0, height - 40.0
    x = Scale(0.0, float(max(1, moments[-1].asked)), left, right)
    y = Scale(*value_range(moments), bottom, top)
    curves = [
        curve
        for arm in range(len(moments[-1].arms))
        if (curve := arm_curve(moments, arm, x, y)) is not None
    ]
    most = 6 if width > 500 else 3
    return ChartPicture(
        width, height, left, right, top, bottom, x.ticks(most), y.ticks(5), apart(curves, bottom)
    )


def value_range(moments: Sequence[Moment]) -> tuple[float, float]:
    """The newest intervals and all newer means, with some room; older intervals may reach out."""
    newest = [value for arm in moments[-1].arms for value in arm[2:5] if value is not None]
    later = moments[len(moments) // 3 :]
    means = [arm.mean for moment in later for arm in moment.arms if arm.mean is not None]
    low, high = min(newest + means), max(newest + means)
    room = 0.06 * (high - low) or 0.05 * (abs(high) or 1.0)
    return low - room, high + room


def arm_curve(moments: Sequence[Moment], arm: int, x: Scale, y: Scale) -> ArmCurve | None:
    known = [
        (x(moment.asked), *(y(value) for value in moment.arms[arm][2:5] if value is not None))
        for moment in moments
        if len(moment.arms) > arm and moment.arms[arm].mean is not None
    ]
    points = [point for point in known if len(point) == 4]
    if not points:
        return None
    label = moments[-1].arms[arm].label
    steps = stepped(points)
    at, mean = points[-1][:2]
    line = points_text([(x, mean) for x, mean, _, _ in steps])
    upper = [(x, high) for x, _, _, high in steps]
    lower = [(x, low) for x, _, low, _ in reversed(steps)]
    band = points_text([*upper, *lower])
    return ArmCurve(arm % STYLES, label, short_name(label), line, band, (at, mean), mean)


def stepped(points: Sequence[tuple[float, ...]]) -> list[tuple[float, ...]]:
    """What was known at each time: a value stands until the next release."""
    found = [points[0]]
    for point in points[1:]:
        if point[1:] != found[-1][1:]:
            found += [(point[0], *found[-1][1:]), point]
    return [*found, (points[-1][0], *found[-1][1:])]


def points_text(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)


def apart(curves: Sequence[ArmCurve], bottom: float) -> tuple[ArmCurve, ...]:
    """The curves with their names far enough from each other to be read."""
    placed, free = list[ArmCurve](), LINE
    for curve in sorted(curves, key=lambda each: each.name_at):
        free = max(free, curve.name_at)
        placed.append(curve._replace(name_at=free))
        free += LINE
    over = max(0.0, free - LINE - bottom)
    return tuple(curve._replace(name_at=curve.name_at - over) for curve in placed)


def short_name(label: str) -> str:
    """
    >>> short_name("a name that is rather long")
    'a name that is …'
    """
    return label if len(label) <= LONGEST else label[: LONGEST - 1] + "…"


def round_values(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Round numbers from low to high, `most` of them or a little less.

    >>> [text for _, text in round_values(0, 4200, 5)]
    ['0', '1,000', '2,000', '3,000', '4,000']
    """
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= rough)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [(at * step, f"{at * step + 0.0:,.{digits}f}") for at in range(first, last + 1)]


class Whisker(NamedTuple):
    """An arm's interval and mean on one line, in percent of the width. None: not known yet."""

    look: int
    low: float | None
    mean: float | None
    high: float | None


def whiskers(moment: Moment | None, arms: int) -> list[Whisker]:
    """The newest intervals, all on one scale."""
    if moment is None or not any(arm.mean is not None for arm in moment.arms):
        return [Whisker(arm % STYLES, None, None, None) for arm in range(arms)]
    x = Scale(*value_range([moment]), 0.0, 100.0)
    return [
        Whisker(at % STYLES, *(None if value is None else x(value) for value in (low, mean, high)))
        for at, (_, _, mean, low, high, _) in enumerate(moment.arms)
    ]
