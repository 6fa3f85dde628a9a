"""Verdicts on disk: `verdicts.json` for machines, Markdown for readers. Pages are made from the
JSON alone.
"""

import json
import math
import shutil
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

from dpbandits.figures.grids import Drawing
from dpbandits.papers.measures.verdicts import MISS, Check
from dpbandits.papers.overview import (
    Document,
    about_paper,
    left_open,
    overview,
    overview_rows,
)
from dpbandits.papers.paper import Paper, Verdict
from dpbandits.papers.renewal import renewed_page
from dpbandits.papers.tables import PageTable, table_lines
from dpbandits.sweeps.digests import code_digest
from dpbandits.sweeps.results import Results
from dpbandits.version import __version__

START, END = (
    "<!-- verdicts: written by `dpbandits papers --docs docs` -->",
    "<!-- end of verdicts -->",
)


def document_of(
    paper: Paper,
    results: Mapping[str, Results],
    verdicts: Sequence[Verdict],
    drawings: Sequence[Drawing],
) -> Document:
    """All that a page says of one paper."""
    return {
        "key": paper.key,
        "titles": [r.config.title for r in results.values()],
        "size": "full" if full_size(paper, results) else "quick",
        "version": __version__,
        "day": date.today().isoformat(),
        "seconds": sum(float(r.summary["seconds"].sum()) for r in results.values()),
        "sizes": sorted({(c.label, c.rounds, c.runs) for r in results.values() for c in r.cells}),
        "claims": [claim_document(verdict) for verdict in verdicts],
        "figures": [{"name": d.name, "caption": d.caption} for d in drawings],
        "tables": [table._asdict() for table in paper.tables(results)],
        **about_paper(paper.questions()),
    }


def full_size(paper: Paper, results: Mapping[str, Results]) -> bool:
    """Whether every cell is as long and as often repeated as the paper asks; some quick runs
    are.
    """
    own = {(cell.key, cell.runs) for config in paper.sweeps(full=True) for cell in config.cells()}
    return own == {(cell.key, cell.runs) for r in results.values() for cell in r.cells}


def claim_document(verdict: Verdict) -> Document:
    claim = verdict.claim.model_dump(
        include={"id", "statement", "where", "note", "measure", "arguments"}
    )
    outcome = {
        "verdict": verdict.word,
        "measured": verdict.measured,
        "worst": verdict.worst,
        "reason": verdict.reason,
    }
    return claim | outcome | {"checks": [check_of(check) for check in verdict.checks]}


def check_of(check: Check) -> Document:
    low, high = check.estimate.interval(MISS)
    numbers = {
        "value": check.estimate.value,
        "low": low,
        "high": high,
        "at_least": check.at_least,
        "at_most": check.at_most,
    }
    return (
        {"what": check.what}
        | {name: x if math.isfinite(x) else None for name, x in numbers.items()}
        | {"holds": check.holds}
    )


def write_verdicts(out: Path, document: Document) -> None:
    """`verdicts.json` and `page.md` beside the paper's figures."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "verdicts.json").write_text(
        json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    (out / "page.md").write_text(section(document, "figures/"), encoding="utf-8")


def section(document: Document, images: str, anew: str = "") -> str:
    """One paper: what was run, verdicts, figures, tables. images: its figures' folder, a prefix.
    anew: what the section says of itself where it was written after the rest of the page.
    """
    lines = [
        f"## {document['key']}: {document['authors'] or document['titles'][0]}",
        "",
        f"Sweeps: {'; '.join(document['titles'])}.",
        "",
        *([anew, ""] if anew else []),
        sizes(document),
        "",
        *claims_table(document),
        "",
        *left_open(document),
    ]
    for figure in document["figures"]:
        lines += [
            f"![{figure['caption']}]({images}{figure['name']}.png)",
            "",
            f"*{figure['caption']}*",
            "",
        ]
    for table in document["tables"]:
        lines += table_lines(PageTable(**table))
    return "\n".join(lines).rstrip("\n") + "\n"


def sizes(document: Document) -> str:
    lengths = sorted({rounds for _, rounds, _ in document["sizes"]})
    runs = ", ".join(f"{label} {count:,}" for label, _, count in document["sizes"])
    what = (
        "At the paper's own size"
        if document["size"] == "full"
        else "**A quick run, smaller than the paper's**"
    )
    rounds = " or ".join(f"{length:,}" for length in lengths)
    when = f"Played by {document['day']} with version {document['version']}."
    return f"{what}: {rounds} rounds; runs: {runs}. {when}"


def claims_table(document: Document) -> list[str]:
    """One row a claim; why it differs or is not attempted stands below its number."""
    lines = ["| The paper says | Verdict | We measured |", "|---|---|---|"]
    for claim in document["claims"]:
        says = f"{claim['statement']} ({claim['where']})" + f"<br>*{claim['note']}*" * bool(
            claim["note"]
        )
        found = "<br>".join(
            text for text in (claim["measured"], claim["worst"], claim["reason"]) if text
        )
        lines.append(
            "| "
            + " | ".join(
                text.replace("|", "\\|") for text in (says, f"**{claim['verdict']}**", found)
            )
            + " |"
        )
    return lines


HEAD = """# The papers' experiments

