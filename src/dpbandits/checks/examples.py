"""Small instances of every policy, with all presets, whose important events occur within a few
hundred rounds.
"""

from dataclasses import fields
from typing import Any

from dpbandits.oracles import DecisionSet, LinearMatroid, UniformMatroid
from dpbandits.policies.contract import Policy, size_argument
from dpbandits.policies.named import EVERY_POLICY

WATCH: dict[str, Any] = {"alpha": 0.9, "beta": 0.5, "high": 1}
"""Parameters for a fair coin. With low = 0 the rules halt by themselves; with low = −1 their mean
is 0 and the cap stops them.
"""

PLACES = [[(at % 7 - 3) / 5, (at % 5 - 2) / 4] for at in range(40)]
"""Public contexts of two features."""

SETTINGS: dict[str, list[dict[str, Any]]] = {
    "KLUCB": [{}, {"c": 3.0}],
    "DPUCB": [{"preset": "tight"}, {"preset": "published"}, {"preset": "signed"}],
    "HybridUCB": [{"preset": "corrected"}, {"preset": "published"}],
    "DPKLUCB": [{"first": 3}, {"first": 3, "preset": "robust"}],
    "DPIMED": [{"first": 3}],
    "KalmanTS": [{"lasting": 500}, {"lasting": 500, "preset": "restarts", "surprise": 1.5}],
    "DPKalmanTS": [
        {"lasting": 500, "block": 3},
        {"lasting": 500, "block": 3, "preset": "restarts", "surprise": 1.5},
    ],
    "DPRateIMED": [{"first": 3}, {"first": 3, "preset": "mean"}, {"first": 3, "preset": "safe"}],
    "DPSE": [
        {"epsilon": 8, "beta": 0.9},
        {"epsilon": 8},
        {"epsilon": 8, "horizon": 3000},
        {"epsilon": 8, "preset": "squared"},
    ],
    "SparseVectorSE": [
        {"epsilon": 400, "beta": 0.9},
        {"epsilon": 400, "beta": 0.9, "preset": "arms"},
        {"epsilon": 400, "beta": 0.9, "preset": "one"},
    ],
    "AdaPTT": [
        {"epsilon": 8, "delta": 0.3},
        {"epsilon": 8, "delta": 0.3, "first": 3},
        {"epsilon": 8, "delta": 0.5, "preset": "published"},
    ],
    "CTBTT": [{}, {"epsilon": 8, "delta": 0.3}],
    "SuccessiveElimination": [{"horizon": 3000}],
    "DecreasingHedge": [{}, {"play": "weights"}],
    "RNMFTNL": [
        {"selection": "exponential"},
        {"selection": "permute-and-flip"},
        {"preset": "published"},
        {},
    ],
    "CUCBLDP1": [{"epsilon": 4}, {"epsilon": 4, "preset": "published", "horizon": 3000}],
    "CUCBLDP2": [
        {},
        {"preset": "published", "horizon": 3000},
        {"ask": "undecided", "preset": "sharp"},
        {"radius": "joint"},
    ],
    "CUCBDP": [
        {"epsilon": 4, "horizon": 3000},
        {"epsilon": 400, "horizon": 3000, "preset": "published"},
        {"epsilon": 4, "horizon": 3000, "preset": "signed"},
    ],
    "DPKLCUCB": [{"first": 3}],
    "KLOSM": [{}, {"c": 0.0}],
    "DPKLMAT": [{"first": 3}],
    "DPJointMAT": [{"first": 1.0}, {"first": 1.0, "preset": "proved"}],
    "DPJointCUCB": [{"first": 1.0}, {"first": 1.0, "preset": "level"}],
    "TreeFTRL": [
        {"horizon": 200},
        {"horizon": 200, "play": "weights"},
        {"horizon": 500, "preset": "published"},
    ],
    "RootFTRL": [{"horizon": 500}, {"horizon": 500, "play": "weights"}],
    "LinTS": [{}, {"alpha": 1.3}],
    "AdaCOFUL": [{"first": 40}],
    "DPLinTS": [{"first": 12, "public_contexts": PLACES}, {"epsilon": None, "rho": "1/3"}],
    "JointDPLinTS": [{"public_contexts": PLACES, "clip": True}],
    "DPLinUCB": [{"first": 12, "public_contexts": PLACES}],
    "NAS": [WATCH | {"low": 0, "cap": 400}, WATCH | {"cap": 60}],
    "DPNAS": [WATCH | {"epsilon": 16, "low": 0, "cap": 400}, WATCH | {"epsilon": 16, "cap": 60}],
    "DPExponentialNAS": [
        WATCH | {"epsilon": 16, "low": 0, "cap": 3000},
        WATCH | {"epsilon": 16, "cap": 60},
    ],
}


def example_problem(arms: int) -> DecisionSet:
    """Return a matroid of rank 2 with `arms` elements, one of them a loop; of rank 1 for one
    element.
    """
    return (
        UniformMatroid(arms=1, rank=1)
        if arms == 1
        else LinearMatroid([[1, 0], [0, 1], *([1, i] for i in range(1, arms - 1)), [0, 0]])
    )


def examples(name: str, arms: int = 3) -> list[Policy]:
    """Return instances of the policy `name`, one for each preset or mode."""
    cls = EVERY_POLICY[name]
    known = {f.name for f in fields(cls)}
    size = size_argument(cls)
    base: dict[str, Any] = (
        {} if size is None else {size: example_problem(arms) if size == "problem" else arms}
    )
    if "epsilon" in known:
        base["epsilon"] = "1/2" if name == "HybridUCB" else 2
    if "rho" in known and "epsilon" not in known:
        base["rho"] = "1/3"
    if "features" in known:
        base["features"] = 2
    if cls.about.needs_horizon:
        base["horizon"] = 3000
    return [cls(**base | setting) for setting in SETTINGS.get(name, [{}])]
