"""How the time of a run grows with sizes, a section a file. `python -m benchmarks.scale
[--out FILE]`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.scale import arms, learners
from benchmarks.table import markdown, show


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="write the tables as markdown, too")
    out = parser.parse_args().out
    rows = arms.rows()
    show(arms.TITLE, rows)
    command = f"python -m benchmarks.scale --out {out}"
    # one title for the page, one below it for each section
    first = markdown(arms.TITLE, command, rows).replace("# ", "## ", 1)
    second = learners.section()
    print(second)
    if out:
        out.write_text("\n".join(["# Scale\n", first, second]), encoding="utf-8")


if __name__ == "__main__":
    main()
