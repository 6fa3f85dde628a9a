"""Compiled players against the plain host: one law of plays, regret, releases and events."""

from typing import Any

import numpy as np

from dpbandits.checks.checks import figures_of, smallest_p
from dpbandits.simulation.plain import Path
from dpbandits.simulation.simulate import choose_player

ALARM = 1e-6
"""False-alarm rate of all comparisons of a test together."""


def require_one_law(
    policy: Any, environment: Any, *sizes: tuple[int, int], among: int, player: Any = None
) -> None:
    """Compare plain runs with four times as many compiled ones.

    sizes: rounds and plain runs. among: comparisons of the test. player: makes compiled runs of
    (policy, environment, rounds, seed), as `choose_player` does by itself.
    """
    for rounds, runs in sizes:
        marks = np.array(sorted({5, rounds}))
        if player is None:
            fast, compiled = choose_player(policy, environment, rounds, 31, compiled=True)
            assert compiled
        else:
            fast = player(policy, environment, rounds, 31)
            assert fast is not None
        plain, _ = choose_player(policy, environment, rounds, 32, compiled=False)

        def told(path: Path) -> Any:
            events = not policy.about.randomised
            earned: Any = [] if path.earned is None else path.earned
            last = figures_of(path._replace(plays=path.plays[-1:]), environment.gaps, events)
            return np.round(np.concatenate([path.plays[:-1].ravel(), last, earned]), 6)

        many = np.stack([told(fast(marks, run)) for run in range(4 * runs)])
        few = np.stack([told(plain(marks, run)) for run in range(runs)])
        assert smallest_p(few, many) > ALARM / among
