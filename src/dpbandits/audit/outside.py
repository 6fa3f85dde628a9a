"""Is randomness used that the noise source did not give? A replay cannot script it, so what it shows is no proof.

Every generator of numpy's and of `random` that is alive is compared before and after; calls of `random` and of the system's randomness
are noticed as they come, also where a generator is made, used and thrown away. Not seen: compiled code with generators of its own,
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
    """A context; afterwards `used` says whether any was. Generators made inside from a fixed seed are no coins, and are not counted.

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
        self.used = self.used or any(state(generator) != before for generator, before in self._before)
        del self._before

    def _note(self, frame: FrameType, event: str, arg: Any) -> None:
        if event == "c_call" and (arg.__name__ in SYSTEM or isinstance(getattr(arg, "__self__", None), random.Random)):
            self.used = True


def restore(profile: Any) -> None:
    """What watched before; a profiler in C is started again by itself."""
    if profile is None or callable(profile):
        sys.setprofile(profile)
    else:
        sys.setprofile(None)
        profile.enable()


def generators() -> list[Any]:
    """All that are alive, the global ones among them."""
    kinds = (np.random.BitGenerator, np.random.RandomState, random.Random)
    return [one for one in gc.get_objects() if issubclass(type(one), kinds)]


def state(generator: Any) -> bytes:
    """As bytes, which differ after a draw; of the system's randomness, which has none, nothing."""
    if isinstance(generator, random.SystemRandom):
        return b""
    if isinstance(generator, np.random.BitGenerator):
        return pickle.dumps(generator.state)
    known = generator.get_state(legacy=False) if isinstance(generator, np.random.RandomState) else generator.getstate()
    return pickle.dumps(known)
