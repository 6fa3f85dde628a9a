"""How the time of a run grows with sizes, a section a file. `python -m benchmarks.scale
[--out FILE] [--figure FILE] [--parts NAME …]`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.scale import arms, learners
from benchmarks.scale.drawing import draw
from benchmarks.table import show, write


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="write the tables as markdown, too")
    parser.add_argument("--figure", type=Path, help="draw growth with arms and with rounds")
    parser.add_argument("--parts", nargs="*", choices=learners.PARTS, default=learners.PARTS)
    given = parser.parse_args()
    out, found = given.out, arms.measured()
    rows = arms.rows(found)
    show(arms.TITLE, rows)
    command = f"python -m benchmarks.scale --parts {' '.join(given.parts)} --out {out}"
    if given.figure:
        draw(*found, given.figure)
        command += f" --figure {given.figure}"
    more = learners.rows(given.parts)
    show(learners.TITLE, more)
    write(out, command, {arms.TITLE: rows, learners.TITLE: more}, learners.NOTE)


if __name__ == "__main__":
    main()
