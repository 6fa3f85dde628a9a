"""The environments of a sweep file: a function for each law, real data and super arms among them.
Its arguments are the keys of the law's table, which a pydantic model made of them checks.
"""

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar, Union

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    create_model,
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
    """One `[[environments]]` table: its name, its law, and the law's own keys."""

    name: str = Field(min_length=1)
    law: str

    def load(self, folder: Path) -> Loaded:
        """The environment; relative paths start at `folder`, where the sweep file lies."""
        given, load = {**dict(self), "folder": folder}, LAWS[self.law]
        return load(**{key: given[key] for key in signature(load).parameters})


LAWS: dict[str, Callable[..., Loaded]] = {}
"""By name, what makes an environment of the keys of its table, and of the sweep file's folder."""

Load = TypeVar("Load", bound=Callable[..., Loaded])


def law(load: Load) -> Load:
    """Make a function a law of sweep files."""
    LAWS[load.__name__] = load
    return load


def setting_of(load: Callable[..., Loaded]) -> type[Setting]:
    """The model of a law's table."""
    keys: dict[str, Any] = {
        name: (key.annotation, ... if key.default is key.empty else key.default)
        for name, key in signature(load).parameters.items()
        if name != "folder"
    }
    keys["law"] = Literal[load.__name__], ...
    return create_model(load.__name__, __base__=Setting, __doc__=load.__doc__, **keys)


Count = Annotated[int, Field(strict=True, ge=1, le=MOST)]
Number = StrictFloat
Epsilon = StrictInt | StrictFloat | StrictStr
"""As written in the file; a string such as "1/3" is a fraction."""

Arms = Annotated[int, Field(strict=True, ge=2, le=MOST_ARMS)]
Gap = Annotated[float, Field(gt=0)]
StrictGap = Annotated[StrictFloat, Field(gt=0)]
Most = Annotated[float, Field(gt=0, le=1)]
One = Annotated[int, Field(ge=1)]
Two = Annotated[int, Field(ge=2)]

POOLED = (
    "Arms come from different studies: a difference between two of them is no estimate of a "
    "treatment's effect."
)


@law
def bernoulli(means: list[Number]) -> Loaded:
    return Loaded(Bernoulli(means))


@law
def equal_gaps(best: Number, gap: StrictGap, arms: Arms) -> Loaded:
    """Bernoulli: one best arm, all others behind it by the same gap. The best is the last, so that
    no tie favours it.
    """
    return Loaded(Bernoulli(behind(best, [gap] * (arms - 1))))


@law
def doubling_gaps(
    best: Number, gap: StrictGap, arms: Annotated[int, Field(ge=2, le=1000)]
) -> Loaded:
    """Bernoulli: one best arm, the others behind it by gap, 2·gap, 4·gap, … The best is the last,
    the worst the first.
    """
    return Loaded(Bernoulli(behind(best, [gap * 2.0**i for i in reversed(range(arms - 1))])))


def behind(best: float, gaps: list[float]) -> list[float]:
    """Means of arms with these gaps, then the best one's."""
    if max(gaps) > best:
        text = (
            f"the largest gap, {max(gaps):g}, is above best = {best:g}, and no mean may be below 0"
        )
        raise ValueError(f"{text}; take fewer arms or a smaller gap")
    return [best - gap for gap in gaps] + [best]


@law
def beta(a: list[Number], b: list[Number]) -> Loaded:
    return Loaded(Beta(a, b))


@law
def uniform(low: list[Number], high: list[Number]) -> Loaded:
    return Loaded(Uniform(low, high))


@law
def categorical(values: list[Number], probabilities: list[list[Number]]) -> Loaded:
    return Loaded(Categorical(values, probabilities))


@law
def clinical(trial: str) -> Loaded:
    """A real trial that comes with the package: the pooled response rate of each arm."""
    found = datasets.clinical(trial)
    return Loaded(found.environment, found.arms, f"{found.title}. {found.source} {POOLED}")


@law
def table(
    folder: Path,
    path: Path,
    arms: list[str] | None = None,
    shuffle: int | None = None,
    resample: bool = False,
) -> Loaded:
    """A file of rewards in [0, 1]: a row is one round, a column one arm."""
    rewards = datasets.table(folder / path, arms=arms, seed=shuffle, resample=resample)
    return Loaded(rewards, tuple(arms or ()), f"rewards from {path.name}")


@law
def upworthy(folder: Path, path: Path, test: str, keep_imbalanced: bool = False) -> Loaded:
    """One headline test of the Upworthy archive."""
    found = datasets.upworthy(folder / path, test, keep_imbalanced=keep_imbalanced)
    return Loaded(found.environment, found.headlines, f"Upworthy Research Archive, test {test}")


