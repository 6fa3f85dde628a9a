"""The `dpbandits` command and `python -m dpbandits`; says what to install where the command line's
libraries are missing.
"""

from __future__ import annotations

import sys
from pathlib import Path

SERVICE = (
    "alembic",
    "fastapi",
    "httptools",
    "httpx",
    "prometheus_client",
    "psycopg",
    "pydantic_settings",
    "sqlalchemy",
    "uvicorn",
)
EXTRAS = {
    **dict.fromkeys(SERVICE, "service"),
    **dict.fromkeys(("jinja2", "joblib", "matplotlib", "polars", "pydantic"), "experiments"),
    **dict.fromkeys(("dask", "distributed"), "cluster"),
}
"""Which extra brings a library that some command imports; what comes without any is not here."""


def main() -> None:
    if sys.argv[1:] == ["--version"]:  # an answer that needs no libraries
        from dpbandits.version import __version__

        print(__version__)
        return
    try:
        from dpbandits.terminal.cli import app

        app()
    except ModuleNotFoundError as missing:
        name = (missing.name or "").partition(".")[0]
        if name not in EXTRAS:
            raise
        raise SystemExit(
            f"This command needs {name}: pip install 'dpbandits[{EXTRAS[name]}]'"
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