Written as a whole by `{command}` (version {version}, code {code}), except for sections that say
otherwise; do not edit. Every number and every verdict below is computed from our own runs; each
section says when and at which size they were made. Arms are numbered anew in every run, so the
order in which a paper lists them favours none; super arms alone keep the numbers by which their
problem names them. The constants of our own DP-KL-MAT were chosen with the seven vectors and the
films of matroid2023 in view (decision 0012): on these two instances its curve is a little
optimistic.

**Reproduced**: the 95 % interval of every comparison is on the claim's side of the threshold.
**Differs**: in some comparison the interval, widened for the number of comparisons, is wholly on
the other side. **Undecided**: neither; more runs would tell. **Not attempted**: not in this
release. Brackets hold 95 % intervals; ratios are of mean regrets at the last round. Vague words of
a statement ("similar", "several times") were turned into the numbers in italics before the runs
were made, where the italics do not say otherwise.

"""


def write_docs(
    docs: Path, out: Path, papers: Path, documents: Sequence[Document], command: str
) -> Path:
    """`measured/papers.md` from one run's documents, its figures, and the verdicts in the papers'
    own README files.

    The page has what this run judged and nothing else: results of other code that still stand in
    `out` are not looked at.
    """
    sections = [paper_section(docs, out, papers, document) for document in documents]
    head = HEAD.format(command=command, version=__version__, code=code_digest()[:12])
    page = page_in(docs)
    page.write_text("\n".join([head + overview(documents), *sections]), encoding="utf-8")
    return page


def renew_docs(
    docs: Path, out: Path, papers: Path, documents: Sequence[Document], command: str
) -> Path:
    """The same page with the sections of these papers written anew. Each says by what, for the
    page's head is of another run; the other sections stay as they are.

    Raises:
        ValueError: there is no such page.
    """
    page = page_in(docs)
    anew = f"Written anew by `{command}` (version {__version__}, code {code_digest()[:12]})."
    new = {each["key"]: section(each, images_of(each), anew) for each in documents}
    text = renewed_page(page.read_text(encoding="utf-8"), new, overview_rows(documents))
    for document in documents:
        paper_section(docs, out, papers, document)
    page.write_text(text, encoding="utf-8")
    return page


def page_in(docs: Path) -> Path:
    return docs / "measured" / "papers.md"


def images_of(document: Document) -> str:
    """Where a paper's figures lie, from the page."""
    return f"figures/papers/{document['key']}/"


def paper_section(docs: Path, out: Path, papers: Path, document: Document) -> str:
    """One paper's section. Its figures go beside the page, its verdicts into its own README."""
    images = docs / "measured" / images_of(document)
    images.mkdir(parents=True, exist_ok=True)
    for figure in document["figures"]:
        name = f"{figure['name']}.png"
        shutil.copyfile(out / document["key"] / "figures" / name, images / name)
    write_readme(papers / document["key"] / "README.md", document)
    return section(document, images_of(document))


def write_readme(path: Path, document: Document) -> None:
    """Put the verdicts between the README's two markers; a README without them stays as it is."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if START in text and END in text:
        before, after = text.split(START)[0], text.split(END)[-1]
        path.write_text(
            "\n".join(
                [before + START, "", sizes(document), "", *claims_table(document), "", END + after]
            ),
            encoding="utf-8",
        )
