"""What the environments of a sweep file are: a class for each law, real data among them."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from dpbandits import datasets
from dpbandits.core.inputs import MOST_ARMS
from dpbandits.environments import Bernoulli, Beta, Categorical, Uniform
from dpbandits.sweeps.reading.entries import Count, Loaded, Number, Setting
from dpbandits.sweeps.super_arms import SuperArmLaw

POOLED = (
    "Arms come from different studies: a difference between two of them is no estimate of a "
    "treatment's effect."
)


class BernoulliSetting(Setting):
    law: Literal["bernoulli"]
    means: list[Number]

    def load(self, folder: Path) -> Loaded:
        return Loaded(Bernoulli(self.means))


class EqualGapsSetting(Setting):
    """Bernoulli: one best arm, all others behind it by the same gap. The best is the last, so that
    no tie favours it.
    """

    law: Literal["equal_gaps"]
    best: Number
    gap: Number = Field(gt=0)
    arms: Count = Field(ge=2, le=MOST_ARMS)

    def load(self, folder: Path) -> Loaded:
        return Loaded(Bernoulli(behind(self.best, [self.gap] * (self.arms - 1))))


class DoublingGapsSetting(Setting):
    """Bernoulli: one best arm, the others behind it by gap, 2·gap, 4·gap, … The best is the last,
    the worst the first.
    """

    law: Literal["doubling_gaps"]
    best: Number
    gap: Number = Field(gt=0)
    arms: int = Field(ge=2, le=1000)

    def load(self, folder: Path) -> Loaded:
        return Loaded(
            Bernoulli(
                behind(self.best, [self.gap * 2.0**i for i in reversed(range(self.arms - 1))])
            )
        )


def behind(best: float, gaps: list[float]) -> list[float]:
    """Means of arms with these gaps, then the best one's."""
    if max(gaps) > best:
        text = (
            f"the largest gap, {max(gaps):g}, is above best = {best:g}, and no mean may be below 0"
        )
        raise ValueError(f"{text}; take fewer arms or a smaller gap")
    return [best - gap for gap in gaps] + [best]


class BetaSetting(Setting):
    law: Literal["beta"]
    a: list[Number]
    b: list[Number]

    def load(self, folder: Path) -> Loaded:
        return Loaded(Beta(self.a, self.b))


class UniformSetting(Setting):
    law: Literal["uniform"]
    low: list[Number]
    high: list[Number]

    def load(self, folder: Path) -> Loaded:
        return Loaded(Uniform(self.low, self.high))


class CategoricalSetting(Setting):
    law: Literal["categorical"]
    values: list[Number]
    probabilities: list[list[Number]]

    def load(self, folder: Path) -> Loaded:
        return Loaded(Categorical(self.values, self.probabilities))


class ClinicalSetting(Setting):
    """A real trial that comes with the package: the pooled response rate of each arm."""

    law: Literal["clinical"]
    trial: str

    def load(self, folder: Path) -> Loaded:
        trial = datasets.clinical(self.trial)
        return Loaded(trial.environment, trial.arms, f"{trial.title}. {trial.source} {POOLED}")


class TableSetting(Setting):
    """A file of rewards in [0, 1]: a row is one round, a column one arm."""

    law: Literal["table"]
    path: Path
    arms: list[str] | None = None
    shuffle: int | None = None
    resample: bool = False

    def load(self, folder: Path) -> Loaded:
        table = datasets.table(
            folder / self.path, arms=self.arms, seed=self.shuffle, resample=self.resample
        )
        return Loaded(table, tuple(self.arms or ()), f"rewards from {self.path.name}")


class UpworthySetting(Setting):
    """One headline test of the Upworthy archive."""

    law: Literal["upworthy"]
    path: Path
    test: str
    keep_imbalanced: bool = False

    def load(self, folder: Path) -> Loaded:
        test = datasets.upworthy(
            folder / self.path, self.test, keep_imbalanced=self.keep_imbalanced
        )
        return Loaded(
            test.environment, test.headlines, f"Upworthy Research Archive, test {self.test}"
        )


class MSWebSetting(Setting):
    """Visitors of microsoft.com; an arm is an area of the site."""

    law: Literal["msweb"]
    path: Path
    areas: int | list[int | str] | None = None
    shuffle: int = 0
    resample: bool = False

    def load(self, folder: Path) -> Loaded:
        visits = datasets.msweb(
            folder / self.path, self.areas, seed=self.shuffle, resample=self.resample
        )
        names = (
            tuple(a.title for a in datasets.msweb_areas(folder / self.path)[: visits.arms])
            if not isinstance(self.areas, list)
            else ()
        )
        return Loaded(visits, names, "Anonymous Microsoft Web Data (UCI)")


class OBDSetting(Setting):
    """A replayed log of the Open Bandit Dataset."""

    law: Literal["obd"]
    path: Path
    position: int | None = None
    items: int | None = None

    def load(self, folder: Path) -> Loaded:
        return Loaded(
            datasets.obd(folder / self.path, position=self.position, items=self.items),
            (),
            "Open Bandit Dataset",
        )


class OBDRatesSetting(Setting):
    """The production click rates of an Open Bandit campaign, as independent coins."""

    law: Literal["obd_rates"]
    path: Path
    campaign: str = "all"

    def load(self, folder: Path) -> Loaded:
        return Loaded(
            datasets.obd_rates(folder / self.path, self.campaign),
            (),
            f"Open Bandit Dataset, campaign {self.campaign!r}",
        )


Made = (
    BernoulliSetting
    | EqualGapsSetting
    | DoublingGapsSetting
    | BetaSetting
    | UniformSetting
    | CategoricalSetting
)
RealDataSetting = (
    ClinicalSetting | TableSetting | UpworthySetting | MSWebSetting | OBDSetting | OBDRatesSetting
)
AnySetting = Annotated[Made | RealDataSetting | SuperArmLaw, Field(discriminator="law")]
LAWS = {
    law.model_fields["law"].annotation.__args__[0]: law
    for law in (*Made.__args__, *RealDataSetting.__args__, *SuperArmLaw.__args__)
}
