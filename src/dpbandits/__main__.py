"""The `dpbandits` command and `python -m dpbandits`; says what to install where the command line's libraries are missing."""

from __future__ import annotations


def main() -> None:
    try:
        from dpbandits.cli import app
    except ModuleNotFoundError as missing:
        raise SystemExit(f"The command line needs {missing.name}: pip install 'dpbandits[experiments]'") from None
    app()


if __name__ == "__main__":
    main()
