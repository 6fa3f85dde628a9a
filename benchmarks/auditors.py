"""Compare bets with the testers of other auditors on shared examples.

`python -m benchmarks.auditors [--seeds 3] [--most 16000] [--out FILE]`

Every tester is given the same two neighbouring tables of an example, which are fixed here, and runs
on them. What is compared is the evidence, and how many runs it takes to refute epsilon = 1 with an
error of 1e-6 at most; other auditors look for tables in ways of their own.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import beta

from benchmarks.controls import odd
from benchmarks.controls.known import MaxWithValue, Questions, half
from benchmarks.table import Row, write
from dpbandits.auditing.adversary import learn
from dpbandits.auditing.evidence import ALPHA, bets_of, certified, no_bets
from dpbandits.auditing.subjects import MechanismSubject
from dpbandits.core.inputs import Floats
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import BinaryTree, LazyForgetful, Mechanism, NoisyMax

CLAIM = 1.0

ONE: Any = {"epsilon": Fraction(1), "grid": Grid(steps=1)}


class Example(NamedTuple):
    """A mechanism that claims 1, and the two tables that it is played on, shape (rounds, arms)."""

    name: str
    truth: str
    mechanism: Mechanism
    a: Floats
    b: Floats


def stream(name: str, truth: str, mechanism: Mechanism, a: list[int], b: list[int]) -> Example:
    """An example of one arm."""
    tables = (np.array(each, np.float64)[:, None] for each in (a, b))
    return Example(name, truth, mechanism, *tables)


def fed(made: Callable[[], Any]) -> Mechanism:
    mechanism: Mechanism = made().mechanism()
    return mechanism


ODD = {control.name: control.make for control in (*odd.WRONG, *odd.RELEASES, *odd.WRONG_MEMORIES)}
SUM = LazyForgetful(**ONE)
FIRST, OTHER = [[1.0, 0.0, 0.0]], [[0.0, 1.0, 1.0]]

EXAMPLES = (
    stream("one noised sum", "1", SUM, [1], [0]),
    stream("binary tree", "1", BinaryTree(leaves=7, **ONE), [1] * 7, [0] + [1] * 6),
    Example(
        "noisy maximum, permute and flip",
        "1",
        NoisyMax(selection="permute-and-flip", **ONE),
        np.array(FIRST),
        np.array(OTHER),
    ),
    stream("half of the noise", "2", half(SUM), [1], [0]),
    Example(
        "noisy maximum with its value, Laplace",
        "1.5",
        MaxWithValue(**ONE),
        np.ones((1, 3)),
        np.zeros((1, 3)),
    ),
    Example(
        "noisy maximum with its value, exponential",
        "none",
        MaxWithValue(one_sided=True, **ONE),
        np.ones((1, 3)),
        np.zeros((1, 3)),
    ),
    stream(
        "sparse vector without noise on its questions",
        "none",
        Questions(query=None, most=None, **ONE),
        [0] * 8,
        [1] + [0] * 7,
    ),
    stream(
        "sparse vector that never stops",
        "above 1",
        Questions(most=None, **ONE),
        [0] * 8,
        [1] + [0] * 7,
    ),
    stream(
        "noise used twice",
        "none",
        fed(ODD["noise used twice, three releases later"]),
        [0] * 4,
        [0, 0, 0, 1],
    ),
    stream(
        "exact with chance 1/1,000", "none", fed(ODD["marked and exact with chance 10⁻³"]), [1], [0]
    ),
    stream(
        "Laplace noise in floating point",
        "none",
        fed(ODD["Laplace noise in floating point"]),
        [1],
        [0],
    ),
    stream("noise cut at three scales", "none", fed(ODD["noise cut at three scales"]), [1], [0]),
)


def samples(example: Example, runs: int, seed: int) -> tuple[Floats, Floats]:
    """Half of the runs on either table."""
    subject = MechanismSubject(example.mechanism)
    a, b = (
        subject.outcomes(table, runs // 2, 2 * seed + side)
        for side, table in enumerate((example.a, example.b))
    )
    return a, b


def halves(a: Floats) -> tuple[Floats, Floats]:
    return a[: len(a) // 2], a[len(a) // 2 :]


# DP-Sniper (Bichsel, Steffen, Bogunovic, Vechev 2021): a logistic regression learns from half of
# the runs which table an outcome is of; the event is that its probability is above a threshold,
# with a coin for ties, so that it has probability c on the other table; both probabilities are
# bounded by Clopper and Pearson on the other half. c was 0.01 there, with millions of runs; here it
# is the best of several on the first half.

SHARES = (0.01, 0.03, 0.1, 0.3, 0.5)


class Scaled(NamedTuple):
    """Columns of mean 0 and deviation 1; what varies not is 0."""

    mean: Floats
    deviation: Floats

    def __call__(self, rows: Floats) -> Floats:
        scaled: Floats = np.nan_to_num((rows - self.mean) / self.deviation)
        return scaled


def scaled_by(rows: Floats) -> Scaled:
    deviation = rows.std(axis=0)
    return Scaled(rows.mean(axis=0), np.where(deviation > 0, deviation, 1.0))


def logistic(a: Floats, b: Floats) -> Callable[[Floats], Floats]:
    """The log-odds of the first table."""
    scale = scaled_by(np.concatenate([a, b]))
    rows = scale(np.concatenate([a, b]))
    first = np.concatenate([np.ones(len(a)), np.zeros(len(b))])

    def loss(weights: Floats) -> tuple[float, Floats]:
        odds = rows @ weights[1:] + weights[0]
        wrong = expit(odds) - first
        value = np.mean(np.logaddexp(0, odds) - first * odds) + 1e-4 * weights @ weights
        slope = np.concatenate([[wrong.mean()], rows.T @ wrong / len(rows)]) + 2e-4 * weights
        return float(value), slope

    found = minimize(loss, np.zeros(rows.shape[1] + 1), jac=True, method="L-BFGS-B").x
    return lambda outcomes: np.asarray(scale(outcomes) @ found[1:] + found[0])


def clopper_pearson(a: int, of_a: int, b: int, of_b: int) -> float:
    """A bound on ln(P/Q) that is wrong with probability ALPHA at most."""
    low = beta.ppf(ALPHA / 2, a, of_a - a + 1) if a else 0.0
    high = beta.ppf(1 - ALPHA / 2, b + 1, of_b - b) if b < of_b else 1.0
    return math.log(low / high) if low > 0 else 0.0


def counted(
    score: Callable[[Floats], Floats], a: Floats, b: Floats, learnt: Any, seed: int
) -> float:
    """The bound of the event that the runs that were learnt from like best."""
    rng, best = np.random.default_rng(seed), (-math.inf, 1, 0.0)
    for sign, (one, other) in ((1, learnt), (-1, learnt[::-1])):
        likely, unlikely = (
            sign * score(part) + 1e-9 * rng.random(len(part)) for part in (one, other)
        )
        for share in SHARES:
            bar = float(np.quantile(unlikely, 1 - share))
            hits = int((likely > bar).sum()), int((unlikely > bar).sum())
            best = max(best, (clopper_pearson(hits[0], len(one), hits[1], len(other)), sign, bar))
    _, sign, bar = best
    likely, unlikely = (
        sign * score(part) + 1e-9 * rng.random(len(part))
        for part in ((a, b) if sign > 0 else (b, a))
    )
    hits = int((likely > bar).sum()), int((unlikely > bar).sum())
    return clopper_pearson(hits[0], len(likely), hits[1], len(unlikely))


def sniper(example: Example, runs: int, seed: int) -> bool:
    (a, more_a), (b, more_b) = map(halves, samples(example, runs, seed))
    return counted(logistic(a, b), more_a, more_b, (a, b), seed) > CLAIM


# DP-Auditorium (Kong et al. 2023), its tester of the hockey-stick divergence: a network of one
# hidden layer learns from half of the runs the event that has the largest P - e^epsilon Q;
# Hoeffding's inequality bounds that on the other half.

HIDDEN, STEPS, BATCH, RATE = 32, 1_500, 256, 0.01


def network(a: Floats, b: Floats, seed: int) -> Callable[[Floats], Floats]:
    """Log-odds that are above 0 where a is likelier than b by e^CLAIM, learnt by Adam."""
    rng, scale = np.random.default_rng(seed), scaled_by(np.concatenate([a, b]))
    sides = scale(a), scale(b)
    weights = [
        rng.normal(0, 1 / math.sqrt(a.shape[1]), (a.shape[1], HIDDEN)),
        np.zeros(HIDDEN),
        rng.normal(0, 1 / math.sqrt(HIDDEN), HIDDEN),
        np.zeros(1),
    ]
    first, second = [np.zeros_like(w) for w in weights], [np.zeros_like(w) for w in weights]
    costs = np.repeat([-1.0, math.exp(CLAIM)], BATCH) / (1 + math.exp(CLAIM))
    for step in range(1, STEPS + 1):
        rows = np.concatenate([side[rng.integers(len(side), size=BATCH)] for side in sides])
        hidden = np.tanh(rows @ weights[0] + weights[1])
        odds = hidden @ weights[2] + weights[3]
        # cross entropy, in which a run of b weighs e^CLAIM as much as one of a
        slope = np.abs(costs) * (expit(odds) - (costs < 0)) / BATCH
        back = np.outer(slope, weights[2]) * (1 - hidden**2)
        slopes = [rows.T @ back, back.sum(axis=0), hidden.T @ slope, slope.sum(keepdims=True)]
        for at, each in enumerate(slopes):
            first[at] += 0.1 * (each - first[at])
            second[at] += 0.001 * (each**2 - second[at])
            fair = first[at] / (1 - 0.9**step), second[at] / (1 - 0.999**step)
            weights[at] = weights[at] - RATE * fair[0] / (np.sqrt(fair[1]) + 1e-8)
    return lambda outcomes: np.asarray(
        np.tanh(scale(outcomes) @ weights[0] + weights[1]) @ weights[2] + weights[3]
    )


def auditorium(example: Example, runs: int, seed: int) -> bool:
    (a, more_a), (b, more_b) = map(halves, samples(example, runs, seed))
    for one, other, ahead, behind in ((a, b, more_a, more_b), (b, a, more_b, more_a)):
        event = network(one, other, seed)
        found = (event(ahead) > 0).mean() - math.exp(CLAIM) * (event(behind) > 0).mean()
        spread = 1 / len(ahead) + math.exp(2 * CLAIM) / len(behind)
        if found > math.sqrt(math.log(2 / ALPHA) / 2 * spread):
            return True
    return False


# Ours.


def counting(example: Example, runs: int, seed: int) -> float:
    """The bound of our adversary's scores, counted as DP-Sniper counts."""
    (a, more_a), (b, more_b) = map(halves, samples(example, runs, seed))
    adversary = learn(a, b, runs)
    return counted(lambda rows: adversary(rows).astype(float), more_a, more_b, (a, b), seed)


