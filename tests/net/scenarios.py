"""What is played: scenarios × policies.

Every registered policy is in `INSTANCES`, with the arguments that make its interesting moments come
soon. `cases()` makes the table; a case's name says its family, policy and scenario.
"""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import dpbandits as dpb
from tests.net.driver import Case, Timing

MATROID = dpb.LinearMatroid([[1, 0], [0, 1], [1, 1], [0, 0]])
"""Rank 2, with a loop that no base contains."""

TOP = dpb.TopK(arms=4, k=2)

RULE = {"alpha": 0.9, "beta": 0.5, "high": 1}

GROUPS: list[tuple[dict[str, Any], dict[str, list[dict[str, Any]]]]] = [
    (
        {"arms": 3},
        {
            "ThompsonBeta": [{}],
            "KLUCB": [{}, {"c": 3.0}],
            "UCB1": [{}],
            "KalmanTS": [
                {"lasting": 300},
                {"lasting": 300, "preset": "restarts", "surprise": 1.5, "block": 5},
            ],
            "SuccessiveElimination": [{"beta": 0.9}],
        },
    ),
    (
        {"arms": 3, "epsilon": 2},
        {
            "DPIMED": [{"first": 3}],
            "DPKLUCB": [{"first": 3}, {"first": 3, "preset": "robust"}, {}],
            "AdaPKLUCB": [{}],
            "AdaPUCB": [{}],
            "AnytimeLazyUCB": [{}],
            "DPRateIMED": [
                {"first": 3},
                {"first": 3, "preset": "mean"},
                {"first": 3, "preset": "safe"},
                {},
            ],
            "DPKalmanTS": [
                {"lasting": 300, "block": 5},
                {"lasting": 300, "preset": "restarts", "surprise": 1.5, "block": 5},
            ],
            "LazyDPTS": [{}],
            "DPUCB": [
                {"horizon": 3000, "preset": "tight"},
                {"horizon": 3000, "preset": "signed"},
                {"horizon": 3000, "preset": "published"},
            ],
            "DPUCBBound": [{}],
            "HybridUCB": [
                {"epsilon": "1/2", "preset": "corrected"},
                {"epsilon": "1/2", "preset": "published"},
            ],
            "LDPKLUCB": [{}],
            "LDPUCB": [{}],
            "DPSE": [
                {"epsilon": 400, "beta": 0.9},
                {"epsilon": 400},
                {"epsilon": 400, "horizon": 50_000},
                {"epsilon": 400, "preset": "squared"},
            ],
            "SparseVectorSE": [
                {"epsilon": 400, "beta": 0.9, "horizon": 9000},
                {"epsilon": 400, "beta": 0.9, "horizon": 9000, "preset": "arms"},
                {"epsilon": 400, "beta": 0.9, "horizon": 9000, "preset": "one"},
            ],
            "CTBTT": [{}, {"epsilon": 8, "delta": 0.3}],
            "AdaPTT": [
                {"epsilon": 8, "delta": 0.3},
                {"epsilon": 8, "delta": 0.3, "first": 3},
                {"epsilon": 8, "delta": 0.5, "preset": "published"},
            ],
        },
    ),
    ({"arms": 3, "rho": "1/3"}, {"AdaCUCB": [{}]}),
    ({"actions": 3, "rho": "1/3"}, {"RootFTRL": [{"horizon": 500}]}),
    (
        {"actions": 3},
        {"DecreasingHedge": [{}, {"play": "weights"}], "FollowTheLeader": [{}]},
    ),
    (
        {"actions": 3, "epsilon": 2},
        {
            "TreeFTRL": [
                {"horizon": 500},
                {"horizon": 500, "play": "weights"},
                {"horizon": 500, "preset": "published"},
            ],
            "RNMFTNL": [
                {"selection": "exponential"},
                {"selection": "permute-and-flip"},
                {"preset": "published"},
                {},
            ],
            "NaiveFTNL": [{}],
            "PrefixExponential": [{}],
        },
    ),
    (
        {"problem": MATROID},
        {
            "KLOSM": [{}, {"c": 0.0}],
            "OMM": [{}],
            "CTSBeta": [{}],
            "CTSGaussian": [{}],
        },
    ),
    ({"problem": TOP}, {"CUCB": [{}]}),
    (
        {"problem": MATROID, "epsilon": 2},
        {
            "DPJointMAT": [{"first": 1.0}, {"first": 1.0, "preset": "proved"}],
            "DPTSMAT": [{}],
            "DPUCBMAT": [{}],
            "DPKLMAT": [{"first": 3}],
        },
    ),
    (
        {"problem": TOP, "epsilon": 2},
        {
            "DPKLCUCB": [{"first": 3}],
            "LazyCUCB": [{}],
            "DPJointCUCB": [{"first": 1.0}, {"first": 1.0, "preset": "level"}],
            "CUCBLDP1": [
                {"epsilon": 40},
                {"epsilon": 40, "preset": "published", "horizon": 3000},
            ],
            "CUCBLDP2": [
                {"epsilon": 20},
                {"epsilon": 20, "preset": "published", "horizon": 3000},
                {"ask": "undecided", "preset": "sharp"},
                {"radius": "joint"},
            ],
            "CUCBDP": [
                {"epsilon": 400, "horizon": 3000},
                {"epsilon": 400, "horizon": 3000, "preset": "signed"},
                {"epsilon": 4000, "horizon": 3000, "preset": "published"},
            ],
            "CUCBDPMax": [{"epsilon": 40, "horizon": 3000}],
        },
    ),
    (
        RULE,
        {
            "NAS": [{"low": 0, "cap": 400}, {"low": -1, "cap": 60}],
            "DPNAS": [
                {"epsilon": 16, "low": 0, "cap": 400},
                {"epsilon": 16, "low": -1, "cap": 60},
            ],
            "DPExponentialNAS": [
                {"epsilon": 16, "low": 0, "cap": 3000},
                {"epsilon": 16, "low": -1, "cap": 60},
            ],
        },
    ),
]
"""Arguments that a group shares, and of every policy of the group those of its instances."""

