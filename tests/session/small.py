"""Small sessions, noise that adds nothing, and saved sessions as data."""

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

import dpbandits as dpb
from dpbandits.noise.protocol import Relay
from dpbandits.noise.sources import noise_from_state
from dpbandits.session.saving import sealed


class Days:
    """A clock that is turned by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Exact(Relay, dpb.SimulatedNoise):
    """Returns exact values, so a released value shows which rewards are in it.

    Args:
        failing: whether every draw fails.
    """

    failing = False
    state, threshold = dpb.SimulatedNoise.state, dpb.SimulatedNoise.threshold

    def _works(self) -> None:
        if self.failing:
            raise OSError("no randomness")

    def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
        self._works()
        if verb == "uniform":
            return 0.5
        if verb == "exceeds":
            return exact[0] >= exact[1]
        if verb == "select":
            return int(np.argmax(exact[0]))
        return tuple(np.asarray(exact[0]).tolist()) if verb == "joint" else exact[0]


def session(**kwargs: Any) -> dpb.Session:
    return dpb.Session(
        dpb.DPKLUCB(arms=3, epsilon=1, first=4), noise=dpb.SimulatedNoise(1), seed=2, **kwargs
    )


def begun(policy: Any, segments: Any = None, **options: Any) -> Any:
    """A session, or one for each of these segments; by default with simulated noise."""
    options = {"noise": dpb.SimulatedNoise(1), "seed": 1, **options}
    if segments is None:
        return dpb.Session(policy, **options)
    return dpb.SegmentedSession(policy, segments=segments, **options)


def parts(s: Any) -> list[dpb.Session]:
    """A session; or that of each segment."""
    return [s] if isinstance(s, dpb.Session) else [*s.values()]


def first(s: Any) -> dpb.Session:
    """A session, or that of the first segment."""
    return parts(s)[0]


def reward_of(of: dpb.Session, decision: dpb.Decision, value: float = 0.5) -> Any:
    """Return a reward in the shape that this session takes; of harm, this value too."""
    rewards: Any = [value] * len(decision.observe or range(of.policy.arms))
    if of.policy.about.feedback == "bandit":
        rewards = value
    if of.guardrail is not None:
        return rewards, value
    randomizer = of.policy.randomizer()
    return rewards if randomizer is None else randomizer.report(rewards, Exact(decision.id))


def play(of: dpb.Session, rounds: int, value: float = 0.5) -> None:
    for _ in range(rounds):
        decision = of.ask()
        of.tell(decision, reward_of(of, decision, value))


def play_by_chance(s: Any, people: int, means: Any, rng: np.random.Generator) -> None:
    """Rewards are 0 or 1, with these means by the label or number of the arm."""
    for _ in range(people):
        decision = s.ask()
        mean = means[decision.label if isinstance(means, dict) else decision.action]
        s.tell(decision, float(rng.random() < mean))


# What a session holds


def content(s: Any) -> dict[str, Any]:
    """What a session (or estimator) is, without what each save changes: its number and seal."""
    data = document(s)
    del data["seal"], data["public"]["generation"]
    return data


def recorded(s: dpb.Session) -> int:
    """Return the number of rewards that were recorded."""
    return s._current.records


def blocks(s: dpb.Session) -> dict[int, tuple[int, list[int]]]:
    """Return the records and the exact sums of each open block."""
    state = s._current.folded()
    return {
        key: (block.count, np.asarray(block.sums).tolist())
        for key, block in state.books.blocks.items()
    }


def counts(s: dpb.Session) -> dict[int, int]:
    """Return the records of each open block."""
    return {key: count for key, (count, _) in blocks(s).items()}


def read(s: dpb.Session) -> dict[int, int]:
    """Return the records of each coordinate that were released."""
    found = dict[int, int]()
    for line in s.ledger:
        found[line.coordinate] = found.get(line.coordinate, 0) + line.stop - line.start
    return found


# Documents


def document(s: Any) -> dict[str, Any]:
    """Return what a session saves without a key, as data."""
    data: dict[str, Any] = json.loads(s.to_json(unsealed=True))
    return data


def loaded(saved: Any, **options: Any) -> Any:
    """Return the session of a document without a key, with the noise that it says: no other would
    be taken from such a document.

    Args:
        saved: its text or its data, which are sealed anew; or a session, which is saved.
    """
    if not isinstance(saved, (str, dict)):
        saved = saved.to_json(unsealed=True)
    text = saved if isinstance(saved, str) else resealed(saved)
    data: Any = json.loads(text)
    kind: Any = dpb.SegmentedSession if "segments" in data else dpb.Session
    noise: Any = dpb.SimulatedNoise(1)
    with contextlib.suppress(ValueError, LookupError, TypeError, AttributeError):  # damaged
        one = json.loads(data["segments"][0][1]) if "segments" in data else data
        noise = noise_from_state(one["private"]["noise"])
    return kind.from_json(text, **{"noise": noise, **options})


def resealed(data: dict[str, Any], key: bytes | None = None) -> str:
    """A changed document as somebody would write it who knows how seals are made."""
    return sealed({name: part for name, part in data.items() if name != "seal"}, key)


def changed(data: dict[str, Any], path: Any, value: Any) -> dict[str, Any]:
    """Return the document with another value at a path ("public.asked"); `...` takes it away."""
    keys = path.split(".") if isinstance(path, str) else path
    data = json.loads(json.dumps(data))
    at: Any = data
    for key in keys[:-1]:
        at = at[int(key) if isinstance(at, list) else key]
    last = int(keys[-1]) if isinstance(at, list) else keys[-1]
    if value is ...:
        del at[last]
    else:
        at[last] = value
    return data


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every path in nested data."""
    yield path
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from paths(value[key], (*path, key))
