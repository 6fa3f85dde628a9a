"""What a local randomizer's report tells about the reward, exactly: the level that takes the
transcript's place in the local model.

A report made with noise is replayed for other rewards with the same noised values: it must come out
the same, and the loss is that of the values; for certain, if the report tells which they were. Of
one made with coins the whole law is computed. Every reward of a grid up to `FINE` steps is tried,
some of them against each other, and the others against the ends; of finer ones some.
"""

import math
import random
import time
from fractions import Fraction
from functools import partial
from itertools import permutations
from typing import Any, NamedTuple

from dpbandits.auditing.local.coin_law import ReportLaw, coin_law
from dpbandits.auditing.local.noised_report import (
    SOURCES,
    Recording,
    determined,
    recorded,
    report_price,
    same_again,
)
from dpbandits.auditing.report import LevelResult, Outcome
from dpbandits.core.errors import Changed, NotSteps
from dpbandits.core.privacy import printed
from dpbandits.mechanisms.randomizers import Randomizer

LEVEL = "report law"
COARSE = 16
"""Steps of a grid whose rewards are all tried against each other, with all noises."""

FINE = 4096
"""Steps of a grid of which every reward is made a report of at least once, and that report of
either end.
"""

REPEATS = 64
"""Replays of the same rewards that would show randomness which is not drawn from the noise
source.
"""

ERROR = 1e-12
"""Of the logarithm of a ratio of probabilities: far above what floats lose."""

LossValue = Fraction | float


class Finding(NamedTuple):
    """loss: of one reward, at most; None: not known. told: what is certain. sure: a loss above the
    claim is a failure.
    """

    loss: LossValue | None
    told: LossValue
    sure: bool
    evidence: str
    error: float = 0.0
    looked: tuple[int, int] | None = None  # rewards that were tried, and all of them


def report_law_level(randomizer: Randomizer, claim: Fraction | None = None) -> LevelResult:
    """The loss between any two rewards on the grid; of `width` rewards in one report, all moved at
    once.

    claim: by default the randomizer's own epsilon.
    """
    start, promise = time.perf_counter(), randomizer.promise()
    claim = promise.epsilon if claim is None else claim
    if claim is None:
        return LevelResult(
            LEVEL,
            "not applicable",
            evidence=f"It claims {promise.measure}, which promises no epsilon.",
        )
    try:
        found = everywhere(randomizer, look(randomizer, rewards(randomizer)))
    except NotSteps as error:
        found = Finding(None, 0.0, False, f"the law of its report is not computed: {error}")
    return report_verdict(found, randomizer.width, claim, time.perf_counter() - start)


def rewards(randomizer: Randomizer) -> list[int]:
    """In grid steps."""
    unit, half = randomizer.grid.steps, randomizer.grid.steps // 2
    if randomizer.grid.rounding == "bernoulli":
        return [0, unit]  # no other reward reaches the randomizer
    if unit <= COARSE:
        return list(range(unit + 1))
    some = random.Random(0).sample(range(unit + 1), 8)
    return sorted({0, 1, half - 1, half, half + 1, unit - 1, unit, *some})


def everywhere(randomizer: Randomizer, found: Finding) -> Finding:
    """The same of the rewards that were left out, as far as one report of each shows; and how many
    were tried of all.
    """
    unit, tried = randomizer.grid.steps, rewards(randomizer)
    of = 2 if randomizer.grid.rounding == "bernoulli" else unit + 1
    rest = sorted({*range(unit + 1)} - {*tried}) if len(tried) < of <= FINE + 1 else []
    done = len(tried)
    for steps in rest:
        if found.loss is None or found.loss == math.inf:
            return found
        run = recorded(randomizer, steps, 0)
        if not run.coins:  # the law of its coins takes long, and is not computed for every reward
            found, done = worse(randomizer, found, run), done + 1
    return found if found.loss is None else found._replace(looked=(done, of))


def worse(randomizer: Randomizer, found: Finding, run: Recording) -> Finding:
    """The finding, or what is found with this reward against either end, if that is worse."""
    points = sorted({0, run.steps, randomizer.grid.steps})
    if run.draws and found.loss is not None:
        try:
            if (
                report_price(
                    randomizer, run, [steps for steps in points if steps != run.steps]
                ).loss
                <= found.loss
            ):
                return found
        except Changed:
            pass  # said below, in full
    alone = look(randomizer, points)
    if alone.loss is None or found.loss is None or alone.loss <= found.loss:
        return alone if alone.loss is None else found
    return alone._replace(told=max(found.told, alone.told))


