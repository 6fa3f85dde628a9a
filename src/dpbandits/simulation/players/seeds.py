"""The generators of many runs: those of NumPy, seeded in a tenth of its time.

A run's generator is `PCG64(SeedSequence([seed, run]))`. That takes as long as many a run. The words
that `SeedSequence` makes are its published algorithm, which NumPy keeps as it is; here it is
compiled, and `PCG64` takes the words from an object that has them ready.

Source: O'Neill 2015, "Developing a seed_seq alternative"; numpy/random/bit_generator.pyx.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from dpbandits.simulation.parts.jit import inline, jit

POOL, LOW, SHIFT = 4, 0xFFFFFFFF, 16
INIT_A, TIMES_A = 0x43B0D7E5, 0x931E8875
INIT_B, TIMES_B = 0x8B51F9DD, 0x58F38DED
MIX_LEFT, MIX_RIGHT = 0xCA01F9DD, 0x4973F715


@final
class Words:
    """A seed whose words are known; `PCG64` asks for nothing else."""

    __slots__ = ("words",)

    def __init__(self, words: Any) -> None:
        self.words = words

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        return self.words


ISeedSequence.register(Words)


def bits_of(seed: int, runs: range) -> list[np.random.PCG64]:
    """`PCG64(SeedSequence([seed, run]))` of each run."""
    if runs.stop > LOW:  # the number of such a run has two words
        return [np.random.PCG64(np.random.SeedSequence([seed, run])) for run in runs]
    states = np.empty((len(runs), 4), np.int64)
    seed_runs(np.array([*words_in(seed), 0]), runs.start, states)
    # any registered seed sequence is taken, which the stubs do not say
    ready: list[Any] = [Words(words) for words in states.view(np.uint64)]
    return [np.random.PCG64(each) for each in ready]


def words_in(number: int) -> list[int]:
    """A number in words of 32 bits, the lowest first."""
    words = [number & LOW]
    while number := number >> 32:
        words.append(number & LOW)
    return words


@inline
def stirred(word: int, constant: int, times: int) -> int:
    """`hashmix` of the source. Products wrap beyond 64 bits, of which 32 are looked at."""
    word = ((word ^ constant) * ((constant * times) & LOW)) & LOW
    return word ^ (word >> SHIFT)


@inline
def mixed_in(one: int, other: int) -> int:
    word = (MIX_LEFT * one - MIX_RIGHT * other) & LOW
    return word ^ (word >> SHIFT)


@jit
def seed_runs(entropy: Any, first: int, states: Any) -> None:
    """The states of as many runs as there are rows. entropy: words of the seed, and one for the
    number of a run.
    """
    pool = np.zeros(POOL, np.int64)
    for run in range(len(states)):
        entropy[-1], constant = first + run, INIT_A
        for i in range(max(POOL, len(entropy))):
            word = entropy[i] if i < len(entropy) else 0
            if i < POOL:
                pool[i], constant = stirred(word, constant, TIMES_A), (constant * TIMES_A) & LOW
            if i == POOL - 1:
                constant = mix_pool(pool, constant)
            if i >= POOL:
                for at in range(POOL):
                    pool[at] = mixed_in(pool[at], stirred(word, constant, TIMES_A))
                    constant = (constant * TIMES_A) & LOW
        constant = INIT_B
        for i in range(4):
            low = stirred(pool[2 * i % POOL], constant, TIMES_B)
            constant = (constant * TIMES_B) & LOW
            high = stirred(pool[(2 * i + 1) % POOL], constant, TIMES_B)
            constant = (constant * TIMES_B) & LOW
            states[run, i] = low | (high << 32)


@inline
def mix_pool(pool: Any, constant: int) -> int:
    """Each word of the pool into each other one; returns the constant for what comes then."""
    for source in range(POOL):
        for at in range(POOL):
            if source != at:
                pool[at] = mixed_in(pool[at], stirred(pool[source], constant, TIMES_A))
                constant = (constant * TIMES_A) & LOW
    return constant
