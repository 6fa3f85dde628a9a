"""The `dpbandits` command and `python -m dpbandits`; says what to install where the command line's
libraries are missing.
"""

from __future__ import annotations

import sys
from pathlib import Path

EXTRAS = ("jinja2", "joblib", "matplotlib", "polars", "pydantic", "rich", "typer")
"""What `dpbandits[experiments]` installs and some command imports."""


def main() -> None:
    if sys.argv[1:] == ["--version"]:  # an answer that needs no libraries
        from dpbandits.version import __version__

        print(__version__)
        return
    try:
        from dpbandits.terminal.cli import app

        app()
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in EXTRAS:
            raise
        raise SystemExit(
            f"The command line needs {missing.name}: pip install 'dpbandits[experiments]'"
        ) from None


def own_folder_last() -> None:
    """After `python -m`, the current folder stands first in the path, so its scipy.py would stand
    in for the real one: put it last.

    What this package imported before it came here cannot be helped: there, `python -P -m dpbandits`
    or the command `dpbandits` is safe.
    """
    if not sys.flags.safe_path and sys.path and Path(sys.path[0] or ".").resolve() == Path.cwd():
        sys.path.append(sys.path.pop(0))


if __name__ == "__main__":
    own_folder_last()
    main()
