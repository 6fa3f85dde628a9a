"""Play a case over the public API and write down what anybody could see of it.

Only public names are used here, so that the same data can be compared with another core.
"""

import dataclasses
import itertools
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

import dpbandits as dpb

KEY, USER_KEY = b"k" * 16, b"u" * 16
START = 1_800_000_000.0
"""Seconds: when every clock begins."""

MEANS = (0.5, 0.7, 0.3, 0.85, 0.6, 0.4, 0.2, 0.75, 0.55, 0.35, 0.65, 0.45)
"""Mean rewards, by arm."""

HARMS = (0.05, 0.6, 0.1, 0.02)
"""Mean harm, by arm, where a guardrail watches it."""


class Timing(NamedTuple):
    """When outcomes come.

    batch: the most decisions that are requested by one call; 1: by `ask()` without a count.
    ahead, left: once more than `ahead` decisions wait, outcomes come in a random order until `left`
        are left.
    lost: the share of decisions that expire or are void, half of each.
    many: outcomes are reported by `tell_many`, all of them by one call.
    """

    batch: int = 1
    ahead: int = 0
    left: int = 0
    lost: float = 0.0
    many: bool = False


class Case(NamedTuple):
    """A policy in a session or campaign.

    options: what the session is made with. eligible: each request names the arms that may be
        played. live: (after this share of the rounds, verb, argument), done to the session.
    users: from how many people requests come; 0: nobody asks who. own: the policy has to be given
        when the session is loaded. devices: outcomes come as messages of the users' devices.
    means: of the arms, where they are not `MEANS`.
    """

    family: str
    name: str
    policy: Any
    rounds: int
    timing: Timing
    options: Mapping[str, Any] = {}
    eligible: bool = False
    live: tuple[tuple[float, str, Any], ...] = ()
    users: int = 0
    own: bool = False
    devices: bool = False
    means: tuple[float, ...] | None = None

    @property
    def id(self) -> str:
        return f"{self.family}/{self.name}"


