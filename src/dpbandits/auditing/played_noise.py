"""Noise sources that an audit plays with, and randomness that comes from elsewhere."""

import gc
import pickle
import random
import sys
from collections import Counter
from fractions import Fraction
from types import FrameType
from typing import Any, ClassVar, Self, final

import numpy as np

from dpbandits.checks.tape import Recorder
from dpbandits.core.errors import Diverged, Foreign
from dpbandits.core.privacy import NoiseKind
from dpbandits.noise.protocol import Relay
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.simulation.transcript import Transcript

# Why replays may prove nothing, how often one is repeated before anything is said of it, and
# whether code uses randomness that the noise source did not give, which a replay cannot script.
#
# Every living generator of numpy and of `random` is compared before and after. Calls of `random`
# and of the system's randomness are noticed as they come, even if a generator is made, used and
# thrown away. Not seen are compiled code with generators of its own, a generator made afresh from
# a number that changes, the clock, and what other threads do.


BY_ITSELF = (
    "It adds noise by itself, in a way that cannot be followed: pass exact values to the noise "
    "source."
)

NO_NUMBER = (
    "Its answers are not all numbers: what noise would have to do to keep them, replays cannot say."
)

OWN_COINS = (
    "It tosses coins that no replay can script, not from the noise source it is given: its "
    "replays prove nothing."
)
UNEVEN = "One changed record changes how often noise is drawn; what that tells, replays cannot say."
ITS_KIND = (
    "What it does depends on the kind of noise it is given: with secure noise it does something "
    "else than with simulated noise. Its replays say nothing of what people meet."
)
TIMES = 20
"""Times a pair is replayed again before anything is said of it. A coin of chance p that fell in
none of the replays of the unchanged table and in all of the changed one's did so with probability
pⁿ(1 − p)ⁿ, n = 21: below 10⁻¹² for every p.
"""


SYSTEM = ("urandom", "getrandom")


class SaysSecure(Recorder):
    """Scripted noise that says it is secure. A path of its own for secure noise, which no
    simulation takes, would else be looked at by nobody.
    """

    kind: ClassVar[NoiseKind] = "secure"


def heeds_kind(run: Transcript, recorder: Recorder) -> bool:
    """Whether a written run goes another way with noise of the other kind."""
    seen = SaysSecure(recorder.seed, script=recorder.draws, tosses=recorder.thrown)
    try:
        replay = run.replay({}, seen)
    except Diverged:
        return True
    return replay.at is not None or (seen.draws, seen.thrown) != (recorder.draws, recorder.thrown)


@final
class Outside:
    """A context; afterwards `used` says whether outside randomness was used. Generators made inside
    from a fixed seed are not random and do not count. Python is about three times slower inside.
    """

    def __init__(self) -> None:
        self.used = False

    def __enter__(self) -> Self:
        self._before = [(generator, state(generator)) for generator in generators()]
        self._profile = sys.getprofile()
        sys.setprofile(self._note)
        return self

    def __exit__(self, *error: object) -> None:
        restore(self._profile)
        self.used = self.used or any(
            state(generator) != before for generator, before in self._before
        )
        del self._before

    def _note(self, frame: FrameType, event: str, arg: Any) -> None:
        if event == "c_call" and (
            arg.__name__ in SYSTEM or isinstance(getattr(arg, "__self__", None), random.Random)
        ):
            self.used = True


def restore(profile: Any) -> None:
    """Restore the profile function that was set before; a profiler in C starts itself again."""
    if profile is None or callable(profile):
        sys.setprofile(profile)
    else:
        sys.setprofile(None)
        profile.enable()


@final
class LivingGenerators:
    """The living generators. Searching all objects takes long, so old objects are searched only
    once.

    They are searched again after a collection of the middle generation, or of all: only then can a
    new object have become old.
    """

    def __init__(self) -> None:
        self._old: list[Any] = []
        self._collections: tuple[int, ...] = ()

    def __call__(self) -> list[Any]:
        young: list[Any] = []
        if self._collections == collections_made():
            young = generators_among([*gc.get_objects(0), *gc.get_objects(1)])
        if self._collections != collections_made():  # now, or before
            self._collections = collections_made()
            self._old, young = generators_among(gc.get_objects()), []
        return list({id(one): one for one in (*self._old, *young)}.values())


def collections_made() -> tuple[int, ...]:
    """How often the garbage collector went through the middle generation, and through all."""
    return tuple(gc.get_stats()[generation]["collections"] for generation in (1, 2))