def betting(example: Example, most: int, seed: int, claim: float = CLAIM) -> tuple[int, float]:
    """Runs until the claim is refuted, or all of them, those that were learnt from among them; and
    the largest bound.
    """
    every, rng = samples(example, 2 * most, seed), np.random.default_rng(seed)
    at, bets, bound = [50, 50], no_bets(), 0.0
    while sum(at) < most:
        known = [side[:n] for side, n in zip(every, at, strict=True)]
        adversary, lot = learn(known[0], known[1], 20 * sum(at)), max(40, int(0.3 * sum(at)))
        lot = min(lot, most - sum(at))
        on_a = int(rng.binomial(lot, 0.5))
        new = [
            side[n : n + more] for side, n, more in zip(every, at, (on_a, lot - on_a), strict=True)
        ]
        bets = bets + bets_of(adversary(new[0]), adversary(new[1]))
        at = [n + len(part) for n, part in zip(at, new, strict=True)]
        bound = max(bound, certified(bets))
        if bound > claim:
            break
    return sum(at), bound


FIXED: dict[str, Callable[[Example, int, int], bool]] = {
    "our adversary, counted": lambda *asked: counting(*asked) > CLAIM,
    "DP-Sniper": sniper,
    "DP-Auditorium": auditorium,
}
"""Testers of a number of runs that is fixed beforehand."""