class Recorder(dpb.SimulatedNoise):
    """Simulated noise that keeps every number it gave, exact sum and noise together."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.given: list[int] = []

    def _kept(self, value: int) -> int:
        self.given.append(int(value))
        return value

    def laplace(self, value: int, **cost: Any) -> int:
        return self._kept(super().laplace(value, **cost))

    def gaussian(self, value: int, **cost: Any) -> int:
        return self._kept(super().gaussian(value, **cost))

    def joint(self, values: Any, **cost: Any) -> tuple[int, ...]:
        return tuple(map(self._kept, super().joint(values, **cost)))

    def select(self, values: Any, **cost: Any) -> int:
        return self._kept(super().select(values, **cost))

    def uniform(self) -> float:
        coin = super().uniform()
        self._kept(int(coin * 1000))
        return coin


class Sessions:
    """Cases are played by `dpbandits.Session`. saved: it is saved and loaded on the way."""

    repeats = False

    def __init__(self, case: Case, *, saved: bool) -> None:
        self.case, self.saved, self.now = case, saved, START
        # a loaded session draws on as its document says, by a plain source
        self.noise = dpb.SimulatedNoise(1) if saved else Recorder(1)
        options = dict(case.options)
        if {"window", "attribution_window"} & options.keys():
            options["clock"] = self.time
        if "privacy_unit" in options:
            options["user_key"] = USER_KEY
        kind: Any = dpb.SegmentedSession if "segments" in options else dpb.Session
        self.at = kind(case.policy, noise=self.noise, seed=7, **options)

    def time(self) -> float:
        return self.now

    def pause(self) -> None:
        """Save and load; or do at least what saving does, record outcomes whose time has come."""
        if not self.saved:
            if "attribution_window" in self.case.options:
                self.at.settle()
            return
        text = self.at.to_json(key=KEY)
        given: dict[str, Any] = {"key": KEY, "clock": self.time}
        if "privacy_unit" in self.case.options:
            given["user_key"] = USER_KEY
        if self.case.own:
            given["policy"] = self.case.policy
        self.at = type(self.at).from_json(text, **given)

    def person(self, number: int) -> int:
        return number

    def parts(self) -> dict[str, Any]:
        """The session, or the session of each segment."""
        segments = self.case.options.get("segments")
        return {"": self.at} if segments is None else {name: self.at[name] for name in segments}

    def drawn(self) -> list[int]:
        """What the noise source gave, so far."""
        return self.noise.given if isinstance(self.noise, Recorder) else []

    def releases(self) -> int:
        return sum(part.releases for part in self.parts().values())

    def look(self) -> list[Any]:
        """Where it stands, on the way."""
        return [
            [
                *(part.releases, part.resolved, part.unread, len(part.pending), str(part.spent)),
                *numbers(part.state),
            ]
            for part in self.parts().values()
        ]

    def end(self) -> dict[str, Any]:
        return {
            name: {
                "state": numbers(part.state),
                "events": [[event.what, event.arm, event.asked] for event in part.events],
                "propensity": run_lengths(row.propensity for row in part.decisions()),
                "found": found(part),
                **seen(self.case, part),
            }
            for name, part in self.parts().items()
        }


class Campaigns:
    """Cases are played by campaigns of a store in this folder. saved: it is opened again on the
    way.

    repeats: what was reported may be reported again, and counts once.
    """

    repeats = True

    def __init__(self, case: Case, folder: Path, *, saved: bool) -> None:
        self.case, self.saved, self.now, self.folder = case, saved, START, folder
        self.store = self._opened()
        self.at: Any = self.store.create(
            "net", case.policy, noise=dpb.SimulatedNoise(1), seed=7, **case.options
        )
        self._places: dict[int, int] = {}
        self._persons = iter(range(10**6))

    def _opened(self) -> Any:
        url, witness = f"sqlite:///{self.folder / 'net.db'}", self.folder / "net.witness"
        return dpb.open_store(url, witness=witness, key=KEY, clock=lambda: self.now)

    def pause(self) -> None:
        """Close the store, and open it again."""
        if not self.saved:
            return
        self.store.close()
        self.store = self._opened()
        self.at = self.store["net"]

    def person(self, number: int) -> int:
        """With a holdout the side of a person depends on the campaign's own secret: the `number`-th
        person is somebody who is on the side that the case wants for this number.
        """
        if "holdout" not in self.case.options:
            return number
        if number not in self._places:
            side = "holdout" if number % 3 == 0 else "policy"
            self._places[number] = next(p for p in self._persons if self.at.side(p) == side)
        return self._places[number]

    def parts(self) -> dict[str, Any]:
        names = self.case.options.get("segments")
        if "holdout" in self.case.options:
            names = ["policy", "holdout"]
        return {"": self.at} if names is None else {name: self.at[name] for name in names}

    def drawn(self) -> list[int]:
        return []

    def releases(self) -> int:
        return 0  # to look is slow here; the end says it all

    def look(self) -> list[Any]:
        return []

    def end(self) -> dict[str, Any]:
        return {
            name: {
                "released": [
                    [list(each.coordinates), numbers(each.answers), each.asked]
                    for each in part.releases(limit=10_000)
                ],
                "events": [
                    [event.what, event.about, event.asked] for event in part.events(limit=1_000)
                ][::-1],
                "alarms": [list(alarm) for alarm in part.alarms],
                "propensity": run_lengths(
                    row.propensity for row in part.decisions(limit=10_000).rows
                ),
                **seen(self.case, part),
            }
            for name, part in self.parts().items()
        }


class People:
    """Who comes when, and what their rewards are: drawn by two generators of Python's own."""

    def __init__(self, case: Case) -> None:
        self.case, self.order, self.coins = case, Random(5), Random(3)
        self.devices = dpb.SimulatedNoise(9)
        self.randomizer: Any = None

    def outcome(self, host: Any, decision: Any) -> Any:
        """What is told of a decision, in the units and the shape that it takes."""
        feedback, arms = self.case.policy.about.feedback, (decision.action,)
        if feedback == "semi":
            arms = decision.observe
        elif feedback == "full":
            arms = range(self.case.policy.arms)
        rewards = [self.reward(arm) for arm in arms]
        told: Any = rewards[0] if feedback == "bandit" else rewards
        if self.case.devices:
            return self.message(host, decision, told)
        if self.randomizer is None and self.case.policy.about.privacy == "local":
            self.randomizer = host.at.policy.randomizer()  # at the budget of one of a user's rounds
        if self.randomizer is not None:
            return self.randomizer.report(told, self.devices)
        if "guardrail" in self.case.options:
            return told, float(self.coins.random() < HARMS[decision.action % len(HARMS)])
        return told

    def reward(self, arm: int) -> float:
        """A number that is 0 or 1 three times of four, with the arm's mean."""
        mean, kind, coin = (self.case.means or MEANS)[arm], self.coins.random(), self.coins.random()
        unit = float(coin < mean)
        if kind < 0.25 and not self.case.timing.many:  # a batch throws no coins to round rewards
            unit = round(mean + (coin - 0.5) * 2 * min(mean, 1 - mean), 3)
        ruler = self.case.options.get("rewards")
        if ruler is None:
            return unit
        value = float(ruler.low) + unit * float(ruler.high - ruler.low)
        return value * 1.5 if ruler.clip and kind > 0.9 else value

    def message(self, host: Any, decision: Any, told: Any) -> str:
        """The answer of a user's device."""
        text = host.at.description()
        client = dpb.Client(text, most=1000, noise=self.devices, simulated=True)
        if decision.observe is not None:
            told = dict(zip(decision.observe, told, strict=True))
        return client.answer(decision.to_json(), told)

    def asked(self, host: Any) -> dict[str, Any]:
        """What a request says besides the number of decisions."""
        given: dict[str, Any] = {}
        if self.case.users:
            given["user"] = host.person(self.order.randrange(self.case.users))
        if "segments" in self.case.options:
            given["segment"] = self.order.choice(self.case.options["segments"])
        if self.case.eligible and self.order.random() < 0.8:
            (part, *_) = host.parts().values()
            there = [name for name, status in part.arms if status == "active"]
            chosen = [name for name in there if self.order.random() < 0.5]
            if "holdout" in self.case.options:
                chosen.append(there[0])  # which is the control arm
            given["eligible"] = list(dict.fromkeys(chosen)) or [self.order.choice(there)]
        return given


