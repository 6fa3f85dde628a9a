"""The table at the head of the papers' page, and what a section says beside its claims: which of a
paper's algorithms are here, with which bounds, and what its authors left open.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from dpbandits.papers.questions import OpenQuestions
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy

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
