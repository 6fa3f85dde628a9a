"""How the time of a run grows: `python -m benchmarks.scale [--out FILE]`."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.scale import arms
from benchmarks.table import markdown, show

SECTIONS = (arms,)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="write the tables as markdown, too")
    out = parser.parse_args().out
    pages = []
    for section in SECTIONS:
        rows = section.rows()
        show(section.TITLE, rows)
        command = f"python -m benchmarks.scale --out {out}"
        pages.append(markdown(section.TITLE, command, rows))
    if out:
        # one title for the page, one below it for each section
        body = "\n".join(page.replace("# ", "## ", 1) for page in pages)
        out.write_text("# Scale\n\n" + body, encoding="utf-8")


if __name__ == "__main__":
    main()