LENGTHS = {
    "AdaPTT": (2500, 1500),
    "CTBTT": (600, 400),
    "CUCBDP": (300, 110),
    "DPSE": (10_000, 2600),
    "LazyCUCB": (1000, 900),
    "RootFTRL": (200, 120),
    "SparseVectorSE": (3000, 2000),
    "SuccessiveElimination": (4000, 900),
    "TreeFTRL": (200, 120),
}
"""Rounds, and rounds with options, where the usual numbers do not do."""

MEANS = {"DPSE": (0.55, 0.62, 0.2)} | dict.fromkeys(
    (
        "DecreasingHedge",
        "FollowTheLeader",
        "NaiveFTNL",
        "PrefixExponential",
        "RNMFTNL",
        "RootFTRL",
        "TreeFTRL",
    ),
    (0.5, 0.56, 0.53),
)
"""Means that are closer than the usual ones, or wider apart."""

TIMINGS = {
    "prompt": Timing(),
    "late": Timing(ahead=9, left=4, lost=0.08),
    "far": Timing(ahead=60, left=15, lost=0.08),
    "batches": Timing(batch=25, ahead=25, left=5, lost=0.05, many=True),
}
"""Outcomes at once; late and out of order; many requests ahead of outcomes; requested and reported
together, across releases. But for the first, some expire and some are void.
"""

LATE = TIMINGS["late"]

LABELS = ["red", "green", "blue"]

PEOPLE: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 3}

COSTS: dict[str, Any] = {
    "rewards": dpb.Range(10, 250, minimise=True, clip=True),
    "default": 200,
}

HOUR = timedelta(hours=1)

MOVES: tuple[tuple[float, str, Any], ...] = (
    (0.15, "add_arm", ("pink",)),
    (0.3, "pause_arm", ("green",)),
    (0.45, "retire_arm", ("red",)),
    (0.55, "drop_open", ()),
    (0.6, "resume_arm", ("green",)),
    (0.7, "add_arm", ("grey",)),
    (0.8, "pause_arm", (3,)),
    (0.9, "retire_arm", ("blue",)),
)
"""Arms come and go."""

