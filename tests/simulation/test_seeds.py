"""What a seed plays stays what it was: the compiled player of every policy and preset, against
numbers kept in seeds.json; of sessions, which the plain simulator equals, `tests/net` keeps more.

`python -m tests.simulation.test_seeds` adds what is not there yet, and changes nothing else. After
a change that is meant to change numbers, the same with names of policies writes theirs anew, and
the changelog says why.
"""

import hashlib
import json
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpbandits import Bernoulli, simulate
from dpbandits.checks import examples
from dpbandits.checks.checks import horizon_of
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy

KEPT = Path(__file__).with_name("seeds.json")
INSTANCES = {
    f"{name} {at}": policy for name in POLICIES for at, policy in enumerate(examples(name))
}


def digest(numbers: Any) -> str:
    """Of whole numbers; of weights their millionths, which no machine's last bit changes."""
    whole = np.rint(np.asarray(numbers, np.float64) * 1e6).astype(np.int64)
    return hashlib.sha256(whole.tobytes()).hexdigest()[:16]


def world(policy: Policy) -> Bernoulli:
    return Bernoulli(np.linspace(0.8, 0.3, policy.arms))


def simulated(policy: Policy) -> str:
    """Play counts at three horizons, and how often was released."""
    rounds = min(600, horizon_of(policy))
    runs = simulate(policy, world(policy), rounds, runs=2, seed=3, at=[7, 150], workers=1)
    return digest([*runs.plays_at([7, 150, rounds]).ravel(), *runs.releases])


def test_every_instance_is_kept() -> None:
    assert json.loads(KEPT.read_text(encoding="utf-8")).keys() == INSTANCES.keys()


@pytest.mark.parametrize("name", INSTANCES)
def test_a_compiled_player_plays_what_it_played(name: str) -> None:
    assert simulated(INSTANCES[name]) == json.loads(KEPT.read_text(encoding="utf-8"))[name]


def kept_anew(kept: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """What is to be kept: of these policies, and where nothing was kept, what they play now.

    Raises:
        ValueError: there is no policy of such a name.
    """
    unknown = sorted(set(names) - set(POLICIES))
    if unknown:
        raise ValueError(f"There is no policy {unknown[0]}.")
    return {
        instance: simulated(policy)
        if type(policy).__name__ in names or instance not in kept
        else kept[instance]
        for instance, policy in INSTANCES.items()
    }


if __name__ == "__main__":
    found = kept_anew(json.loads(KEPT.read_text(encoding="utf-8")), sys.argv[1:])
    KEPT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
