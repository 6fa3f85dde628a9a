"""How the time of a run grows with sizes, a section a file. `python -m benchmarks.scale
[--out FILE] [--figure FILE]`.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from benchmarks.scale import arms, learners
from benchmarks.scale.drawing import draw
from benchmarks.table import markdown, show


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="write the tables as markdown, too")
    parser.add_argument("--figure", type=Path, help="draw growth with arms and with rounds")
    given = parser.parse_args()
    out, found = given.out, arms.measured()
    rows = arms.rows(found)
    show(arms.TITLE, rows)
    command = f"python -m benchmarks.scale --out {out}"
    if given.figure:
        draw(*found, given.figure)
        command += f" --figure {given.figure}"
    # one title for the page, one below it for each section
    first = markdown(arms.TITLE, command, rows).replace("# ", "## ", 1)
    if out and given.figure:
        place = os.path.relpath(given.figure, out.parent)
        first += f"\n![A run's time against its arms and against its rounds]({place})\n"
    second = learners.section()
    print(second)
    if out:
        out.write_text("\n".join(["# Scale\n", first, second]), encoding="utf-8")


if __name__ == "__main__":
    main()
