"""Verdicts as tables beside each paper's claims, and the pages that are made of these tables alone:
an overview, and a page in each paper's folder.

`papers/KEY/verdicts.csv` has a row for each claim with the number that is worst for it, and says at
which size, when and with which code that was played. `figures.csv` has the captions of the
figures that the paper's page has, and the names in their legends; the page shows the first figure
and folds the others.
"""

import csv
import hashlib
import json
import re
import shutil
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from io import StringIO
from pathlib import Path
from typing import Any

from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy
from dpbandits.sweeps.cells import Cell, code_digest
from papers.drawing import DOTTED, Drawing
from papers.measures import MISS
from papers.paper import SUMMARY, Claim, OpenQuestions, PageTable, Paper, Verdict

Row = dict[str, str]
"""A row of a table, by column."""

VERDICTS, FIGURES = "verdicts.csv", "figures.csv"
COLUMNS = (
    "claim",
    "of",
    "verdict",
    "value",
    "low",
    "high",
    "at_least",
    "at_most",
    "what",
    "comparisons",
    "hold",
    "fail",
    "size",
    "played",
    "code",
    "question",
)
FIGURE = ("figure", "caption", "lines")
PAGE, OWN_PAGE = Path("measured") / "papers.md", "README.md"


# Tables on disk.


def row_of(verdict: Verdict, cells: Iterable[Cell], *, full: bool, size: str) -> Row:
    """What the table says of a claim. cells: those it was asked of."""
    claim, worst = verdict.claim, verdict.worst
    row = dict.fromkeys(COLUMNS, "")
    row |= {"claim": claim.id, "of": claim.of, "verdict": verdict.word}
    row["question"] = question_of(claim, cells, full=full)
    if worst is None:
        return row
    low, high = worst.estimate.interval(MISS)
    numbers = {"value": worst.estimate.value, "low": low, "high": high}
    numbers |= {"at_least": worst.at_least, "at_most": worst.at_most}
    looks = len(verdict.checks)
    return row | {
        **{name: number_text(x) for name, x in numbers.items()},
        "what": worst.what,
        "comparisons": str(looks),
        "hold": str(sum(check.holds for check in verdict.checks)),
        "fail": str(sum(check.fails(looks) for check in verdict.checks)),
        "size": size,
        "played": date.today().isoformat(),
        "code": code_digest()[:12],
    }


def number_text(x: float) -> str:
    return "" if abs(x) == float("inf") else f"{x:.3g}"


def question_of(claim: Claim, cells: Iterable[Cell], *, full: bool) -> str:
    """A hash of what is asked and of what is played for it: a row with another one is older than
    its claim or its sweeps.
    """
    played = sorted(
        (c.label, c.setting, c.epsilon or 0.0, c.rounds, c.runs, c.seed)
        for c in cells
        if c.label in claim.labels and (not claim.environments or c.setting in claim.environments)
    )
    asked = [claim.measure, claim.sized(full=full).arguments, played]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:12]


def read_rows(path: Path) -> list[Row]:
    """The rows of a table; none where there is no such file."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("# ")))


def write_rows(path: Path, command: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
    """Write a table; its first line is the command that made its newest rows."""
    text = StringIO()
    table = csv.DictWriter(text, columns, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# {command}\n{text.getvalue()}", encoding="utf-8", newline="")


def store(
    folder: Path,
    claims: Sequence[Claim],
    rows: Sequence[Row],
    drawings: Sequence[Drawing],
    tables: Sequence[PageTable],
    command: str,
) -> None:
    """Write what a run found into the tables of a paper's folder. Rows of claims, figures and
    tables that it did not ask stay as they are.
    """
    known = {row["claim"]: row for row in read_rows(folder / VERDICTS)}
    known |= {row["claim"]: row for row in rows}
    kept = [known[claim.id] for claim in claims if claim.id in known]
    write_rows(folder / VERDICTS, command, COLUMNS, kept)
    figures = {row["figure"]: row for row in read_rows(folder / FIGURES)}
    figures |= {
        d.name: dict(zip(FIGURE, (d.name, d.caption, "; ".join(d.lines)), strict=True))
        for d in drawings
        if d.shown
    }
    write_rows(folder / FIGURES, command, FIGURE, figures.values())
    for table in tables:
        cells = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
        write_rows(folder / f"{table.name}.csv", table.caption, table.columns, cells)


# The page.


HEAD = """# The papers' experiments

