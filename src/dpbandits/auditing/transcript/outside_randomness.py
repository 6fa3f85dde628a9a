"""Is randomness used that the noise source did not give? A replay cannot script it, so what it
shows is no proof.

Every generator of numpy's and of `random` that is alive is compared before and after; calls of
`random` and of the system's randomness are noticed as they come, also where a generator is made,
used and thrown away. Not seen: compiled code with generators of its own,
a generator made afresh from a number that changes, the clock, what other threads do.
"""

from __future__ import annotations

import gc
import pickle
import random
import sys
from types import FrameType
from typing import Any, final

import numpy as np

SYSTEM = ("urandom", "getrandom")


@final
class Outside:
    """A context; afterwards `used` says whether any was. Generators made inside from a fixed seed
    are no coins, and are not counted.

    calls: whether calls are watched, too, which makes Python some three times slower.
    """

    def __init__(self, calls: bool = True) -> None:
        self.calls, self.used = calls, False

    def __enter__(self) -> Outside:
        self._before = [(generator, state(generator)) for generator in generators()]
        if self.calls:
            self._profile = sys.getprofile()
            sys.setprofile(self._note)
        return self

    def __exit__(self, *error: object) -> None:
        if self.calls:
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
    """What watched before; a profiler in C is started again by itself."""
    if profile is None or callable(profile):
        sys.setprofile(profile)
    else:
        sys.setprofile(None)
        profile.enable()


@final
class LivingGenerators:
    """The generators that are alive. Looking through all objects takes long, so what is old is
    looked through once.

    Since then nothing new became old unless a collection of the middle generation, or of all, was
    made.
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
    """By the identity of their types: there may be a million objects, of which some have types that
    cannot be compared.
    """
    kinds = {
        id(kind)
        for root in (np.random.BitGenerator, np.random.RandomState, random.Random)
        for kind in family(root)
    }
    return [one for one in objects if id(type(one)) in kinds]


def family(kind: type) -> list[type]:
    """A class and all that are made from it."""
    children: list[type] = kind.__subclasses__()
    return [kind, *(below for child in children for below in family(child))]


def state(generator: Any) -> bytes:
    """As bytes, which differ after a draw; of the system's randomness, which has none, nothing."""
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