class Player:
    """One run of a case. flush: a call of nothing follows each request: what requests made due, and
    left, is released then.
    """

    def __init__(self, case: Case, host: Any, *, flush: bool = False) -> None:
        self.flush = flush
        self.case, self.host, self.people = case, host, People(case)
        self.plays: list[Any] = []
        self.waiting: list[tuple[Any, Any, float]] = []
        self.told: list[tuple[Any, Any]] = []
        self.moments: list[int] = []
        self.noise: list[int] = []
        self.quarters: list[Any] = []
        self.answered = self._released = self._drawn = 0
        self._noted, self._drew = (0, 0), (0, 0)
        window = case.options.get("attribution_window")
        self.held = None if window is None else window.total_seconds()

    def run(self) -> dict[str, Any]:
        live, timing = list(self.case.live), self.case.timing
        quarter, loads = 1, [1 / 3, 2 / 3]
        while len(self.plays) < self.case.rounds:
            share = len(self.plays) / self.case.rounds
            while live and live[0][0] <= share:
                _, verb, argument = live.pop(0)
                getattr(self.host.at, verb)(*argument)
                self.watch()
            if loads and loads[0] <= share:
                del loads[0]
                self.host.pause()
            while quarter <= 4 * share:
                quarter += 1
                self.quarters.append(self.host.look())
            self.host.now += self.people.order.randrange(600)
            self.ask()
            if len(self.waiting) > timing.ahead:
                self.answer(len(self.waiting) - timing.left)
        if self.case.policy.about.goal == "estimate":
            self.host.at.finish()
            self.watch()
        return self.written()

    def ask(self) -> None:
        many = self.people.order.randint(1, self.case.timing.batch)
        many = min(many, self.case.rounds - len(self.plays))
        given, ask = self.people.asked(self.host), self.host.at.ask
        made = [ask(**given)] if self.case.timing.batch == 1 else ask(many, **given)
        for decision in made:
            self.plays.append((decision.action, decision.observe, decision.label, decision.learn))
            outcome = self.people.outcome(self.host, decision)
            self.waiting.append((decision, outcome, self.host.now + (self.held or 0.0)))
        self.watch()
        if self.flush:
            self.host.at.tell_many([])
            self.watch()

    def answer(self, many: int) -> None:
        """So many outcomes, of decisions that wait, in a random order."""
        order, at, pairs = self.people.order, self.host.at, list[Any]()
        for _ in range(many):
            decision, outcome, due = self.waiting.pop(order.randrange(len(self.waiting)))
            fate = order.random() / (self.case.timing.lost or 1e-9)
            if self.held is not None and due <= self.host.now:
                continue  # nobody answered in time
            if fate < 0.5:
                at.expire(decision)
            elif fate < 1.0:
                at.void(decision)
            elif self.case.timing.many:
                pairs.append((decision, outcome))
                continue
            elif self.case.devices:
                at.tell_message(outcome)
            else:
                at.tell(decision, outcome)
            self.answered += 1
            self.watch()
        if pairs:
            again = [order.choice(self.told)] if self.told and self.host.repeats else []
            at.tell_many(pairs + again)
            self.answered += len(pairs)
            self.told = pairs
            self.watch()

    def watch(self) -> None:
        """Write down what the last call released, and what the noise source gave."""
        now = len(self.plays), self.answered
        released, drawn = self.host.releases(), self.host.drawn()
        if released > self._released:
            before, self._noted = self._noted, now
            self.moments += [now[0] - before[0], now[1] - before[1], released - self._released]
            self._released = released
        if len(drawn) > self._drawn:
            before, self._drew = self._drew, now
            new = drawn[self._drawn :]
            self.noise += [now[0] - before[0], now[1] - before[1], len(new), *new]
            self._drawn = len(drawn)

    def written(self) -> dict[str, Any]:
        """All that was seen, as JSON has it."""
        whole = {
            "plays": run_lengths(map(steady, self.plays)),
            "moments": self.moments,
            "noise": self.noise,
            "quarters": self.quarters,
            "spent": str(self.host.at.spent),
            "end": self.host.end(),
        }
        found: dict[str, Any] = json.loads(json.dumps(whole))
        return found


