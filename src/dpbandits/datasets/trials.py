"""Clinical trials that come with the package: pooled response counts of four published reviews.

Pooled means simple sums over the review's studies. That is NOT a network meta-analysis: arms come
from different trials with different patients, so a difference between two arms here is no estimate
of a treatment effect. (COPD shows it: TIO-SMI has the highest pooled survival, and in both of its
own trials more deaths than placebo.) The counts make realistic bandit instances, nothing more.
Seven depression studies that report no response are left out.
"""

import csv
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal, final

from dpbandits.environments.laws import Bernoulli

TITLES = {
    "smoking": "Smoking cessation: abstinent after 6 to 12 months",
    "depression": "Depression in primary care: early response to a drug class",
    "stroke": "Atrial fibrillation: no stroke under an antithrombotic",
    "copd": "COPD: survival under an inhaled medication",
}
TRIALS = tuple(TITLES)
TrialName = Literal["smoking", "depression", "stroke", "copd"]


@final
@dataclass(frozen=True)
class Trial:
    """One review's arms. events: patients with the good outcome; patients: all patients; both one
    number an arm.
    """

    name: str
    title: str
    arms: tuple[str, ...]
    events: tuple[int, ...]
    patients: tuple[int, ...]
    source: str

    @property
    def environment(self) -> Bernoulli:
        """Every patient's outcome is an independent coin with the arm's pooled rate."""
        return Bernoulli([e / n for e, n in zip(self.events, self.patients, strict=True)])


def clinical(name: TrialName | str) -> Trial:
    """One of the packaged trials, by name; `TRIALS` lists them.

    >>> trial = clinical("smoking")
    >>> trial.arms
    ('group counselling', 'individual counselling', 'self-help', 'no contact')
    >>> trial.environment
    Bernoulli([0.185586, 0.165109, 0.098663, 0.083668])

    Raises:
        ValueError: no such trial.
    """
    if name not in TITLES:
        raise ValueError(f"Expected one of the trials {', '.join(TRIALS)}; got {name!r}.")
    text = (files(__package__) / "trials.csv").read_text(encoding="utf-8")
    mine = [row for row in csv.DictReader(text.splitlines()) if row["trial"] == name]
    return Trial(
        name=name,
        title=TITLES[name],
        arms=tuple(row["arm"] for row in mine),
        events=tuple(int(row["events"]) for row in mine),
        patients=tuple(int(row["patients"]) for row in mine),
        source=mine[0]["source"],
    )
