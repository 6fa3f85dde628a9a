"""Everything that is measured, one after the other.

`python -m benchmarks.pages` plays every benchmark at small sizes, into build/: whether all of them
run, in minutes. `--whole` plays them at the sizes of what is committed, into benchmarks/results and
docs/measured: hours, and `--only NAME …` picks some, by the names of their files.

A benchmark that fails does not stop the others; at the end it is named, and the status is 1.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.pages.listed import FIGURES, PAGES, Page
from benchmarks.service.postgres import newest

WHOLE, SMALL = Path(), Path("build")


class Outcome(NamedTuple):
    """How writing a page went. said: "written", "failed", or why it was not tried."""

    name: str
    said: str
    seconds: float


def written(page: Page, folder: Path, small: bool) -> Outcome:
    """Run a page's benchmark, to its end or to its failure."""
    if page.server and newest() is None:
        return Outcome(page.name, "left out: no PostgreSQL server is installed", 0.0)
    for part in (FIGURES, Path(page.path).parent):
        (folder / part).mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    status = subprocess.run([sys.executable, *page.command(folder, small)], check=False).returncode
    said = "written" if status == 0 else f"failed, status {status}"
    return Outcome(page.name, said, time.perf_counter() - start)


def chosen(names: Sequence[str]) -> tuple[Page, ...]:
    """The pages of these names, in the order in which they are written; of no name: all.

    Raises:
        SystemExit: there is no page of such a name.
    """
    known = [page.name for page in PAGES]
    if strange := [name for name in names if name not in known]:
        sys.exit(f"Expected names of pages, got {', '.join(strange)}. Known: {', '.join(known)}.")
    return tuple(page for page in PAGES if not names or page.name in names)


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--whole", action="store_true", help="what is committed: hours")
    parser.add_argument("--only", nargs="+", default=(), metavar="NAME", help="of these pages")
    parser.add_argument("--folder", type=Path, help="in place of the repository or build/")
    args = parser.parse_args(given)
    folder = args.folder or (WHOLE if args.whole else SMALL)
    outcomes = []
    for page in chosen(args.only):
        print(f"\n== {page.name}", flush=True)
        outcomes.append(written(page, folder, not args.whole))
    print()
    for name, said, seconds in outcomes:
        print(f"{name:26} {seconds:7.0f} s  {said}")
    return int(any(said.startswith("failed") for _, said, _ in outcomes))


if __name__ == "__main__":
    sys.exit(main())