def play(case: Case, folder: Path, *, saved: bool = False, flush: bool = False) -> dict[str, Any]:
    """What can be seen of a case.

    folder: a place for a store. saved: the session is saved and loaded on the way, twice. flush:
        see `Player`.
    """
    if case.family == "estimators":
        return estimated(case.policy, case.rounds, saved=saved)
    if case.family != "campaigns":
        return Player(case, Sessions(case, saved=saved), flush=flush).run()
    host = Campaigns(case, folder, saved=saved)
    try:
        return Player(case, host).run()
    finally:
        host.store.close()


def estimated(rule: Any, values: int, *, saved: bool = False) -> dict[str, Any]:
    """What an estimator makes of so many values."""
    estimator, coins = dpb.Estimator(rule, noise=dpb.SimulatedNoise(1)), Random(3)
    low, high = float(rule.low), float(rule.high)
    for at in range(values):
        if saved and at in (5, 12, 40):
            estimator = dpb.Estimator.from_json(estimator.to_json(key=KEY), key=KEY)
        value = low + (high - low) * round(coins.random() ** 0.5, 3)
        estimator.add(value)
        if at % 7 == 3:
            estimator.add(value, at=at)  # offered again, taken once
        if estimator.result is not None:
            break
    found = estimator.finish()
    given = {"found": list(found[:3]), "offered": estimator.offered}
    return given | {"guarantee": guaranteed(found.guarantee)}


def seen(case: Case, part: Any) -> dict[str, Any]:
    """What a session and a campaign both say of themselves at the end. The numbers of `approx`
    pass through NumPy's vectorised logarithms, whose last bits depend on the machine.
    """
    believed, approx = part.beliefs(), list[Any]()
    approx += [[row.mean, row.low, row.high, row.chance_best] for row in believed]
    if "guardrail" in case.options:
        approx += [[row.mean, row.low, row.high, row.people] for row in part.harm()]
    if case.policy.about.feedback == "bandit":
        approx.append([part.sample_ratio().evidence])
    return {
        "arms": [list(arm) for arm in part.arms],
        "ledger": ledger_sums(part.ledger),
        "spent": str(part.spent),
        "guarantee": guaranteed(part.guarantee),
        "people": [[row.label, row.people] for row in believed],
        "best": believed.best,
        "approx": [[None if x is None else float(f"{x:.10g}") for x in row] for row in approx],
    }


def found(session: Any) -> list[Any]:
    """What a rule estimated, or which arm a policy identified; nothing, if it does neither."""
    policy = session.policy
    if policy.about.goal == "estimate":
        return numbers(policy.estimate(session.state))
    return numbers(policy.best_arm(session.state)) if hasattr(policy, "best_arm") else []


def ledger_sums(ledger: Iterable[Any]) -> list[list[Any]]:
    """By coordinate and cost: rounds that were read, and in how many releases."""
    rounds, releases = Counter[Any](), Counter[Any]()
    for line in ledger:
        place = line.coordinate, str(line.cost), getattr(line, "width", 1)
        rounds[place] += line.stop - line.start
        releases[place] += getattr(line, "releases", 1)
    return [[*place, rounds[place], releases[place]] for place in sorted(rounds)]


def guaranteed(guarantee: Any) -> list[str] | None:
    if guarantee is None:
        return None
    of = guarantee
    numbers_ = of.cost, of.zero_out, of.claimed, of.grid.steps
    return [of.measure, of.unit, of.trust, *map(str, numbers_)]


def numbers(value: Any) -> list[Any]:
    """All numbers in a state, in order, whatever its parts are called."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return [value]
    if isinstance(value, Fraction):
        return [str(value)]
    if isinstance(value, np.generic | np.ndarray):
        return numbers(value.tolist())
    if dataclasses.is_dataclass(value):
        value = [getattr(value, field.name) for field in dataclasses.fields(value)]
    elif isinstance(value, Mapping):
        value = list(value.items())
    return list(itertools.chain.from_iterable(map(numbers, value)))


def steady(play: tuple[Any, ...]) -> tuple[Any, ...]:
    """A play, with weights in millionths, which no machine's last bit changes."""
    action, *rest = play
    if isinstance(action, tuple) and isinstance(action[0], float):
        return tuple(round(weight * 1e6) for weight in action), *rest
    return play


def run_lengths(values: Iterable[Any]) -> list[Any]:
    """The different values in the order in which they first came; and runs of them, as number,
    times, number, times, …
    """
    places, runs = dict[Any, int](), list[int]()
    for value, group in itertools.groupby(values):
        runs += [places.setdefault(value, len(places)), sum(1 for _ in group)]
    return [list(places), runs]