generators = LivingGenerators()


def generators_among(objects: list[Any]) -> list[Any]:
    """The generators among these objects. Types are compared by identity: there may be a million
    objects, and some have types that cannot be compared.
    """
    kinds = {
        id(kind)
        for root in (np.random.BitGenerator, np.random.RandomState, random.Random)
        for kind in family(root)
    }
    return [one for one in objects if id(type(one)) in kinds]


def family(kind: type) -> list[type]:
    """A class and all classes derived from it."""
    children: list[type] = kind.__subclasses__()
    return [kind, *(below for child in children for below in family(child))]


def state(generator: Any) -> bytes:
    """The generator's state as bytes, which differ after a draw. The system's randomness has no
    state: its bytes are empty.
    """
    if isinstance(generator, random.SystemRandom):
        return b""
    if isinstance(generator, np.random.BitGenerator):
        return pickle.dumps(generator.state)
    known = (
        generator.get_state(legacy=False)
        if isinstance(generator, np.random.RandomState)
        else generator.getstate()
    )
    return pickle.dumps(known)


# The noise of the runs that the transcript level writes down.


AGAIN = 32
"""How often noise for the same value is pushed in one release before it falls freely. Code that
redraws until it likes the noise would otherwise wait for ever.
"""

PUSHED = 512
"""How many draws of one release are pushed, whatever their values."""

PATIENCE = 20_000
"""How often one release may ask for noise or coins. Code that asks more often may never end."""

RARE = 2.0**-30
"""The chance of a coin that is pushed to an end."""

WITHOUT_END = (
    f"A release asked for noise more than {PATIENCE:,} times, and may have gone on for ever: what "
    "it waits for did not come."
)
TOO_LARGE = "It asks for noise of a scale that is larger than any float: nobody can draw it here."


@final
class PlayedNoise(Relay):
    """Seeded noise. It falls as it does (`up` is None), or it is pushed: it lies at least a unit to
    one side of the exact value, and coins are often next to 0 or to 1. Such outcomes are possible
    and tell much.

    A release that redraws is not kept waiting for what pushed noise never is: see `AGAIN`.
    """

    kind: ClassVar[NoiseKind] = "simulated"

    def __init__(self, seed: int, *, up: bool | None = None) -> None:
        self._plain = SimulatedNoise(seed)
        self._sign = 0 if up is None else 1 if up else -1
        self.begin()

    def begin(self) -> None:
        """The next release begins."""
        self._asked, self._values = 0, Counter[tuple[Any, ...]]()

    def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
        """Raises Foreign: a release asks for ever, or for what cannot be drawn."""
        pushed = self._to_be_pushed(verb, exact)
        try:
            if pushed and verb == "select":
                # the action least likely to be named, or the likeliest
                return int(np.argmax(exact[0]) if self._sign > 0 else np.argmin(exact[0]))
            if pushed and verb in ("laplace", "gaussian", "joint"):
                return self._pushed(verb, exact[0], **cost)
            return getattr(self._plain, verb)(*exact, **cost)
        except OverflowError:
            raise Foreign(TOO_LARGE) from None

    def _to_be_pushed(self, verb: str, exact: tuple[Any, ...]) -> bool:
        """Whether the noise of this question is pushed."""
        self._count()
        if not self._sign or self._asked > PUSHED:
            return False
        same = verb, *(tuple(np.ravel(value).tolist()) for value in exact)
        self._values[same] += 1
        return self._values[same] <= AGAIN

    def _count(self) -> None:
        self._asked += 1
        if self._asked > PATIENCE:
            raise Foreign(WITHOUT_END)

    def _pushed(self, verb: str, value: Any, *, sensitivity: int, **cost: Fraction) -> Any:
        """Every value far to one side: the largest move is then the record's own."""
        noises = getattr(self._plain, verb)(
            [0] * len(value) if verb == "joint" else 0, sensitivity=sensitivity, **cost
        )
        far = self._sign * (sensitivity + int(np.max(np.abs(noises))))
        return tuple(int(v) + far for v in value) if verb == "joint" else value + far

    def uniform(self) -> float:
        self._count()
        if not self._sign or self._asked > PUSHED:
            return self._plain.uniform()
        coin, end = self._plain.uniform(), self._plain.uniform()
        return coin * RARE if end < 1 / 3 else 1 - max(coin, 0.5) * RARE if end < 2 / 3 else coin

    def state(self) -> dict[str, Any]:
        return self._plain.state()