@law
def msweb(
    folder: Path,
    path: Path,
    areas: int | list[int | str] | None = None,
    shuffle: int = 0,
    resample: bool = False,
) -> Loaded:
    """Visitors of microsoft.com; an arm is an area of the site."""
    visits = datasets.msweb(folder / path, areas, seed=shuffle, resample=resample)
    names = (
        tuple(a.title for a in datasets.msweb_areas(folder / path)[: visits.arms])
        if not isinstance(areas, list)
        else ()
    )
    return Loaded(visits, names, "Anonymous Microsoft Web Data (UCI)")


@law
def obd(folder: Path, path: Path, position: int | None = None, items: int | None = None) -> Loaded:
    """A replayed log of the Open Bandit Dataset."""
    log = datasets.obd(folder / path, position=position, items=items)
    return Loaded(log, (), "Open Bandit Dataset")


@law
def obd_rates(folder: Path, path: Path, campaign: str = "all") -> Loaded:
    """The production click rates of an Open Bandit campaign, as independent coins."""
    rates = datasets.obd_rates(folder / path, campaign)
    return Loaded(rates, (), f"Open Bandit Dataset, campaign {campaign!r}")


@law
def super_arms(means: list[float], problem: dict[str, Any]) -> Loaded:
    """Bernoulli arms and any problem that can be written down: problem = { kind = "TopK", arms = 5,
    k = 2 }.
    """
    played = problem_from_data(problem)
    if played.arms != len(means):
        raise ValueError(f"the problem has {played.arms} arms, means has {len(means)} numbers")
    return Loaded(Bernoulli(means), problem=played)


@law
def shared_arms(k: One, choices: Two, best: float, gap: Gap, shared: float = 0.5) -> Loaded:
    """k − 1 arms that all super arms have, the best one too, and one arm of its own in each; the
    best own arm is the last. No instance of the paper; `public_arms` is that of Theorem 9.

    The value of a super arm depends on its own arm only, so it is smooth in the largest error (B∞ =
    1) and linear at once.
    """
    common = list(range(k - 1))
    means = [shared] * (k - 1) + [best - gap] * (choices - 1) + [best]
    problem = ExplicitSet([[*common, k - 1 + i] for i in range(choices)], arms=len(means))
    return Loaded(Bernoulli(means), problem=problem)


@law
def public_arms(
    k: One,
    arms: Annotated[int, Field(ge=2, le=MOST_ARMS)],
    gap: Gap,
    best: float = 0.5,
    identical: bool = True,
) -> Loaded:
    """Chen et al. 2020, Theorem 9: k − 1 public arms and one arm of its own in each super arm but
    the best, which has k arms that no other has; `arms` in all, so `arms` − 2k + 1 super arms and
    the best.

    Its arms have mean `best`, all others less by gap/k, so that each super arm is behind by `gap`.
    The last k arms are the best ones. identical: the public arms share one coin a round, as in the
    paper; else they are independent.
    """
    if arms < 2 * k:
        raise ValueError(f"expected at least 2k = {2 * k} arms, got {arms}")
    public, others = k - 1, arms - k
    own = [[*range(public), arm] for arm in range(public, others)]
    means = [best - gap / k] * others + [best] * k
    problem = ExplicitSet([*own, list(range(others, arms))], arms=arms)
    if not identical:
        return Loaded(Bernoulli(means), problem=problem)
    return Loaded(SharedCoins(means, [0] * public + list(range(public, arms))), problem=problem)


@law
def k_paths(k: One, paths: Two, gap: Gap, best: float = 0.5, identical: bool = False) -> Loaded:
    """Chen et al. 2020, Theorem 6: `paths` super arms without an arm in common, k arms each; the
    last is better by `gap` in all.

    identical: the arms of one path share one coin a round, as in the paper; else all arms are
    independent. Policies that read one arm a round cannot tell the two apart.
    """
    chances = [best - gap / k] * (paths - 1) + [best]
    coins = np.repeat(np.arange(paths), k)
    problem = ExplicitSet([list(range(k * i, k * (i + 1))) for i in range(paths)], arms=len(coins))
    if identical:
        return Loaded(SharedCoins(chances, coins), problem=problem)
    return Loaded(Bernoulli(np.array(chances)[coins]), problem=problem)


def named_edges(network: Network) -> list[tuple[str, str]]:
    return [(network.nodes[u], network.nodes[v]) for u, v in network.edges]


