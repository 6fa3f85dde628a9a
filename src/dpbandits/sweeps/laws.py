"""The environments of a sweep file: a pydantic model for each law, real data and super arms among
them.
"""

from abc import abstractmethod
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

from dpbandits import datasets
from dpbandits.core.inputs import MOST, MOST_ARMS, Integers
from dpbandits.datasets import Films, Network, data_folder
from dpbandits.environments import (
    Bernoulli,
    Beta,
    Categorical,
    Environment,
    SharedCoins,
    Table,
    Uniform,
)
from dpbandits.oracles import (
    Coverage,
    DecisionSet,
    ExplicitSet,
    Influence,
    LinearMatroid,
    Paths,
    SpanningTrees,
    problem_from_data,
)


class Loaded(NamedTuple):
    """arms: their names, where the data has names. source: of real data; empty for a made-up
    setting.

    problem: the super arms that policies play here; None where they play single arms.
    kinds: of each arm, where the data has them: a film's genres.
    """

    environment: Environment
    arms: tuple[str, ...] = ()
    source: str = ""
    problem: DecisionSet | None = None
    kinds: tuple[tuple[str, ...], ...] = ()


def data_file(folder: Path, path: Path) -> Path:
    """A file of the reader's own: beside the sweep file, else in the data folder, which
    `dpbandits.datasets.data_folder()` says.
    """
    beside = folder / path
    return beside if beside.exists() else data_folder() / path


