"""Verdicts on disk: `verdicts.json` for machines, Markdown for readers. Pages are made from the
JSON alone.
"""

import json
import math
import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy
from dpbandits.sweeps.cells import code_digest
from dpbandits.sweeps.results import Results
from dpbandits.version import __version__
from papers.drawing import Drawing
from papers.measures import MISS, Check
from papers.paper import OpenQuestions, PageTable, Paper, Verdict, table_lines

# The table at the head of the papers' page, and what a section says beside its claims: which of a
# paper's algorithms are here, with which bounds, and what its authors left open.


Document = dict[str, Any]

COUNTS = """Counts of this run. **Algorithms**: its own that are policies here. **Bounds**: of those
that have regret, how many have it bounded with all constants, and how many by an order alone (the
others have neither). **Open questions**: what the authors left open, as each section lists it.
"""


def algorithms_of(authors: str) -> list[Document]:
    """The paper's policies by name, each with the kind of bound it has on regret."""
    return [
        {"name": name, "bound": bound_kind(kind)}
        for name, kind in sorted(POLICIES.items())
        if authors and kind.about.paper == authors
    ]


def bound_kind(kind: type[Policy]) -> str:
    """Of its regret: "constants", "order" or "none"; "values" for rules that watch one arm, which
    have no regret.
    """
    if kind.about.goal == "estimate":
        return "values"
    if kind.regret_bound is not Policy.regret_bound:
        return "constants"
    return "none" if kind.regret_order is Policy.regret_order else "order"


def about_paper(questions: OpenQuestions) -> Document:
    """What of a paper's document does not come from its runs."""
    return {
        "authors": questions.authors,
        "algorithms": algorithms_of(questions.authors),
        "questions": [question.model_dump() for question in questions.questions],
    }


def overview(documents: Sequence[Document]) -> str:
    """What is counted, a row a paper, and their sums."""
    return f"{COUNTS}\n{overview_table(overview_rows(documents))}"


def overview_rows(documents: Sequence[Document]) -> dict[str, str]:
    """A row a paper, by its key."""
    rows = {}
    for document in documents:
        key, authors = document["key"], document["authors"]
        name = f"{key}: {authors}" if authors else key
        rows[key] = f"| {name} | {count_cells(document_counts(document))} |"
    return rows


