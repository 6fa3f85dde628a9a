"""Sweep files: what they stand for, and that every mistake is named with its place."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from dpbandits import DPKLUCB, DPSE, LDPKLUCB, AdaCUCB
from dpbandits.core.errors import ConfigError
from dpbandits.policies.base import PrivatePolicy
from dpbandits.sweeps import load_config
from tests.datasets import written
from tests.datasets.test_clicks import RATES, headlines, log_file
from tests.datasets.test_visits import site

Write = Callable[..., Path]


def cells(path: Path, **how: bool) -> dict[tuple[str, str, float | None], object]:
    return {
        (cell.label, cell.setting, cell.epsilon): cell for cell in load_config(path, **how).cells()
    }


def test_cells_are_environments_times_policies_times_budgets(write: Write) -> None:
    found = cells(write())
    assert list(found) == [
        ("DP-KLUCB", "linear", 0.5),
        ("DP-KLUCB", "linear", 1.0),
        ("KLUCB", "linear", None),
        ("HybridUCB[published]", "linear", 1.0),
        ("AdaCUCB (ρ = 0.1)", "linear", None),
        ("AdaCUCB (ρ = 0.5)", "linear", None),
        ("LDPKLUCB", "linear", 1.0),
        ("DPSE", "linear", 0.5),
        ("DPSE", "linear", 1.0),
        ("DP-KLUCB", "smoking", 0.5),
        ("DP-KLUCB", "smoking", 1.0),
        ("KLUCB", "smoking", None),
    ]


def test_arms_horizon_and_exact_budgets_are_filled_in(write: Write) -> None:
    found = cells(write())
    assert found["DP-KLUCB", "smoking", 0.5].policy.arms == 4
    assert found["DPSE", "linear", 0.5].policy == DPSE(arms=3, epsilon=0.5, horizon=3000)
    assert found["AdaCUCB (ρ = 0.5)", "linear", None].policy == AdaCUCB(arms=3, rho=Fraction(1, 2))
    assert found["LDPKLUCB", "linear", 1.0].policy == LDPKLUCB(arms=3, epsilon=1)
    assert found["LDPKLUCB", "linear", 1.0].runs == 10


def test_a_horizon_can_be_fixed_or_left_out(write: Write) -> None:
    for said, horizon in (("false", None), ("9000", 9000)):
        found = cells(write(edits={'class = "DPSE"': f'class = "DPSE"\nhorizon = {said}'}))
        assert found["DPSE", "linear", 1.0].policy.horizon == horizon


def test_quick_shrinks_the_sweep_and_its_policies(write: Write) -> None:
    found = cells(write(), quick=True)
    assert {(cell.rounds, cell.runs) for cell in found.values()} == {(500, 5)}
    assert found["DPSE", "linear", 1.0].policy.horizon == 500


def test_keys_depend_on_what_determines_the_numbers_and_on_nothing_else(write: Write) -> None:
    """A run depends on its own number, not on how many there are."""

    def keys(**edits: str) -> list[str]:
        return [cell.key for cell in load_config(write(edits=edits)).cells()]

    base = keys()
    assert len(set(base)) == len(base)
    names = {'label = "DP-KLUCB"': 'label = "ours"', 'name = "linear"': 'name = "straight"'}
    assert keys(**names, **{'["linear"]': '["straight"]'}) == base
    assert keys(**{"runs = 25": "runs = 26"}) == base
    for old, new in (
        ("seed = 7", "seed = 8"),
        ("rounds = 3000", "rounds = 3001"),
        ("0.75, 0.5", "0.75, 0.51"),
        ('label = "DP-KLUCB"', "alpha = 1.25"),
    ):
        assert keys(**{old: new})[0] != base[0]


def test_every_law_builds(write: Write, tmp_path: Path) -> None:
    rewards = np.linspace(0, 1, 30).reshape(10, 3)
    pl.DataFrame(rewards, schema=["a", "b", "c"]).write_csv(tmp_path / "rewards.csv")
    laws = {
        "equal_gaps": "best = 0.75\ngap = 0.25\narms = 4",
        "doubling_gaps": "best = 0.75\ngap = 0.1\narms = 4",
        "beta": "a = [1, 3]\nb = [1, 1]",
        "uniform": "low = [0, 0.5]\nhigh = [1, 0.75]",
        "categorical": "values = [0, 1]\nprobabilities = [[0.5, 0.5], [0.2, 0.8]]",
        "table": 'path = "rewards.csv"\nresample = true',
        "upworthy": 'path = "tests.csv"\ntest = "t1"',
        "obd": 'path = "log.csv.gz"',
        "obd_rates": 'path = "rates.csv"\ncampaign = "men"',
        "msweb": 'path = "."',
    }
    headlines(tmp_path), log_file(tmp_path), site(tmp_path), written(tmp_path, RATES, "rates.csv")
    tables = "".join(
        f'[[environments]]\nname = "{law}"\nlaw = "{law}"\n{keys}\n' for law, keys in laws.items()
    )
    head, policy = (
        'name = "x"\ntitle = "x"\nrounds = 10\nruns = 1\n',
        '[[policies]]\nclass = "UCB1"\n',
    )
    config = load_config(write(f"{head}{tables}{policy}"), quick=True)
    assert config.loaded["upworthy"].arms == ("One, two", "Four")
    assert config.loaded["msweb"].arms == ("Help", "News", "Games", "Games")
    assert {name: each.means.round(3).tolist() for name, each in config.built.items()} == {
        "equal_gaps": [0.5, 0.5, 0.5, 0.75],
        "doubling_gaps": [0.35, 0.55, 0.65, 0.75],
        "beta": [0.5, 0.75],
        "uniform": [0.5, 0.625],
        "categorical": [0.5, 0.8],
        "table": rewards.mean(axis=0).round(3).tolist(),
        "upworthy": [0.1, 0.02],
        "obd": [0.167, 0],
        "obd_rates": [0.5, 0.25],
        "msweb": [1, 0.333, 0.333, 0],
    }


class Unmade(DPKLUCB):
    def validate(self) -> None:
        raise LookupError("no such table")


class NoAbout(PrivatePolicy):
    pass


LINEAR = 'law = "bernoulli"\nmeans = [0.75, 0.5, 0.25]'
HUGE = "1" + "0" * 30
MISTAKES = {
    'class = "DPKLUCB"|class = "DPKLUBC"': [
        "policies.0: There is no policy 'DPKLUBC' (did you mean DPKLUCB"
    ],
    'label = "DP-KLUCB"|alfa = 2': ["policies.0: DPKLUCB does not take 'alfa' (did you mean alpha"],
    'label = "DP-KLUCB"|epsilon = 1': ["policies.0", "use epsilons = […]"],
    'label = "DP-KLUCB"|alpha = 0.5': ["policies[0] (DPKLUCB)", "alpha=0.5", "1.001 < alpha"],
    'preset = "published"|preset = "best"': ["policies[2] (HybridUCB)", "'corrected', 'published'"],
    'rhos = [0.1, "1/2"]|epsilons = [1]': ["policies.3", "AdaCUCB is private under zCDP"],
    'label = "DP-KLUCB"|rhos = [1]': ["policies.0", "DPKLUCB takes epsilons"],
    "epsilons = [0.5, 1]|epsilons = [0.5, -1]": ["policies[0] (DPKLUCB)", "epsilon=-1", "> 0"],
    "rounds = 3000|rounds = 0": ["rounds: Input should be greater than or equal to 1, got 0"],
    "rounds = 3000|rounds = true": ["rounds: Input should be a valid integer"],
    "runs = 25|runz = 25": ["runs: Field required", "runz: Extra inputs are not permitted"],
    "means = [0.75, 0.5, 0.25]|means = [0.75, 1.5]": ["environments[0] (linear)", "entry 1 is 1.5"],
    "means = [0.75, 0.5, 0.25]|meens = [0.75]": ["environments.0.bernoulli.means: Field required"],
    'law = "bernoulli"|law = "gauss"': ["environments.0", "'bernoulli', 'equal_gaps'", "'gauss'"],
    LINEAR + '|law = "equal_gaps"\nbest = 0.5\ngap = 0\narms = 1': [
        "environments.0.equal_gaps.gap: Input should be greater than 0",
        "environments.0.equal_gaps.arms: Input should be greater than or equal to 2",
    ],
    LINEAR + '|law = "doubling_gaps"\nbest = 0.5\ngap = 0.1\narms = 5': [
        "environments[0] (linear)",
        "0.8, is above best = 0.5",
    ],
    'trial = "smoking"|trial = "cooking"': ["environments[1] (smoking)", "'cooking'", "depression"],
    'name = "smoking"|name = "linear"': ["environments: 'linear' occurs twice"],
    'class = "KLUCB"|class = "DPKLUCB"\nlabel = "DP-KLUCB"': ["policies: 'DP-KLUCB' occurs twice"],
    'label = "DP-KLUCB"|alpha = 1.5\n[[policies]]\nclass = "DPKLUCB"': [
        "policies: 'DPKLUCB' occurs twice in 'linear'"
    ],
    "epsilons = [0.5, 1]|epsilons = [0.5, 1, 1.0]": ["'DP-KLUCB' occurs twice in 'linear'"],
    'environments = ["linear"]|environments = ["liner"]': [
        "HybridUCB",
        "no environment 'liner' (did you mean linear",
    ],
    'name = "tiny"|name = "a/b"': ["name", "'a/b'"],
    'name = "tiny"|name = ': ["not a readable TOML", "line 2"],
    'name = "tiny"|name = ' + "[" * 5000: [],
    f"rounds = 3000|rounds = {HUGE}": [],
    "rounds = 3000|rounds = 1" + "0" * 5000: [],
    "means = [0.75, 0.5|means = [true, 0.5": [],
    LINEAR + f'|law = "equal_gaps"\nbest = 0.9\ngap = 0.1\narms = {HUGE}': [],
    LINEAR + "|means = [0.75, 0.5, 0.25]": [],
    '"DPSE"|"DPSE"\ngrid = true': [],
    '"DPSE"|"tests.sweeps.test_config:Unmade"': [
        "(tests.sweeps.test_config:Unmade): LookupError: no such table"
    ],
    '"DPSE"|"tests.sweeps.test_config:NoAbout"': [
        "about: ClassVar",
        "tests.sweeps.test_config:NoAbout says nothing",
    ],
    **{
        f'"DPSE"|"{name}"': []
        for name in ("DPLinTS", "nowhere:Mine", "my-file:Mine", "tests.sweeps.test_config:cells")
    },
}


@pytest.mark.parametrize("edit", MISTAKES, ids=range(len(MISTAKES)))
def test_mistakes_name_file_and_field(write: Write, edit: str) -> None:
    old, new = edit.split("|")
    path = write(edits={old: new})
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    for part in MISTAKES[edit]:
        assert part in message


def test_all_wrong_fields_are_named_at_once(write: Write) -> None:
    edits = {"rounds = 3000\nruns = 25": "rounds = 0\nruns = 0", '"DPKLUCB"': '"DPKLUBC"'}
    with pytest.raises(ConfigError) as caught:
        load_config(write(edits=edits))
    first, *lines = str(caught.value).splitlines()
    assert first.endswith("3 mistakes:")
    assert [line.split(":")[0].strip() for line in lines] == ["rounds", "runs", "policies.0"]
