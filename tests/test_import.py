"""What an import costs and pulls in."""

import subprocess
import sys
from pathlib import Path

HEAVY = (
    "jinja2",
    "matplotlib",
    "numba",
    "polars",
    "pydantic",
    "typer",
    "rich",
    "opendp",
    "scipy.stats",
    "pandas",
    "joblib",
)


def fresh(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_import_is_light() -> None:
    """No plotting, compiling, tables or noise library at import, and at most 90 modules of our own;
    the seconds are in benchmarks, where a busy machine is no failure.
    """
    loaded = fresh("import sys, dpbandits; print(' '.join(sys.modules))").split()
    assert [name for name in HEAVY if name in loaded] == []
    assert sum(name.split(".")[0] == "dpbandits" for name in loaded) <= 90


def test_names_that_are_imported_when_used() -> None:
    """All public names are there, also for completion; an unknown one is an AttributeError."""
    code = """
import dpbandits as dpb
print(set(dpb.__all__) <= set(dir(dpb)) and "import_module" not in dir(dpb))
print(all(getattr(dpb, name) is not None for name in dpb.__all__), hasattr(dpb, "stores"))
"""
    assert fresh(code) == "True\nTrue False"


def test_core_works_without_the_extras() -> None:
    """A session and a simulation run where no optional package can be imported."""
    blocked = ("jinja2", "matplotlib", "polars", "pydantic", "typer", "rich", "joblib")
    code = f"""
import sys
for name in {blocked!r}:
    sys.modules[name] = None
import dpbandits as dpb
session = dpb.Session(dpb.DPKLUCB(arms=2, epsilon=1), noise=dpb.SecureNoise())
session.tell(session.ask(), 1.0)
print(dpb.simulate(dpb.UCB1(arms=2), dpb.Bernoulli([.5, .4]), 100).plays.sum())
"""
    assert fresh(code) == "100"


def test_sweeps_say_which_extra_they_need() -> None:
    code = """
import sys
sys.modules["polars"] = None
try:
    import dpbandits.sweeps
except ModuleNotFoundError as error:
    print(error, error.name)
"""
    assert fresh(code) == "Sweeps need polars: pip install 'dpbandits[experiments]' polars"


def test_no_package_is_hidden() -> None:
    """Each package is what its parent calls by its name: `import dpbandits.policies as rooms` finds
    it, which a function of the same name would hide.
    """
    code = """
import importlib, pkgutil, sys, dpbandits
for found in pkgutil.walk_packages(dpbandits.__path__, "dpbandits."):
    if found.ispkg:
        parent, _, name = found.name.rpartition(".")
        package = importlib.import_module(found.name)
        if getattr(sys.modules[parent], name) is not package:
            print(found.name)
print(len(dpbandits.list_policies()) > 40)
"""
    assert fresh(code) == "True"


def test_it_works_where_there_is_no_unix(tmp_path: Path) -> None:
    """Sessions, simulations and stores do not need what Windows lacks."""
    missing = ("fcntl", "grp", "posix_ipc", "pwd", "resource", "termios")
    lacking = ("fchmod", "fork", "forkpty", "geteuid", "getuid", "register_at_fork", "umask")
    code = f"""
import os, sys
for name in {missing!r}:
    sys.modules[name] = None
for name in {lacking!r}:
    if hasattr(os, name):
        delattr(os, name)
import dpbandits as dpb, dpbandits.terminal.cli, dpbandits.service.server.app
import dpbandits.service.server.connections
policy = dpb.DPKLUCB(arms=2, epsilon=1, first=2)
session = dpb.Session(policy, noise=dpb.SecureNoise())
for _ in range(4):
    session.tell(session.ask(), 1.0)
dpb.simulate(policy, dpb.Bernoulli([0.5, 0.4]), 100, runs=2, seed=1)
with dpb.open_store("sqlite:///{tmp_path}/t.db", witness="{tmp_path}/w", key=bytes(32)) as store:
    trial = store.create("trial", policy)
    trial.tell(trial.ask(), 1)
print(session.releases, trial.name)
"""
    assert fresh(code) == "2 trial"