@law
def roads(folder: Path, path: Path, source: str, target: str, most: Most = 0.9) -> Loaded:
    """Shortest paths on a road network (TNTP), not through its zones: an arm is a link, its cost
    the free-flow time, scaled to [0, `most`].
    """
    network = datasets.roads(data_file(folder, path)).trip(source, target)
    edges = named_edges(network)
    names = tuple(f"{u} to {v}" for u, v in edges)
    said = f"road network {path.name}, Transportation Networks for Research"
    environment = Bernoulli(1 - most * network.scaled_costs())
    return Loaded(environment, names, said, Paths(edges, source, target))


@law
def isp(
    folder: Path,
    path: Path,
    source: str | None = None,
    target: str | None = None,
    most: Most = 0.9,
) -> Loaded:
    """An internet provider's map (RocketFuel): cheapest spanning tree, or with `source` and
    `target` cheapest path, by latency.

    An arm is a link, its cost the latency, scaled to [0, `most`]; links between the same nodes are
    one.
    """
    if (source is None) != (target is None):
        raise ValueError("give both source and target (a path), or neither (a spanning tree)")
    network = datasets.isp(data_file(folder, path)).simple()
    edges = named_edges(network)
    problem: DecisionSet = SpanningTrees(edges, costs=True)
    if source is not None and target is not None:
        problem = Paths(edges, source, target, directed=False)
    environment = Bernoulli(1 - most * network.scaled_costs())
    return Loaded(environment, (), f"RocketFuel, {path.name}", problem)


@law
def cascade(folder: Path, path: Path, seeds: One) -> Loaded:
    """Influence maximisation on a social graph: an arm is an edge, which passes an influence on
    with probability 1/indegree.
    """
    network = datasets.social(data_file(folder, path)).simple().both_ways()
    environment = Bernoulli(network.indegree_probabilities())
    problem = Influence(named_edges(network), seeds=seeds)
    return Loaded(environment, (), f"social graph {path.name}, SNAP", problem)


@law
def msweb_coverage(
    folder: Path,
    path: Path,
    k: One,
    areas: Two = 20,
    least: Annotated[float, Field(gt=0, lt=1)] = 0.02,
) -> Loaded:
    """Maximum coverage on a site (MSWeb): feature `k` of the most visited areas so that as many
    areas as possible are reached.

    An arm is a pair of areas; its mean is the share of one's visitors who also went to the other.
    Pairs below `least` are left out.
    """
    visits = datasets.msweb(data_file(folder, path), areas, seed=None).rewards
    together = visits.T @ visits
    shares = together / np.maximum(np.diag(together), 1)[:, None]
    pairs = [(a, b) for a in range(areas) for b in range(areas) if a != b and shares[a, b] >= least]
    problem = Coverage([(f"feature {a}", f"reach {b}") for a, b in pairs], k=k)
    environment = Bernoulli([float(shares[a, b]) for a, b in pairs])
    return Loaded(environment, (), "Anonymous Microsoft Web Data (UCI)", problem)


@law
def films(
    folder: Path,
    path: Path,
    films: int = 100,
    users: bool = False,
    drop_unlisted: bool = False,
    shuffle: int = 0,
) -> Loaded:
    """MovieLens, a folder or zip as it is published, or a JSON file of counts: an arm is a film, a
    basis is diverse in genres.

    Films come in an order drawn from the seed: the published one is by popularity, which ties would
    give away.
    path: beside the sweep file, else in the data folder.
    users: each round shows a random user (rewards of one round belong together); else independent
        coins.
    drop_unlisted: leave out ratings of films that are not in the list, in place of an error.
    """
    place = data_file(folder, path)
    found = (
        datasets.films_from_counts(place)
        if place.suffix == ".json"
        else datasets.movielens(place, films, drop_unlisted=drop_unlisted)
    )
    order = np.random.default_rng(shuffle).permutation(len(found.titles))
    titles, kinds = zip(*((found.titles[i], found.genres_of(i)) for i in order), strict=True)
    said = f"MovieLens, GroupLens Research ({place.name})"
    environment = table_of(found, order) if users else Bernoulli(found.means[order])
    return Loaded(environment, titles, said, LinearMatroid(found.vectors[order]), kinds)


def table_of(films: Films, order: Integers) -> Table:
    """Who watched what, of films in this order."""
    if films.watched is None:
        raise ValueError(
            "users = true needs who rated what; this file has counts only. Give it a MovieLens "
            "folder or zip."
        )
    return Table(films.watched[:, order], resample=True)


if TYPE_CHECKING:
    AnySetting = Setting
else:
    AnySetting = Annotated[
        Union[tuple(map(setting_of, LAWS.values()))],  # noqa: UP007   # made as they are found
        Field(discriminator="law"),
    ]
"""Any `[[environments]]` table; its `law` says which."""