def overview_table(rows: Mapping[str, str]) -> str:
    """The rows by their keys, and the sums of what stands in them."""
    columns = ("algorithms", "bounds", "figures", "claims", "open questions")
    lines = [f"| paper | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    lines += [rows[key] for key in sorted(rows)]
    total: Counter[str] = sum(map(row_counts, rows.values()), Counter())
    return "\n".join([*lines, f"| all | {count_cells(total)} |"]) + "\n"


def document_counts(document: Document) -> Counter[str]:
    return Counter(
        [
            *("algorithms" for _ in document["algorithms"]),
            *(algorithm["bound"] for algorithm in document["algorithms"]),
            *("figures" for _ in document["figures"]),
            *(claim["verdict"] for claim in document["claims"]),
            *("claims" for _ in document["claims"]),
            *(question["state"] for question in document["questions"]),
            *("questions" for _ in document["questions"]),
        ]
    )


VERDICTS = {
    "reproduced": "reproduced",
    "differs": "differ",
    "undecided": "undecided",
    "not asked": "not asked",
    "not attempted": "not attempted",
}
"""Verdicts, and how several of them are called."""

STATES = ("answered", "partly answered", "open")


def count_cells(n: Counter[str]) -> str:
    bounded = n["constants"] + n["order"] + n["none"]
    claims = ", ".join(f"{n[word]} {said}" for word, said in VERDICTS.items() if n[word])
    questions = ", ".join(f"{n[state]} {state}" for state in STATES if n[state])
    return " | ".join(
        [
            str(n["algorithms"]),
            f"{n['constants']} of {bounded} with constants, {n['order']} as orders",
            str(n["figures"]),
            f"{n['claims']}: {claims}" if n["claims"] else "0",
            f"{n['questions']}: {questions}" if n["questions"] else "0",
        ]
    )


def row_counts(row: str) -> Counter[str]:
    """What `count_cells` said in a row.

    >>> row_counts("| a2020 | 2 | 1 of 2 with constants, 0 as orders | 1 | 0 | 1: 1 open |")["none"]
    1
    """
    algorithms, bounds, figures, claims, questions = row.strip("| \n").split(" | ")[1:]
    constants, bounded, order = map(int, re.findall(r"\d+", bounds))
    counts = {"constants": constants, "order": order, "none": bounded - constants - order}
    counts |= {"algorithms": int(algorithms), "figures": int(figures)}
    counts |= {"claims": int(claims.split(":")[0]), "questions": int(questions.split(":")[0])}
    words = {said: word for word, said in VERDICTS.items()} | {state: state for state in STATES}
    for number, said in re.findall(r"(\d+) ([a-z ]+)", f"{claims}, {questions}"):
        counts[words[said]] = int(number)
    return Counter(counts)


def left_open(document: Document) -> list[str]:
    """A section's list of open questions; no lines where there are none."""
    if not document["questions"]:
        return []
    return [
        "What its authors left open:",
        "",
        *(
            f"* **{q['state']}**: {q['question']} ({q['where']}) {q['answer']}"
            for q in document["questions"]
        ),
        "",
    ]


# Sections of the papers' page that are written anew, while the others stay as they are.


Sections = dict[str, str]
"""Text by the key of its paper."""


def sections_of(page: str) -> tuple[str, Sections]:
    """What stands before the first section, and the sections.

    >>> sections_of("# Head\\n\\n## b2020: B\\n\\nsaid\\n\\n## c2021: C\\n")
    ('# Head\\n\\n', {'b2020': '## b2020: B\\n\\nsaid\\n', 'c2021': '## c2021: C\\n'})
    """
    head, *sections = re.split(r"^(?=## \w+: )", page, flags=re.MULTILINE)
    return head, {each[3 : each.index(":")]: each.rstrip("\n") + "\n" for each in sections}


def renewed_page(page: str, sections: Mapping[str, str], rows: Mapping[str, str]) -> str:
    """The page with these sections, and with these rows in the table of its head, in place of its
    own; the table's sums are made anew. A paper that it did not have gets its place by its key.

    Raises:
        ValueError: it is no page of papers, or its sections are not those of its table.
    """
    head, own = sections_of(page)
    table = re.search(r"^\| paper \|.*\n\|---.*\n((?:\| .*\n)+?)\| all \|.*\n", head, re.MULTILINE)
    known = table[1].splitlines() if table else []
    told = {line.split(" ")[1].rstrip(":"): line for line in known}
    if table is None or set(told) != set(own):
        raise ValueError(
            "Expected a page as `python -m papers --docs docs` writes it, whose table has a row "
            "for each section; this one was changed otherwise. Write it anew as a whole. Nothing "
            "was written."
        )
    head = head[: table.start()] + overview_table({**told, **rows}) + head[table.end() :]
    both = {**own, **sections}
    return "\n".join([head.rstrip("\n") + "\n", *(both[key] for key in sorted(both))])


# Verdicts on disk: `verdicts.json` for machines, Markdown for readers. Pages are made from the
# JSON alone.


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
    """One row a claim; why it differs or is not measured stands below its number."""
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
films of matroid2023 in view (decision 8): on these two instances its curve is a little
optimistic.

**Reproduced**: the 95 % interval of every comparison is on the claim's side of the threshold.
**Differs**: in some comparison the interval, widened for the number of comparisons, is wholly on
the other side. **Undecided**: neither; more runs would tell. **Not asked**: a theorem on a limit of
which runs say nothing. **Not attempted**: not in this release. Brackets hold 95 % intervals; ratios
are of mean regrets at the last round. Vague words of a statement ("similar", "several times") were
turned into the numbers in italics before the runs
were made, where the italics do not say otherwise.

"""


def write_docs(docs: Path, out: Path, documents: Sequence[Document], command: str) -> Path:
    """`measured/papers.md` from one run's documents, and its figures.

    The page has what this run judged and nothing else: results of other code that still stand in
    `out` are not looked at.
    """
    sections = [paper_section(docs, out, document) for document in documents]
    head = HEAD.format(command=command, version=__version__, code=code_digest()[:12])
    page = page_in(docs)
    page.write_text("\n".join([head + overview(documents), *sections]), encoding="utf-8")
    return page


def renew_docs(docs: Path, out: Path, documents: Sequence[Document], command: str) -> Path:
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
        paper_section(docs, out, document)
    page.write_text(text, encoding="utf-8")
    return page


def page_in(docs: Path) -> Path:
    return docs / "measured" / "papers.md"


def images_of(document: Document) -> str:
    """Where a paper's figures lie, from the page."""
    return f"figures/papers/{document['key']}/"


def paper_section(docs: Path, out: Path, document: Document) -> str:
    """One paper's section; its figures go beside the page."""
    images = docs / "measured" / images_of(document)
    images.mkdir(parents=True, exist_ok=True)
    for figure in document["figures"]:
        name = f"{figure['name']}.png"
        shutil.copyfile(out / document["key"] / "figures" / name, images / name)
    return section(document, images_of(document))