def look(randomizer: Randomizer, points: list[int]) -> Finding:
    """Which kind of report it is, and what it tells."""
    runs = [recorded(randomizer, steps, source) for source in range(SOURCES) for steps in points]
    if len({run.name for run in runs}) > 1:
        said = "the randomizer's name, which every report carries, is not always the same"
        return Finding(None, 0.0, False, said)
    if not all(same_again(randomizer, run) for run in runs * -(-REPEATS // len(runs))):
        return Finding(
            None,
            0.0,
            False,
            (
                "two reports of one reward with the same noise differ: it draws randomness that "
                "is not seen here"
            ),
        )
    for run in runs:
        other = next((other for other in runs if other.report != run.report), None)
        if not run.draws and not run.coins and other is not None:
            unit = randomizer.grid.steps
            pair = (
                f"{Fraction(run.steps, unit)}, and {Fraction(other.steps, unit)} can be reported "
                "otherwise"
            )
            return Finding(
                math.inf, math.inf, True, f"nothing is drawn for a reward of {pair}: no ε holds"
            )
    if any(run.draws for run in runs):
        return noise_finding(randomizer, points, runs)
    if any(run.coins for run in runs):
        return coin_finding(randomizer, points)
    return Finding(Fraction(0), 0.0, True, "the report is the same for every reward")


def noise_finding(randomizer: Randomizer, points: list[int], runs: list[Recording]) -> Finding:
    """Replays with the same noised values. Where they hide coins or noise of another kind, nothing
    is certain.
    """
    strange = {draw.family for run in runs for draw in run.draws} - {"laplace"}
    if strange:
        return Finding(
            None,
            0.0,
            False,
            f"it draws noise by {', '.join(sorted(strange))}, whose price is not known here",
        )
    try:
        prices = [
            report_price(randomizer, run, [steps for steps in points if steps != run.steps])
            for run in runs
        ]
    except Changed as error:
        # other noise may make the same report of it, in a way that nobody looked for
        return Finding(
            None, 0.0, False, f"{error}; whether other noise makes up for it, replays cannot say"
        )
    known = [determined(randomizer, run) for run in runs]
    told = max((p.told for p, sure in zip(prices, known, strict=True) if sure), default=Fraction(0))
    worst, unit = max(prices, key=lambda p: p.loss), randomizer.grid.steps
    hidden = "" if all(known) else ", of which the report hides a part, so at most"
    pair = f"a reward of {Fraction(worst.steps, unit)} against {Fraction(worst.other, unit)}"
    return Finding(worst.loss, told, all(known), f"noise on the reward{hidden}: {pair}")


def coin_finding(randomizer: Randomizer, points: list[int]) -> Finding:
    """The law of the report for each reward, and the largest log-ratio of any report between
    two.
    """
    laws = {steps: coin_law(partial(randomizer.randomise, steps)) for steps in points}
    ratio, one, other = max(
        (law_ratio(laws[one], laws[other]), one, other) for one, other in permutations(points, 2)
    )
    loss, unit = math.log(ratio) if ratio < math.inf else math.inf, randomizer.grid.steps
    pair = f"a reward of {Fraction(one, unit)} against {Fraction(other, unit)}"
    return Finding(
        loss,
        loss,
        True,
        (
            "coins, their switching points by bisection (what matters in less than 1/128 of a "
            f"coin may be missed): {pair}"
        ),
        ERROR,
    )


def law_ratio(one: ReportLaw, other: ReportLaw) -> LossValue:
    """The largest ratio of the chances of a report."""
    return max(
        chance / other[report] if other.get(report) else math.inf
        for report, chance in one.items()
        if chance
    )


def report_verdict(found: Finding, width: int, claim: Fraction, seconds: float) -> LevelResult:
    told = float(found.told * width)
    if found.loss is None:
        return LevelResult(LEVEL, "not applicable", evidence=found.evidence, seconds=seconds)
    loss, most = found.loss * width, claim + (Fraction(found.error) if found.error else 0)
    outcome: Outcome = (
        "passed" if loss <= most else "failed" if found.sure or told > most else "not applicable"
    )
    if loss == math.inf:
        return LevelResult(LEVEL, outcome, told, evidence=found.evidence, seconds=seconds)
    several = f", {width} at once," if width > 1 else ""
    evidence = f"{found.evidence}{several} costs {float(loss):.10g} of {printed(claim)}"
    details: dict[str, Any] = {"loss": str(loss), "loss_value": float(loss)}
    if found.looked is not None:
        evidence += f"; {found.looked[0]:,} of {found.looked[1]:,} rewards tried"
        details |= {"rewards_tried": found.looked[0], "rewards_of": found.looked[1]}
    return LevelResult(
        LEVEL, outcome, told, error=found.error, evidence=evidence, seconds=seconds, details=details
    )
