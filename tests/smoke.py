"""What was built, in an environment that has nothing else: `python -m tests.smoke dist`."""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from dpbandits.version import __version__

SESSION = """
import dpbandits as dpb
session = dpb.Session(dpb.recommend(arms=5, epsilon=1), noise=dpb.SecureNoise())
session.tell(session.ask(), 1.0)
runs = dpb.simulate(dpb.DPKLUCB(arms=2, epsilon=1), dpb.Bernoulli([.5, .4]), 10**6, seed=1)
print(int(runs.plays.sum()), session.guarantee)
"""

HINT = "This command needs polars: pip install 'dpbandits[experiments]'"


ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
"""Without PYTHONPATH: through it pip would find the repository, and install nothing."""


def said(*command: str | Path, code: int = 0) -> str:
    """What a command prints, far from the repository; the exit code has to be the expected one."""
    with tempfile.TemporaryDirectory() as away:
        done = subprocess.run(
            list(map(str, command)),
            cwd=away,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == code, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def try_one(built: Path) -> None:
    """Install it with what it depends on, and use it."""
    with tempfile.TemporaryDirectory() as place:
        venv.create(place, with_pip=True)
        python, command = Path(place) / "bin" / "python", Path(place) / "bin" / "dpbandits"
        before = megabytes(Path(place))
        said(python, "-m", "pip", "install", "--quiet", built.resolve())
        size = megabytes(Path(place)) - before
        assert said(command, "--version").strip() == __version__
        assert "DPKLUCB" in said(command, "list")
        assert "Where in the code" in said(command, "explain", "DPKLUCB"), "the proof page is there"
        audit = said(command, "audit", "DPKLUCB", "--epsilon", "1", "--runs", "200")
        assert "Passed: " in audit, "an audit needs no extra"
        assert HINT in said(command, "demo", code=1)
        assert said(python, "-c", SESSION).startswith("1000000 ε = 1 per round")
        print(
            f"{built.name} ({built.stat().st_size / 1e6:.1f} MB) works; installed with all that "
            f"it needs, it takes {size:.0f} MB."
        )


def main() -> None:
    (wheel,), (sdist,) = (list(Path(sys.argv[1]).glob(end)) for end in ("*.whl", "*.tar.gz"))
    for built in (wheel, sdist):
        try_one(built)


if __name__ == "__main__":
    main()