class Spec(BaseModel):
    """A table of a sweep file: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Setting(Spec):
    """One `[[environments]]` table."""

    name: str = Field(min_length=1)

    @abstractmethod
    def load(self, folder: Path) -> Loaded:
        """The environment; relative paths start at `folder`, where the sweep file lies."""


Count = Annotated[int, Field(strict=True, ge=1, le=MOST)]
Number = StrictFloat
Epsilon = StrictInt | StrictFloat | StrictStr
"""As written in the file; a string such as "1/3" is a fraction."""

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
    arms: int = Field(strict=True, ge=2, le=MOST_ARMS)

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


class SharedArmsSetting(Setting):
    """k − 1 arms that all super arms have, the best one too, and one arm of its own in each; the
    best own arm is the last. No instance of the paper; `public_arms` is that of Theorem 9.

    The value of a super arm depends on its own arm only, so it is smooth in the largest error (B∞ =
    1) and linear at once.
    """

    law: Literal["shared_arms"]
    k: int = Field(ge=1)
    choices: int = Field(ge=2)
    best: float
    gap: float = Field(gt=0)
    shared: float = 0.5

    def load(self, folder: Path) -> Loaded:
        common = list(range(self.k - 1))
        means = (
            [self.shared] * (self.k - 1) + [self.best - self.gap] * (self.choices - 1) + [self.best]
        )
        super_arms = [[*common, self.k - 1 + i] for i in range(self.choices)]
        return Loaded(Bernoulli(means), problem=ExplicitSet(super_arms=super_arms, arms=len(means)))


class PublicArmsSetting(Setting):
    """Chen et al. 2020, Theorem 9: k − 1 public arms and one arm of its own in each super arm but
    the best, which has k arms that no other has; `arms` in all, so `arms` − 2k + 1 super arms and
    the best.

    Its arms have mean `best`, all others less by gap/k, so that each super arm is behind by `gap`.
    The last k arms are the best ones. identical: the public arms share one coin a round, as in the
    paper; else they are independent.
    """

    law: Literal["public_arms"]
    k: int = Field(ge=1)
    arms: int = Field(ge=2, le=MOST_ARMS)
    gap: float = Field(gt=0)
    best: float = 0.5
    identical: bool = True

    @model_validator(mode="after")
    def _large_enough(self) -> Self:
        if self.arms < 2 * self.k:
            raise ValueError(f"expected at least 2k = {2 * self.k} arms, got {self.arms}")
        return self

    def load(self, folder: Path) -> Loaded:
        public, best = self.k - 1, self.arms - self.k
        super_arms = [[*range(public), own] for own in range(public, best)]
        super_arms.append(list(range(best, self.arms)))
        means = [self.best - self.gap / self.k] * best + [self.best] * self.k
        problem = ExplicitSet(super_arms=super_arms, arms=self.arms)
        if not self.identical:
            return Loaded(Bernoulli(means), problem=problem)
        coins = [0] * public + list(range(public, self.arms))
        return Loaded(SharedCoins(means, coins), problem=problem)


class KPathsSetting(Setting):
    """Chen et al. 2020, Theorem 6: `paths` super arms without an arm in common, k arms each; the
    last is better by `gap` in all.

    identical: the arms of one path share one coin a round, as in the paper; else all arms are
    independent. Policies that read one arm a round cannot tell the two apart.
    """

    law: Literal["k_paths"]
    k: int = Field(ge=1)
    paths: int = Field(ge=2)
    gap: float = Field(gt=0)
    best: float = 0.5
    identical: bool = False

    def load(self, folder: Path) -> Loaded:
        chances = [self.best - self.gap / self.k] * (self.paths - 1) + [self.best]
        coins = np.repeat(np.arange(self.paths), self.k)
        super_arms = [list(range(self.k * i, self.k * (i + 1))) for i in range(self.paths)]
        problem = ExplicitSet(super_arms=super_arms, arms=len(coins))
        if self.identical:
            return Loaded(SharedCoins(chances, coins), problem=problem)
        return Loaded(Bernoulli(np.array(chances)[coins]), problem=problem)


def named_edges(network: Network) -> list[tuple[str, str]]:
    return [(network.nodes[u], network.nodes[v]) for u, v in network.edges]


class RoadsSetting(Setting):
    """Shortest paths on a road network (TNTP), not through its zones: an arm is a link, its cost
    the free-flow time, scaled to [0, `most`].
    """

    law: Literal["roads"]
    path: Path
    source: str
    target: str
    most: float = Field(default=0.9, gt=0, le=1)

    def load(self, folder: Path) -> Loaded:
        network = datasets.roads(data_file(folder, self.path)).trip(self.source, self.target)
        edges = named_edges(network)
        names = tuple(f"{u} to {v}" for u, v in edges)
        problem = Paths(edges, self.source, self.target)
        source = f"road network {self.path.name}, Transportation Networks for Research"
        return Loaded(Bernoulli(1 - self.most * network.scaled_costs()), names, source, problem)


class ISPSetting(Setting):
    """An internet provider's map (RocketFuel): cheapest spanning tree, or with `source` and
    `target` cheapest path, by latency.

    An arm is a link, its cost the latency, scaled to [0, `most`]; links between the same nodes are
    one.
    """

    law: Literal["isp"]
    path: Path
    source: str | None = None
    target: str | None = None
    most: float = Field(default=0.9, gt=0, le=1)

    def load(self, folder: Path) -> Loaded:
        if (self.source is None) != (self.target is None):
            raise ValueError("give both source and target (a path), or neither (a spanning tree)")
        network = datasets.isp(data_file(folder, self.path)).simple()
        edges = named_edges(network)
        environment = Bernoulli(1 - self.most * network.scaled_costs())
        source = f"RocketFuel, {self.path.name}"
        if self.source is None or self.target is None:
            return Loaded(environment, (), source, SpanningTrees(edges, costs=True))
        return Loaded(
            environment, (), source, Paths(edges, self.source, self.target, directed=False)
        )


class CascadeSetting(Setting):
    """Influence maximisation on a social graph: an arm is an edge, which passes an influence on
    with probability 1/indegree.
    """

    law: Literal["cascade"]
    path: Path
    seeds: int = Field(ge=1)

    def load(self, folder: Path) -> Loaded:
        network = datasets.social(data_file(folder, self.path)).simple().both_ways()
        problem = Influence(named_edges(network), seeds=self.seeds)
        return Loaded(
            Bernoulli(network.indegree_probabilities()),
            (),
            f"social graph {self.path.name}, SNAP",
            problem,
        )


class CoverageSetting(Setting):
    """Maximum coverage on a site (MSWeb): feature `k` of the most visited areas so that as many
    areas as possible are reached.

    An arm is a pair of areas; its mean is the share of one's visitors who also went to the other.
    Pairs below `least` are left out.
    """

    law: Literal["msweb_coverage"]
    path: Path
    k: int = Field(ge=1)
    areas: int = Field(default=20, ge=2)
    least: float = Field(default=0.02, gt=0, lt=1)

    def load(self, folder: Path) -> Loaded:
        visits = datasets.msweb(data_file(folder, self.path), self.areas, seed=None).rewards
        together = visits.T @ visits
        shares = together / np.maximum(np.diag(together), 1)[:, None]
        pairs = [
            (a, b)
            for a in range(self.areas)
            for b in range(self.areas)
            if a != b and shares[a, b] >= self.least
        ]
        problem = Coverage([(f"feature {a}", f"reach {b}") for a, b in pairs], k=self.k)
        return Loaded(
            Bernoulli([float(shares[a, b]) for a, b in pairs]),
            (),
            "Anonymous Microsoft Web Data (UCI)",
            problem,
        )


class ProblemSetting(Setting):
    """Bernoulli arms and any problem that can be written down: problem = { kind = "TopK", arms = 5,
    k = 2 }.
    """

    law: Literal["super_arms"]
    means: list[float]
    problem: dict[str, Any]

    def load(self, folder: Path) -> Loaded:
        problem = problem_from_data(self.problem)
        if problem.arms != len(self.means):
            raise ValueError(
                f"the problem has {problem.arms} arms, means has {len(self.means)} numbers"
            )
        return Loaded(Bernoulli(self.means), problem=problem)


class FilmsSetting(Setting):
    """MovieLens, a folder or zip as it is published, or a JSON file of counts: an arm is a film, a
    basis is diverse in genres.

    Films come in an order drawn from the seed: the published one is by popularity, which ties would
    give away.
    path: beside the sweep file, else in the data folder.
    users: each round shows a random user (rewards of one round belong together); else independent
        coins.
    drop_unlisted: leave out ratings of films that are not in the list, in place of an error.
    """

    law: Literal["films"]
    path: Path
    films: int = 100
    users: bool = False
    drop_unlisted: bool = False
    shuffle: int = 0

    def load(self, folder: Path) -> Loaded:
        place = data_file(folder, self.path)
        films = (
            datasets.films_from_counts(place)
            if place.suffix == ".json"
            else datasets.movielens(place, self.films, drop_unlisted=self.drop_unlisted)
        )
        order = np.random.default_rng(self.shuffle).permutation(len(films.titles))
        titles, kinds = zip(*((films.titles[i], films.genres_of(i)) for i in order), strict=True)
        source = f"MovieLens, GroupLens Research ({place.name})"
        problem = LinearMatroid(films.vectors[order])
        return Loaded(self.environment(films, order), titles, source, problem, kinds)

    def environment(self, films: Films, order: Integers) -> Bernoulli | Table:
        if not self.users:
            return Bernoulli(films.means[order])
        if films.watched is None:
            raise ValueError(
                "users = true needs who rated what; this file has counts only. Give it a "
                "MovieLens folder or zip."
            )
        return Table(films.watched[:, order], resample=True)


AnySetting = Annotated[
    BernoulliSetting
    | EqualGapsSetting
    | DoublingGapsSetting
    | BetaSetting
    | UniformSetting
    | CategoricalSetting
    | ClinicalSetting
    | TableSetting
    | UpworthySetting
    | MSWebSetting
    | OBDSetting
    | OBDRatesSetting
    | ProblemSetting
    | SharedArmsSetting
    | PublicArmsSetting
    | KPathsSetting
    | RoadsSetting
    | ISPSetting
    | CascadeSetting
    | CoverageSetting
    | FilmsSetting,
    Field(discriminator="law"),
]
"""Any `[[environments]]` table; its `law` says which."""
