"""Full information by epochs: each record is read by one release, so the worst pair of sequences
differs in one choice.

A choice's law given the block's sums is closed (report noisy max) or a sum over the lattice of
noised sums.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any, NamedTuple, final

import numpy as np

from dpbandits.auditing.effort import Effort
from dpbandits.auditing.exact.deciding import Deciding, TotalRange
from dpbandits.auditing.exact.lattice import mass
from dpbandits.auditing.exact.probe import LargestLoss, NoiseCall, Probe
from dpbandits.core.errors import Unfit
from dpbandits.core.inputs import Floats
from dpbandits.core.plan import EVERY, Hold, Plan, PublicRng
from dpbandits.mechanisms import Block, Mechanism
from dpbandits.noise.laws import selection_law
from dpbandits.noise.protocol import Selection, Values
from dpbandits.policies.contract import Policy, Release
from dpbandits.policies.experts import Leader

CUT, ROUNDING = 1e-15, 1e-13
SEEDS = 64
"""Public seeds tried to see every plan a policy may draw."""


class WorstChoice(NamedTuple):
    """The worst choice: its loss, the block's length, its sums in the two tables (whole rewards),
    and what is chosen.
    """

    loss: float
    error: float
    rounds: int
    sums: tuple[int, ...]
    other: tuple[int, ...]
    chosen: int


@final
class Spy(Probe):
    """Noise that names a given action, or adds nothing, and writes down what it was asked."""

    def __init__(self, chosen: int = 0, script: tuple[int, ...] | None = None) -> None:
        super().__init__(script=script)
        self.chosen = chosen
        self.selected: list[tuple[Any, int, Fraction, Selection]] = []

    def select(self, values: Values, *, sensitivity: int, epsilon: Fraction, law: Selection) -> int:
        self.selected.append((values, sensitivity, epsilon, law))
        return self.chosen


class Choices:
    """How a policy chooses after a block: the law of its next action, by the block's sums."""

    def __init__(self, policy: Policy, effort: Effort) -> None:
        self.policy, self.mechanism = policy, policy.mechanism()
        self.deciding = Deciding(policy, effort)
        self.unit = self.mechanism.grid.steps
        self.price = Fraction(0)
        self.law = cache(self._law)
        self._tables: dict[Any, Any] = {}

    def read(self, sums: tuple[int, ...], rounds: int, spy: Spy) -> tuple[Any, ...]:
        """The mechanism's answers for a block of so many records."""
        memory = self.mechanism.init(len(sums))
        if memory is not None and any(part is not None for part in memory):
            raise Unfit("its mechanism remembers earlier records")
        block = Block((EVERY,), np.array(sums, np.int64) * self.unit, (rounds,))
        return tuple(self.mechanism.answer(memory, block, spy)[1])

    def _law(self, sums: tuple[int, ...], state: Leader, plan: Hold) -> Floats:
        """P[next action], shape (actions,)."""
        spy = Spy()
        self.read(sums, plan.rounds, spy)
        actions = len(sums)
        if len(spy.selected) == 1 and not spy.asked:
            values, sensitivity, epsilon, kind = spy.selected[0]
            self.price = max(self.price, epsilon)
            law, chosen = (
                selection_law(values, scale=float(2 * sensitivity / epsilon), selection=kind),
                np.zeros(actions),
            )
            for k in range(actions):
                chosen[self.after(state, plan, self.read(sums, plan.rounds, Spy(k)))] += law[k]
            return chosen
        if len(spy.asked) != actions or spy.selected:
            raise Unfit("it is neither a noisy maximum nor one noised sum an action")
        self.price = max(
            self.price, sum((1 / (a.scale / self.unit) for a in spy.asked), Fraction(0))
        )
        return self._by_lattice(spy.asked, sums, state, plan)

    def _by_lattice(
        self, asked: list[NoiseCall], sums: tuple[int, ...], state: Leader, plan: Hold
    ) -> Floats:
        laws = [mass((a.scale,), CUT) for a in asked]
        box = tuple(TotalRange(law, plan.rounds * self.unit, far) for law, far in laws)

        def decide(point: tuple[int, ...]) -> int:
            return self.after(
                state, plan, self.read((0,) * len(sums), plan.rounds, Spy(script=point))
            )

        if (state, plan.rounds) not in self._tables:
            self._tables[state, plan.rounds] = self.deciding.on(box, decide)
        at = tuple(
            slice(s * self.unit, s * self.unit + 2 * far + 1)
            for s, (_, far) in zip(sums, laws, strict=True)
        )
        here, joint = self._tables[state, plan.rounds][at], np.ones(())
        for line, _ in laws:
            joint = np.multiply.outer(joint, line)
        return np.array([joint[here == k].sum() for k in range(len(sums))])

    def after(self, state: Leader, plan: Hold, answers: tuple[Any, ...]) -> int:
        """The action that follows such answers."""
        new = self.following(state, plan, answers)
        return new.chosen if new.chosen >= 0 else new.action

    def following(self, state: Leader, plan: Hold, answers: tuple[Any, ...]) -> Leader:
        coordinates = plan.release if answers else ()
        new: Leader = self.policy.update(
            state,
            plan,
            Release(coordinates, answers, state.t + plan.rounds, ((plan.action, plan.rounds),)),
        )
        return new