def needed(example: Example, tester: str, most: int, seed: int) -> int | None:
    """The fewest runs that refute; None if `most` do not."""
    if tester == "bets":
        runs, bound = betting(example, most, seed)
        return runs if bound > CLAIM else None
    runs = 500
    while runs <= most:
        if FIXED[tester](example, runs, seed):
            return runs
        runs *= 2
    return None


MANY = (1_000, 4_000, 16_000, 64_000)
"""Runs, of what keeps its claim and uses all of it."""


def bounds(runs: int, bets: float, counts: float) -> Row:
    return Row(f"{runs:,} runs", f"bets {bets:.3f}; our adversary, counted {counts:.3f}", "", None)


def tight(seeds: int) -> list[Row]:
    """How much of one noised sum's epsilon = 1 is certified: the median of the seeds."""
    rows = list[Row]()
    for runs in MANY:
        both = [
            [betting(EXAMPLES[0], runs, seed, math.inf)[1], counting(EXAMPLES[0], runs, seed)]
            for seed in range(seeds)
        ]
        rows.append(bounds(runs, *np.median(both, axis=0).tolist()))
    return rows


def cell(found: list[int | None]) -> str:
    caught = sorted(runs for runs in found if runs is not None)
    if not caught:
        return "–"
    few = "" if len(caught) == len(found) else f" ({len(caught)} of {len(found)})"
    return f"{caught[len(caught) // 2]:,}{few}"