OPTIONS: dict[str, dict[str, Any]] = {
    "attribution": {"attribution_window": HOUR, "default": 0.25},
    "segments": {"segments": ["DE", "FR"]},
    "drop": {},
    "costs": COSTS,
    "users": PEOPLE,
    "window": PEOPLE | {"window": 4 * HOUR},
    "shuffled": {"assignment": "shuffled"},
    "share": {"min_share": 0.1},
    "eligible": {},
    "live": {},
    "guardrail": {"guardrail": dpb.Guardrail("refunds", limit=0.2, default=0.5)},
    "everything": COSTS
    | PEOPLE
    | {
        "window": 6 * HOUR,
        "attribution_window": HOUR,
        "assignment": "shuffled",
        "min_share": 0.05,
        "segments": ["DE", "FR"],
        "max_pending": 900,
    },
}
"""Options of a session, each for the policies that can (`takes`)."""

CHOOSING = {"shuffled", "share", "eligible", "live", "guardrail", "everything"}
"""For policies that can choose among some of their arms."""

GUARDED = {"AdaPKLUCB", "AdaPUCB", "AnytimeLazyUCB", "DPIMED", "DPKLUCB", "DPRateIMED"}
"""Policies that read rewards in blocks in which a second number can be read."""


def made(name: str, base: Mapping[str, Any], own: Mapping[str, Any]) -> Any:
    return getattr(dpb, name)(**base | own)


INSTANCES: dict[str, list[tuple[str, Any]]] = {
    name: [
        (" ".join([name, *(f"{k}={v}" for k, v in own.items())]), made(name, base, own))
        for own in owns
    ]
    for base, group in GROUPS
    for name, owns in group.items()
}
"""By policy: names of instances, and the instances."""

FIRST = {name: instances[0][1] for name, instances in INSTANCES.items()}
"""The first instance of every policy, with which options are tried."""

CHOOSE = [name for name, policy in FIRST.items() if policy.chooses]


def takes(name: str, option: str) -> bool:
    """Whether a policy can be played with an option."""
    about = FIRST[name].about
    if option in CHOOSING and name not in CHOOSE:
        return False
    if option in ("users", "window", "everything") and about.privacy == "none":
        return False
    if option in ("costs", "everything") and about.privacy == "local":
        return False
    return option != "guardrail" or name in GUARDED


def rounds_of(name: str, *, options: bool = False) -> int:
    """How many rounds a policy is played."""
    usual = (180, 110) if FIRST[name].about.every_round else (700, 400)
    return LENGTHS.get(name, usual)[options]


def at_all_times() -> Iterator[Case]:
    """Every instance at once and late; the first of each policy in all ways."""
    for family, timing in TIMINGS.items():
        for name, instances in INSTANCES.items():
            for title, policy in instances if family in ("prompt", "late") else instances[:1]:
                rounds = rounds_of(name)
                if family == "far":  # many outcomes come between two releases
                    rounds = max(rounds, 300)
                yield Case(family, title, policy, rounds, timing, means=MEANS.get(name))


def with_options() -> Iterator[Case]:
    """The first instance of every policy with every option that it takes."""
    for option, options in OPTIONS.items():
        for name in INSTANCES:
            if takes(name, option):
                yield with_option(name, option, options)