What five papers claim, asked of our own runs. {counts}

Each paper has a page with its claims, the reasons where some differ, and figures.
`python -m papers --docs docs` writes all of this from tables beside the claims; do not edit.
"""

LEGEND = """
## How to read it

word | meaning
---|---
reproduced | the 95 % interval of every comparison is on the claim's side of the threshold
differs | some interval, widened for the number of comparisons, is wholly on the other side
undecided | neither
not asked, not attempted | runs cannot say; data is missing
measured | the comparison that is worst for the claim; ratios are of mean regrets at the last round
asked | the threshold; `claims.toml` says how and when it was set
full size | the paper's own, or our sweep's where it has no experiment
bounds | how many of the paper's policies with regret have a bound with all constants
asked more closely | also of a corrected form
ours | about our own policies and bounds; in the CSV tables only
questions | of those that the authors left open

Counts are reproduced/differ/undecided/not asked or attempted. {bound}
The verdicts' tables say when and with which code each claim was played.
"""

KINDS = {"paper": "the paper's claims", "closer": "asked more closely", "ours": "ours"}
SIZES = {"full": "at full size", "quick": "at quick size"}
WORDS = ("reproduced", "differs", "undecided", "not asked")


def algorithms_of(authors: str) -> dict[str, str]:
    """The kind of bound on regret of each of the paper's policies."""
    return {
        name: bound_kind(kind)
        for name, kind in sorted(POLICIES.items())
        if authors and kind.about.paper == authors
    }


def bound_kind(kind: type[Policy]) -> str:
    """Of its regret: "constants", "order" or "none"; "values" for rules that watch one arm, which
    have no regret.
    """
    if kind.about.goal == "estimate":
        return "values"
    if kind.regret_bound is not Policy.regret_bound:
        return "constants"
    return "none" if kind.regret_order is Policy.regret_order else "order"


def counts_of(rows: Iterable[Row]) -> str:
    """How many rows have each verdict.

    >>> counts_of([{"verdict": "differs"}, {"verdict": "not attempted"}])
    '0/1/0/1'
    """
    found = Counter(row["verdict"].replace("attempted", "asked") for row in rows)
    return "/".join(str(found[word]) for word in WORDS)


