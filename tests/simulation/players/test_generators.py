"""The generators of runs are NumPy's, whoever seeds them."""

from __future__ import annotations

import random

import numpy as np
import pytest

from dpbandits.simulation.players.seeds import bits_of

DRAWN = [random.Random(1).getrandbits(bits) for bits in (8, 32, 64, 100, 128, 130, 160, 400)]
SEEDS = [0, 1, 2**31, 2**32 - 1, 2**32, 2**64, 2**96 + 5, 2**128 - 1, 2**200, 16**200 - 1, *DRAWN]


@pytest.mark.parametrize("first", [0, 5, 1000, 2**31, 2**32 - 8, 2**32 - 2, 2**33])
def test_a_run_has_the_generator_of_its_seed_sequence(first: int) -> None:
    """One word, four of them and more, which the source mixes in by other steps."""
    for seed in SEEDS:
        runs = range(first, first + 5)
        for run, bits in zip(runs, bits_of(seed, runs), strict=True):
            same = np.random.PCG64(np.random.SeedSequence([seed, run]))
            assert bits.state == same.state, (seed, run)
            assert bits.random_raw() == same.random_raw()
