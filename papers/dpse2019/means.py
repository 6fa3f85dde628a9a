"""The four settings of the paper for any number of arms K. `python means.py` prints the sweep's
environments.
"""

from __future__ import annotations

BEST, WORST = 0.75, 0.25


def c1(arms: int) -> list[float]:
    """One best arm, all others equally close behind."""
    return [BEST] + [0.7] * (arms - 1)


def c2(arms: int) -> list[float]:
    """Equally spaced."""
    return [BEST - (BEST - WORST) * i / (arms - 1) for i in range(arms)]


def c3(arms: int) -> list[float]:
    """Convex, μ_i = a(i − K)² + c with a > 0: many arms far behind."""
    a = (BEST - WORST) / (arms - 1) ** 2
    return [a * (i - arms) ** 2 + WORST for i in range(1, arms + 1)]


def c4(arms: int) -> list[float]:
    """Concave, μ_i = a(i − 1)² + c with a < 0: many arms close behind."""
    a = (WORST - BEST) / (arms - 1) ** 2
    return [a * (i - 1) ** 2 + BEST for i in range(1, arms + 1)]


SETTINGS = {"C1": c1, "C2": c2, "C3": c3, "C4": c4}
ARMS = (3, 5, 10, 20)


def environments() -> dict[str, list[float]]:
    """Means by the environment's name, rounded to ten digits."""
    return {
        f"{name}, K = {arms}": [round(mean, 10) for mean in law(arms)]
        for name, law in SETTINGS.items()
        for arms in ARMS
    }


if __name__ == "__main__":
    for name, means in environments().items():
        print(f'[[environments]]\nname = "{name}"\nlaw = "bernoulli"\nmeans = {means}\n')