def overview(papers: Mapping[str, Paper], rows: Mapping[str, Sequence[Row]]) -> str:
    """A row a paper."""
    lines = [
        f"| paper | algorithms | bounds | {' | '.join(KINDS.values())} | questions answered |",
        "|---" * (4 + len(KINDS)) + "|",
    ]
    for key, paper in papers.items():
        questions = paper.questions()
        kinds = Counter(algorithms_of(questions.authors).values())
        bounded = sum(kinds.values()) - kinds["values"]
        cells = [
            f"[{questions.authors or key}](../../papers/{key}/{OWN_PAGE})",
            str(sum(kinds.values())),
            f"{kinds['constants']}/{bounded}",
            *(counts_of(row for row in rows[key] if row["of"] == kind) for kind in KINDS),
            open_questions(questions),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    every = [row for table in rows.values() for row in table]
    sums = [counts_of(row for row in every if row["of"] == kind) for kind in KINDS]
    return "\n".join([*lines, f"| all | | | {' | '.join(sums)} | |"]) + "\n"


def open_questions(questions: OpenQuestions) -> str:
    found = Counter(question.state for question in questions.questions)
    return f"{found['answered']}/{sum(found.values())}"


def headline(rows: Mapping[str, Sequence[Row]]) -> str:
    """Of how many claims of the papers what is found, and how many were played at which size."""
    of_papers = [row for table in rows.values() for row in table if row["of"] == "paper"]
    found = Counter(row["verdict"] for row in of_papers)
    sizes = Counter(row["size"] for row in of_papers if row["size"])
    played = ", ".join(f"{sizes[size]} {said}" for size, said in SIZES.items() if sizes[size])
    return (
        f"Of {len(of_papers)} claims of the papers themselves {found['reproduced']} are "
        f"reproduced, {found['differs']} differ and {found['undecided']} are undecided "
        f"({played})."
    )


def page_of(papers: Mapping[str, Paper]) -> str:
    """The overview, from the tables in the papers' folders."""
    rows = {key: read_rows(paper.folder / VERDICTS) for key, paper in papers.items()}
    legend = LEGEND.format(bound=f"{DOTTED}, unless the caption says more.")
    return "\n".join([HEAD.format(counts=headline(rows)), overview(papers, rows)]) + legend


def page_of_paper(paper: Paper) -> str:
    """One paper: its claims with verdicts, why some differ, and figures."""
    rows = read_rows(paper.folder / VERDICTS)
    claims = {claim.id: claim for claim in paper.claims()}
    lines = [f"# {paper.questions().authors or paper.key}", "", tables_of(paper, rows), ""]
    figures = figures_of(paper)
    lines += [*figures[:1], "claim | verdict | measured | asked", "---|---|---|---"]
    for row in rows:
        if row["of"] == "paper":
            claim, size = claims[row["claim"]], " (quick)" * (row["size"] == "quick")
            says = claim.short or claim.statement.rstrip(".")
            if row["verdict"] == "differs":
                says += f"<br>*{first_sentence(claim.differs)}*"
            cells = [says, f"**{row['verdict']}**{size}", measured(row), asked(row)]
            lines.append(" | ".join(cell.replace("|", r"\|") for cell in cells).rstrip())
    lines += ["", *summary(paper, rows)]
    if others := figures[1:]:
        title = f"{len(others)} more figure{'s' * (len(others) > 1)}"
        lines += [f"<details><summary>{title}</summary>", "", *others, "</details>"]
    return "\n".join(lines).rstrip("\n") + "\n"


def figures_of(paper: Paper) -> list[str]:
    """The listed figures with their captions."""
    here = f"../../docs/measured/figures/papers/{paper.key}"
    return [
        f"![{figure['figure']}]({here}/{figure['figure']}.png)\n\n"
        f"*{figure['caption'].removesuffix(f'. {DOTTED}')}*\n"
        for figure in read_rows(paper.folder / FIGURES)
    ]


def tables_of(paper: Paper, rows: Sequence[Row]) -> str:
    """Where the tables are, and how many claims were not played yet."""
    waiting = len(paper.claims()) - len(rows)
    missing = f", {waiting} not played yet" * bool(waiting)
    legend = "[how to read it](../../docs/measured/papers.md#how-to-read-it)"
    return f"[Verdicts]({VERDICTS}), [claims](claims.toml){missing}; {legend}."


def measured(row: Row) -> str:
    """The worst number with its interval."""
    if not row["value"]:
        return ""
    if row["low"] == row["high"]:
        return row["value"]
    return f"{row['value']} [{row['low']}, {row['high']}]"


def asked(row: Row) -> str:
    low, high = row["at_least"], row["at_most"]
    if low and high:
        return f"{low}–{high}"
    return f"≥ {low}" if low else f"≤ {high}" if high else ""


def first_sentence(text: str) -> str:
    """
    >>> first_sentence("It is .5 high. Why is not known.")
    'It is .5 high.'
    """
    return re.split(r"(?<=[.:]) (?=[A-Z])", text)[0] or "No reason is known yet."


def summary(paper: Paper, rows: Sequence[Row]) -> list[str]:
    """The table of `summary.toml`, where there is one, with the measured number in place of a
    claim's id in braces.
    """
    path = paper.folder / SUMMARY
    if not path.exists():
        return []
    data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    found = {row["claim"]: measured(row) for row in rows}
    lines = [data["columns"], ["---"] * len(data["columns"]), *data["rows"]]
    texts = ["| " + " | ".join(line) + " |" for line in lines]
    filled = [
        re.sub(r"\{([a-z0-9-]+)\}", lambda m: found.get(m[1], "not played"), text) for text in texts
    ]
    return [data["caption"], "", *filled, ""]


def write_pages(docs: Path, papers: Mapping[str, Paper]) -> Path:
    """Write `measured/papers.md`, and a page into each paper's folder."""
    for paper in papers.values():
        (paper.folder / OWN_PAGE).write_text(page_of_paper(paper), encoding="utf-8")
    page = docs / PAGE
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(page_of(papers), encoding="utf-8")
    return page


def copy_figures(docs: Path, out: Path, key: str, drawings: Sequence[Drawing]) -> None:
    """Copy the figures that the paper's page has."""
    images = docs / PAGE.parent / "figures" / "papers" / key
    images.mkdir(parents=True, exist_ok=True)
    for drawing in drawings:
        if drawing.shown:
            shutil.copyfile(out / "figures" / f"{drawing.name}.png", images / f"{drawing.name}.png")
