"""`python -m papers`: say how long the papers' experiments take, from short timed pilots on this
machine; run them, draw their figures, and say which of their claims hold.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Annotated

import polars as pl
import typer
from rich import box
from rich.console import Console
from rich.table import Table

from dpbandits.plots import save
from dpbandits.simulation.simulate import simulate
from dpbandits.sweeps.cells import Cell, cell_path
from dpbandits.sweeps.config import Config
from dpbandits.sweeps.results import Results
from dpbandits.sweeps.run import progress_on, run_sweep
from papers.evidence import CellSetting, Evidence
from papers.pages import (
    Document,
    document_of,
    page_in,
    renew_docs,
    write_docs,
    write_verdicts,
)
from papers.paper import Paper, Verdict, judge, papers_in

PILOT = 300_000  # rounds timed where every round costs


def processor_seconds(cells: Iterable[Cell]) -> float:
    """Processor seconds for all cells together. One pilot serves every cell of one policy, size and
    budget aside.
    """
    rates: dict[tuple[str, int], float] = {}
    total = 0.0
    for cell in cells:
        kind = (cell.policy.name, cell.policy.arms)
        if kind not in rates:
            rates[kind] = seconds_a_run(cell)
        total += rates[kind] * cell.runs * (cell.rounds if grows_with_rounds(cell) else 1)
    return total


def grows_with_rounds(cell: Cell) -> bool:
    """Whether a run's time grows with its rounds; a batch policy's hardly does."""
    return cell.policy.about.every_round or cell.policy.about.randomised


def seconds_a_run(cell: Cell) -> float:
    """Seconds a round where every round costs, else seconds a run."""
    rounds = min(PILOT, cell.rounds) if grows_with_rounds(cell) else cell.rounds
    # compile, and load what is loaded once
    simulate(cell.policy, cell.environment, min(rounds, 100))
    start = perf_counter()
    simulate(cell.policy, cell.environment, rounds)
    return (perf_counter() - start) / (rounds if grows_with_rounds(cell) else 1)


def duration_text(seconds: float, workers: int | None = None) -> str:
    """The estimate in words, for this machine's cores."""
    workers = workers or os.cpu_count() or 1
    return f"{span(seconds / workers)} on {workers} core{'s' if workers > 1 else ''}"


def span(seconds: float) -> str:
    """Two figures of a time: 45 s, 12 min, 6.5 h."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


COLOURS = {
    "reproduced": "green",
    "differs": "yellow",
    "undecided": "magenta",
    "not asked": "dim",
    "not attempted": "dim",
}
HERE = Path(__file__).parent


def run_papers(
    keys: list[str] | None,
    *,
    full: bool,
    out: Path,
    console: Console,
    docs: Path | None = None,
    folder: Path = HERE,
) -> None:
    """Run the papers named by `keys`, or all. Finished cells under `out` are kept, so an
    interrupted run goes on where it stopped.

    docs: where the page of all papers goes. It is written from this run alone; with keys, their
        sections are, and the others stay as they are.

    folder: where the papers' folders are. A claim that differs is a finding, no error.

    Raises:
        ValueError: there is no such paper, or no page whose sections can be written anew.
    """
    if keys and docs is not None and not page_in(docs).is_file():
        raise ValueError(
            f"Expected a page whose sections can be written anew; there is no {page_in(docs)}. "
            "Write it first, by a run without --only."
        )
    known = papers_in(folder)
    unknown = [key for key in keys or () if key not in known]
    if unknown:
        raise ValueError(f"There is no paper {unknown[0]!r}; there are {', '.join(known)}.")
    chosen = [known[key] for key in keys or known]
    start = perf_counter()
    announce(chosen, full, out, console)
    done = {paper.key: run_paper(paper, full, out / paper.key, console) for paper in chosen}
    console.print(verdict_table({key: verdicts for key, (verdicts, _) in done.items()}))
    took = span(perf_counter() - start)
    pages = ", ".join(str(out / paper.key / "page.md") for paper in chosen)
    console.print(f"Took {took}. Every number, and how it is asked, is in {pages}.")
    if docs is not None:
        some = "".join(f"--only {key} " for key in keys or ())
        command = f"python -m papers {'--full' if full else '--quick'} {some}--docs {docs}"
        documents = [document for _, document in done.values()]
        write = renew_docs if keys else write_docs
        console.print(f"Wrote {write(docs, out, documents, command)}.")


def announce(papers: list[Paper], full: bool, out: Path, console: Console) -> None:
    """Say what there is to do and how long it takes, before it starts."""
    cells = [
        (cell, out / paper.key)
        for paper in papers
        for config in paper.sweeps(full=full)
        for cell in config.cells()
    ]
    missing = [cell for cell, place in cells if not cell_path(place, cell).exists()]
    size = "the papers' own sizes" if full else "quick sizes"
    console.print(
        f"{len(cells)} cells (a policy in a setting at one ε) at {size}; "
        f"{len(cells) - len(missing)} are finished already."
    )
    if missing:
        rest = duration_text(processor_seconds(missing))
        console.print(f"Timing short pilots … the rest takes about {rest}.")


def run_paper(
    paper: Paper, full: bool, out: Path, console: Console
) -> tuple[list[Verdict], Document]:
    """One paper from sweeps to pages: its verdicts, and all that a page says of it."""
    results = {config.name: run_config(config, out, console) for config in paper.sweeps(full=full)}
    environments = {
        name: environment for r in results.values() for name, environment in r.config.built.items()
    }
    policies = {
        (cell.label, CellSetting(cell.setting, cell.epsilon)): cell.policy
        for r in results.values()
        for cell in r.cells
        if cell.epsilon is not None
    }
    curves = pl.concat(r.curves for r in results.values())
    evidence = Evidence(curves, environments, policies)
    verdicts = [judge(claim.sized(full=full), evidence) for claim in paper.claims()]
    drawings = list(paper.drawings(results))
    for drawing in drawings:
        save(drawing.figure, out / "figures" / drawing.name)
    document = document_of(paper, results, verdicts, drawings)
    write_verdicts(out, document)
    return verdicts, document


def run_config(config: Config, out: Path, console: Console) -> Results:
    """One sweep under a progress bar."""
    with progress_on(console, config.name) as tell:
        return run_sweep(config, out, progress=tell)


def verdict_table(verdicts: Mapping[str, list[Verdict]]) -> Table:
    table = Table(
        "paper",
        "claim",
        "verdict",
        "measured",
        title="What the papers claim, and what we find",
        title_justify="left",
        box=box.SIMPLE,
    )
    for key, found in verdicts.items():
        for i, verdict in enumerate(found):
            text = verdict.measured or verdict.reason
            word = f"[{COLOURS[verdict.word]}]{verdict.word}[/]"
            table.add_row(
                "" if i else key,
                verdict.claim.statement,
                word,
                text,
                end_section=verdict is found[-1],
            )
    return table


def main(
    full: Annotated[
        bool,
        typer.Option("--full/--quick", help="The papers' own sizes, or a size that takes minutes."),
    ] = False,
    only: Annotated[
        list[str] | None, typer.Option(help="Only this paper; may be given again.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where results go.")] = Path("results/papers"),
    docs: Annotated[
        Path | None,
        typer.Option(
            help="Also write measured/papers.md and its figures into this folder; with --only, the "
            "sections of those papers alone."
        ),
    ] = None,
) -> None:
    """Run the papers' experiments and say which of their claims hold.

    Example: python -m papers --quick --only lazyts2024
    """
    try:
        run_papers(only, full=full, out=out, console=Console(), docs=docs)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


if __name__ == "__main__":
    typer.run(main)