def refuted(example: str, truth: str, found: Mapping[str, str]) -> Row:
    cells = "; ".join(f"{tester} {runs}" for tester, runs in found.items())
    return Row(f"{example} (true ε: {truth})", cells, "", None)


REFUTED, BOUNDS = "Runs until ε = 1 is refuted", "How much of ε = 1 is certified of one noised sum"

NOTE = """\
With an error of 10⁻⁶ at most: the median of {seeds} seeds. –: {most:,} runs do not refute it.
(2 of 3): in so many seeds. The first three examples are right.
bets: dpbandits' adversary learns from all earlier runs, and bets are looked at after every lot.
our adversary, counted: it learns from half of the runs; Clopper-Pearson on the rest.
DP-Sniper: logistic regression, from half; Clopper-Pearson on the rest, best of five shares.
DP-Auditorium: a network (hockey-stick tester), from half; Hoeffding on the rest.
The last two are implemented after their papers, in benchmarks/auditors.py; they are not the
authors' programs. The three that count are tried with 500, 1,000, 2,000 ... runs; the first of
these that refutes is shown. All testers are given the same two tables of an example."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--most", type=int, default=16_000)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows = list[Row]()
    for example in EXAMPLES:
        found = {
            tester: cell([needed(example, tester, given.most, seed) for seed in range(given.seeds)])
            for tester in ("bets", *FIXED)
        }
        rows.append(refuted(example.name, example.truth, found))
        print(*rows[-1], flush=True)
    command = f"python -m benchmarks.auditors --seeds {given.seeds} --most {given.most}"
    note = NOTE.format(seeds=given.seeds, most=given.most)
    tables = {REFUTED: rows, BOUNDS: tight(given.seeds)}
    write(given.out, f"{command} --out {given.out}", tables, note)


if __name__ == "__main__":
    main()
