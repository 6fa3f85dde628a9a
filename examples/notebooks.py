"""Write the tutorials' notebooks: `python -m examples.notebooks`.

The code is that of the guides' examples, in cells that end where an example shows something; the
outputs are what they print when they are run here.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import doctest
import io
import json
import re
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]

INTERVALS = """\
import matplotlib.pyplot as plt
figure, axes = plt.subplots(figsize=(5, 1.8), layout="constrained")
for row in beliefs:
    axes.plot([row.low, row.high], [row.label, row.label], lw=3)
    axes.plot(row.mean, row.label, "o", color="black")
axes.set_xlabel("rate, with an interval that holds at all times")
plt.show()
"""
REGRET = """\
import matplotlib.pyplot as plt
figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
at = [10**k for k in range(2, 7)]
for each in (own, dpb.DPRateIMED(arms=2, epsilon="1/2", grid=1)):
    played = dpb.simulate(each, pair, rounds=10**6, runs=200, seed=5)
    axes.plot(at, played.regret(at=at).mean(axis=0), label=each.name)
axes.set(xscale="log", yscale="log", xlabel="rounds", ylabel="mean regret")
axes.set_title("Exploring once is not enough")
axes.legend()
plt.show()
"""


class Tutorial(NamedTuple):
    """A guide whose examples make a notebook.

    Args:
        guide: its file in docs/guides.
        sections: the headings of the parts that are taken; empty: all.
        more: code that is run after the cell that ends with a line.
    """

    guide: str
    sections: tuple[str, ...] = ()
    more: tuple[tuple[str, str], ...] = ()


TUTORIALS = {
    "trial": Tutorial(
        "trial.md",
        more=(
            (
                '[table.row("DPRateIMED", 1.0).loss > 0 for table in (plain, shared)]',
                "print(shared)\n",
            ),
            ("print(beliefs.advice)", "print(beliefs)\n"),
            ("print(beliefs)", INTERVALS),
        ),
    ),
    "study": Tutorial(
        "researchers.md",
        ("Simulating, comparing and adding policies", "What comes back", "A policy of your own"),
        (("int(runs.events.max()), int(runs.releases.max())", REGRET),),
    ),
    "audit": Tutorial("auditing.md"),
}


def cells_of(tutorial: Tutorial) -> list[dict[str, Any]]:
    """Return a notebook's cells, not run: a heading for each part that has examples, and code."""
    found: list[dict[str, Any]] = []
    text = (ROOT / "docs" / "guides" / tutorial.guide).read_text(encoding="utf-8")
    more = dict(tutorial.more)
    for part in re.split(r"^(?=##? )", text, flags=re.MULTILINE):
        level, _, heading = part.partition("\n")[0].partition(" ")
        if tutorial.sections and heading not in tutorial.sections:
            continue
        blocks = re.findall(r"```python\n(.*?)```", part, re.DOTALL)
        codes = [code for block in blocks for code, _ in codes_of(block)]
        if level == "#":
            link = f"From [the guide](../docs/guides/{tutorial.guide}), which explains it."
            found.append(markdown(f"# {heading}\n\n{link}"))
        elif codes:
            found.append(markdown(f"{level} {heading}"))
        for code in codes:
            while code:
                found.append(code_cell(code))
                code = more.get(code.rstrip().splitlines()[-1], "")
    return found


def codes_of(text: str) -> list[tuple[str, str]]:
    """Split examples after each line that shows something: code, and what the guide shows."""
    codes, code = list[tuple[str, str]](), ""
    for example in doctest.DocTestParser().get_examples(text):
        code += example.source
        if example.want:
            codes.append((code, example.want))
            code = ""
    return [*codes, (code, "")] if code else codes


def markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}


def code_cell(text: str) -> dict[str, Any]:
    source = text.rstrip("\n").splitlines(keepends=True)
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": source,
    }


def run(cells: list[dict[str, Any]]) -> None:
    """Run the code of cells in their order, and keep what each shows."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    names: dict[str, Any] = {"__name__": "__main__"}
    coded = [cell for cell in cells if cell["cell_type"] == "code"]
    for number, cell in enumerate(coded, 1):
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        printed, value = io.StringIO(), None
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
            exec(compile(tree, f"cell {number}", "exec", dont_inherit=True), names)
            if isinstance(last, ast.Expr):
                shown = ast.Expression(last.value)
                value = eval(compile(shown, f"cell {number}", "eval", dont_inherit=True), names)
        cell["execution_count"] = number
        cell["outputs"] = []
        if text := printed.getvalue():
            lines = text.splitlines(keepends=True)
            cell["outputs"].append({"name": "stdout", "output_type": "stream", "text": lines})
        for figure in map(pyplot.figure, pyplot.get_fignums()):
            picture = io.BytesIO()
            figure.savefig(picture, format="png", dpi=90)
            image = {"image/png": base64.b64encode(picture.getvalue()).decode()}
            cell["outputs"].append({"data": image, "metadata": {}, "output_type": "display_data"})
        pyplot.close("all")
        if value is not None:
            data = {"text/plain": repr(value).splitlines(keepends=True)}
            result = {"data": data, "execution_count": number, "metadata": {}}
            cell["outputs"].append(result | {"output_type": "execute_result"})


def main(names: list[str]) -> None:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    for name in names or TUTORIALS:
        cells = cells_of(TUTORIALS[name])
        run(cells)
        for number, cell in enumerate(cells):
            cell["id"] = f"{name}-{number}"
        metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
        notebook = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
        text = json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True)
        (ROOT / "examples" / f"{name}.ipynb").write_text(text + "\n", encoding="utf-8")
        print(f"examples/{name}.ipynb: {len(cells)} cells")


if __name__ == "__main__":
    main(sys.argv[1:])