def epochs(choices: Choices, rounds: int) -> Iterator[tuple[Leader, Hold]]:
    """Every release that ends before the last of `rounds` decisions, for every way the public coins
    may fall.
    """
    waiting, seen = [choices.policy.init()], set[Any]()
    if not isinstance(waiting[0], Leader):
        raise Unfit("it does not play one leader an epoch")
    while waiting:
        state = waiting.pop()
        plans: set[Plan] = {choices.policy.plan(state, PublicRng(seed, 0)) for seed in range(SEEDS)}
        for plan in plans:
            if not isinstance(plan, Hold) or state.t + plan.rounds >= rounds:
                continue
            if plan.release:
                yield state, plan
            answers = (
                choices.read((0,) * choices.policy.arms, plan.rounds, Spy()) if plan.release else ()
            )
            new = choices.following(state, plan, answers)
            if new not in seen:
                seen.add(new)
                waiting.append(new)


def worst_choice(choices: Choices, state: Leader, plan: Hold) -> WorstChoice:
    """Over all block sums and all replacements of one whole record of 0s and 1s: sums move by at
    most one each.
    """
    arms, n = choices.policy.arms, plan.rounds
    worst = WorstChoice(0.0, 0.0, n, (), (), -1)
    for sums in product(range(n + 1), repeat=arms):
        p = choices.law(sums, state, plan)
        for move in product((-1, 0, 1), repeat=arms):
            other = tuple(s + d for s, d in zip(sums, move, strict=True))
            if min(other) < 0 or max(other) > n:
                continue
            q = choices.law(other, state, plan)
            for k in range(arms):
                low = math.log(max(p[k] - ROUNDING, 1e-300) / (q[k] + ROUNDING))
                if low > worst.loss:
                    worst = WorstChoice(
                        low,
                        math.log((p[k] + ROUNDING) / max(q[k] - ROUNDING, 1e-300)) - low,
                        n,
                        sums,
                        other,
                        k,
                    )
    return worst


def of_epochs(policy: Policy, rounds: int, effort: Effort) -> LargestLoss:
    """In closed form: the worst choice of any epoch that ends in time."""
    choices = Choices(policy, effort)
    found = max(
        (worst_choice(choices, state, plan) for state, plan in epochs(choices, rounds)),
        default=None,
    )
    if found is None or found.loss == 0:
        return 0.0, 0.0, choices.price, "No choice depends on a reward.", {}
    details = {
        "block": found.rounds,
        "sums": list(found.sums),
        "other": list(found.other),
        "asked": choices.deciding.how,
    }
    evidence = (
        f"action {found.chosen + 1} after an epoch of {found.rounds} rounds with sums "
        f"{found.sums}, {found.other} by one changed record"
    )
    return (
        found.loss,
        found.error if math.isfinite(found.error) else 0.0,
        choices.price,
        evidence,
        details,
    )


def noisy_max_loss(mechanism: Mechanism, rounds: int) -> float:
    """The largest loss of a noisy maximum of two actions over a block of so many 0/1 records.

    >>> from dpbandits.mechanisms import NoisyMax
    >>> round(noisy_max_loss(NoisyMax(epsilon=1, selection="exponential"), 2), 3)
    0.62
    """
    unit = mechanism.grid.steps

    @cache
    def law(lead: int) -> Floats:
        spy, sums = Spy(), np.array([max(lead, 0), max(-lead, 0)], np.int64) * unit
        mechanism.answer(mechanism.init(2), Block((EVERY,), sums, (rounds,)), spy)
        values, sensitivity, epsilon, kind = spy.selected[0]
        return selection_law(values, scale=float(2 * sensitivity / epsilon), selection=kind)

    pairs = [
        (lead, lead + move)
        for lead in range(-rounds, rounds + 1)
        for move in (-2, -1, 1, 2)
        if abs(lead + move) <= rounds
    ]
    return max(math.log(law(a)[k] / law(b)[k]) for a, b in pairs for k in (0, 1))
