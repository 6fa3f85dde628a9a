"""Growth with sizes, a section a file. `python -m benchmarks.scale [--out FILE]`."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.scale import learners

SECTIONS = (learners,)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="write the page as markdown, too")
    out = parser.parse_args().out
    command = f"python -m benchmarks.scale --out {out}"
    head = f"# Speed at size\n\nWritten by `{command}`; do not edit.\n"
    page = "\n".join([head, *(part.section() for part in SECTIONS)])
    print(page)
    if out:
        out.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