def with_option(name: str, option: str, options: Mapping[str, Any]) -> Case:
    title, policy = INSTANCES[name][0]
    rounds = rounds_of(name, options=True)
    if name == "DPSE" and option in ("drop", "segments"):  # its first epoch is long
        rounds *= 2
    case = Case(option, title, policy, rounds, LATE, options, means=MEANS.get(name))
    if option in ("users", "window", "everything"):
        case = case._replace(users=rounds // 4 if option == "users" else 15)
    if option in ("eligible", "everything"):
        case = case._replace(eligible=True)
    if option in ("live", "guardrail", "everything"):
        case = case._replace(policy=with_labels(name))
    if option in ("live", "everything"):
        case = case._replace(live=MOVES)
    if option == "drop":
        case = case._replace(live=((0.45, "drop_open", ()), (0.7, "drop_open", ())))
    return case


def with_labels(name: str) -> Any:
    """The first instance of a policy on arms, with names for them."""
    ((base, own),) = ((base, group[name][0]) for base, group in GROUPS if name in group)
    return made(name, base | {"arms": LABELS}, own)


def heaviest(weights: Any) -> Any:
    """An oracle of the caller's own."""
    return sorted(range(len(weights)), key=lambda arm: (-weights[arm], arm))[:2]


SQUARE = [(0, 1), (1, 3), (0, 2), (2, 3), (1, 2)]
"""Edges of a graph with four vertices."""

MATROIDS: dict[str, Any] = {
    "uniform": dpb.UniformMatroid(arms=5, rank=2),
    "partition": dpb.PartitionMatroid(categories=[0, 0, 1, 1, 1], capacities=[1, 2]),
    "graphic": dpb.GraphicMatroid(SQUARE),
    "transversal": dpb.TransversalMatroid([[0, 1, 2], [2, 3], [3, 4]], arms=5),
    "explicit": dpb.ExplicitMatroid(arms=4, bases=[(0, 1), (0, 2), (1, 2), (0, 3), (1, 3)]),
    "binary": dpb.LinearMatroid([[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 1]], field=2),
}

SETS: dict[str, Any] = {
    "paths": dpb.Paths(SQUARE, 0, 3),
    "trees": dpb.SpanningTrees(SQUARE),
    "matchings": dpb.Matchings([(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)]),
    "listed": dpb.ExplicitSet([[0, 1], [1, 2], [0, 3], [2, 4]], arms=5),
    "coverage": dpb.Coverage([(0, 0), (0, 1), (1, 1), (1, 2), (2, 3)], k=2),
    "influence": dpb.Influence([(0, 1), (0, 2), (1, 2), (1, 0), (2, 0), (2, 1)], seeds=1),
    "largest": dpb.TopKMax(arms=4, k=2),
    "own": dpb.UserDecisionSet(arms=4, size=2, oracle=heaviest),
}

RISING = (0.2, 0.4, 0.6, 0.8, 0.5, 0.7)
"""Means of arms where the first ones are not the best."""

ON_MATROIDS = {
    "DPJointMAT": {"epsilon": 4, "first": 1.0},
    "DPUCBMAT": {"epsilon": 4},
    "DPTSMAT": {"epsilon": 4},
    "DPKLMAT": {"epsilon": 4, "first": 3},
    "OMM": {},
}

ON_SETS = {
    "DPJointCUCB": {"epsilon": 4, "first": 1.0},
    "LazyCUCB": {"epsilon": 4},
    "DPKLCUCB": {"epsilon": 4, "first": 3},
    "CUCBLDP2": {"epsilon": 20},
    "CUCB": {},
}


def on_problems() -> Iterator[Case]:
    """Matroids, and other decision sets."""
    for problems, policies in ((MATROIDS, ON_MATROIDS), (SETS, ON_SETS)):
        for title, problem in problems.items():
            for name, own in policies.items():
                if title != "largest" or name in ("CUCB", "CUCBLDP2"):
                    policy = made(name, {"problem": problem}, own)
                    case = Case("problems", f"{name} {title}", policy, 150, LATE, means=RISING)
                    yield case._replace(own=title == "own")


BIG, NINE = dpb.UniformMatroid(arms=12, rank=4), dpb.TopK(arms=9, k=3)

JOINT = {
    "DPJointMAT 2 of 4": dpb.DPJointMAT(problem=MATROID, epsilon=1, first=3),
    "DPJointMAT 4 of 12": dpb.DPJointMAT(problem=BIG, epsilon=4, first=2),
    "DPJointMAT level": dpb.DPJointMAT(problem=MATROID, epsilon=1, first=3, preset="level"),
    "DPJointCUCB 2 of 4": dpb.DPJointCUCB(problem=TOP, epsilon=1, first=3),
    "DPJointCUCB 3 of 9": dpb.DPJointCUCB(problem=NINE, epsilon=4, first=2),
}

JOINTLY: dict[str, tuple[Timing, dict[str, Any]]] = {
    "one": (Timing(ahead=1, left=1, lost=0.06), {}),
    "few": (Timing(ahead=8, left=8, lost=0.06), {}),
    "many": (Timing(ahead=38, left=38, lost=0.06), {}),
    "waves": (Timing(ahead=140, left=20, lost=0.06), {}),
    "drops": (Timing(ahead=24, left=8, lost=0.06), {}),
    "users": (Timing(ahead=30, left=8, lost=0.06), PEOPLE),
    "attribution": (Timing(ahead=8, left=5, lost=0.06), OPTIONS["attribution"]),
}


def jointly() -> Iterator[Case]:
    """Records that are read together: several plans are open, left, cut short, taken up again.

    Another core may release one call earlier where a request cuts a plan short whose block is full
    by that. No case here comes to that (`record.py` looks).
    """
    for title, policy in JOINT.items():
        for way, (timing, options) in JOINTLY.items():
            case = Case("joint", f"{title} {way}", policy, 700, timing, options)
            if way == "drops":
                case = case._replace(live=((0.3, "drop_open", ()), (0.6, "drop_open", ())))
            yield case._replace(users=200 if way == "users" else 0)


def on_devices() -> Iterator[Case]:
    """In the local model, by messages of the users' devices."""
    for name in ("CTBTT", "CUCBLDP1", "CUCBLDP2", "LDPKLUCB", "LDPUCB"):
        for title, policy in INSTANCES[name]:
            yield Case("devices", title, policy, 120, LATE, devices=True)


def estimators() -> Iterator[Case]:
    """Stopping rules on a stream of values."""
    for name in ("NAS", "DPNAS", "DPExponentialNAS"):
        for title, rule in INSTANCES[name]:
            yield Case("estimators", title, rule, 5000, TIMINGS["prompt"])
            yield Case("estimators", f"{title} to its end", rule, 20, TIMINGS["prompt"])


CAMPAIGNS: dict[str, dict[str, Any]] = {
    "plain": {},
    "holdout": {"holdout": ".3", "control": "red"},
    "holdout users": PEOPLE | {"holdout": ".3", "control": "red"},
    "guardrail": OPTIONS["guardrail"] | {"assignment": "planned"},
    "costs": COSTS,
    "live": {},
}
"""Options of campaigns. That they decide as sessions do with the others is in
`tests/service/machine.py`.
"""


def campaigns() -> Iterator[Case]:
    """Campaigns of a store. Calls take some milliseconds each, so they are few."""
    few = Timing(batch=9, ahead=18, left=6, lost=0.05, many=True)
    for at, (title, options) in enumerate(CAMPAIGNS.items()):
        name = ("DPRateIMED", "DPKLUCB")[at % 2]
        case = Case("campaigns", f"{name} {title}", with_labels(name), 200, few, options)
        if "holdout" in options or "privacy_unit" in options:
            case = case._replace(users=120, rounds=360)
        if title == "live":
            case = case._replace(live=MOVES, eligible=True)
        if title == "guardrail":
            case = case._replace(rounds=300)
        yield case
    for name in ("DPJointMAT", "LDPUCB", "LazyDPTS", "RNMFTNL", "SparseVectorSE", "TreeFTRL"):
        title, policy = INSTANCES[name][0]
        rounds = min(rounds_of(name), 1500)
        timing = few if rounds < 300 else Timing(batch=60, ahead=60, left=10, lost=0.02, many=True)
        yield Case("campaigns", title, policy, rounds, timing, means=MEANS.get(name))


def cases() -> list[Case]:
    """The whole table."""
    makers = at_all_times, with_options, jointly, on_problems, on_devices, estimators, campaigns
    return [case for maker in makers for case in maker()]
