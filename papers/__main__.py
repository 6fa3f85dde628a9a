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
    COLUMNS,
    PAGE,
    VERDICTS,
    Row,
    copy_figures,
    read_rows,
    row_of,
    store,
    write_pages,
    write_rows,
)
from papers.paper import Claim, Paper, Verdict, judge, papers_in

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
    sweeps: list[str] | None = None,
    claims: list[str] | None = None,
) -> None:
    """Run the papers named by `keys`, or all. Finished cells under `out` are kept, so an
    interrupted run goes on where it stopped.

    Args:
        keys: folders' names.
        full: full sizes, the papers' own where they have experiments; or quick ones.
        out: where results go.
        console: where progress and verdicts are shown.
        docs: where the overview and figures go. The tables in the papers' folders, of which all
            pages are made, get the verdicts of this run; other verdicts stay as they are.
        folder: where the papers' folders are.
        sweeps: play these alone, and ask only the claims that they suffice for, and those that play
            what they need and have no verdict yet.
        claims: ask these alone, by id; play the policies that they are about, and draw nothing.

    Raises:
        ValueError: there is no such paper, sweep or claim.
    """
    known = papers_in(folder)
    unknown = [key for key in keys or () if key not in known]
    if unknown:
        raise ValueError(f"There is no paper {unknown[0]!r}; there are {', '.join(known)}.")
    chosen = [known[key] for key in keys or known]
    for kind, names, there in (
        ("sweep", sweeps, {c.name for paper in chosen for c in paper.sweeps(full=full)}),
        ("claim", claims, {claim.id for paper in chosen for claim in paper.claims()}),
    ):
        if strange := sorted(set(names or ()) - there):
            papers = ", ".join(paper.key for paper in chosen)
            raise ValueError(f"There is no {kind} {', '.join(strange)} in {papers}.")
    configs = {paper.key: chosen_sweeps(paper, full, sweeps, claims) for paper in chosen}
    words = ["python -m papers", "--full" if full else "--quick"]
    for option, values in (("only", keys), ("sweep", sweeps), ("claim", claims)):
        words += [f"--{option} {value}" for value in values or ()]
    start = perf_counter()
    announce([(c, out / key) for key, found in configs.items() for c in found], full, console)
    done = {}
    for paper in chosen:
        if configs[paper.key] or any(claim.id in (claims or ()) for claim in paper.claims()):
            done[paper.key] = run_paper(
                paper, configs[paper.key], full, out, console, docs, " ".join(words), claims
            )
    console.print(verdict_table(done))
    pages = ", ".join(str(out / key / VERDICTS) for key in done)
    took = span(perf_counter() - start)
    console.print(f"Took {took}. Every number is in {pages}; the page is docs/{PAGE}.")
    if docs is not None:
        console.print(f"Wrote {write_pages(docs, known)}.")


def chosen_sweeps(
    paper: Paper, full: bool, names: list[str] | None, claims: list[str] | None
) -> list[Config]:
    """Those with these names, or all; where claims are asked, with the policies that they are
    about.
    """
    configs = [config for config in paper.sweeps(full=full) if not names or config.name in names]
    if not claims:
        return configs
    labels = {label for claim in paper.claims() if claim.id in claims for label in claim.labels}
    kept = [
        (config, [each for each in config.policies if (each.label or each.policy) in labels])
        for config in configs
    ]
    return [config.model_copy(update={"policies": found}) for config, found in kept if found]


def announce(configs: list[tuple[Config, Path]], full: bool, console: Console) -> None:
    """Say what there is to do and how long it takes, before it starts."""
    cells = [(cell, place) for config, place in configs for cell in config.cells()]
    missing = [cell for cell, place in cells if not cell_path(place, cell).exists()]
    size = "full size" if full else "quick size"
    console.print(
        f"{len(cells)} cells (a policy in a setting at one ε) at {size}; "
        f"{len(cells) - len(missing)} are finished already."
    )
    if missing:
        rest = duration_text(processor_seconds(missing))
        console.print(f"Timing short pilots … the rest takes about {rest}.")


def run_paper(
    paper: Paper,
    configs: list[Config],
    full: bool,
    out: Path,
    console: Console,
    docs: Path | None,
    command: str,
    claims: list[str] | None,
) -> list[Verdict]:
    """One paper from sweeps to tables and figures: its verdicts."""
    place = out / paper.key
    results = {config.name: run_config(config, place, console) for config in configs}
    environments = {
        name: environment for r in results.values() for name, environment in r.config.built.items()
    }
    cells = [cell for r in results.values() for cell in r.cells]
    policies = {
        (cell.label, CellSetting(cell.setting, cell.epsilon)): cell.policy
        for cell in cells
        if cell.epsilon is not None
    }
    curves = pl.concat(r.curves for r in results.values()) if results else pl.DataFrame()
    evidence = Evidence(curves, environments, policies)
    partial = len(configs) < len(paper.sweeps(full=full))
    asked = [
        claim
        for claim in paper.claims()
        if (
            claim.id in claims
            if claims
            else not partial or is_answered(claim, cells, read_rows(paper.folder / VERDICTS))
        )
    ]
    verdicts = [judge(claim.sized(full=full), evidence) for claim in asked]
    own = {(cell.key, cell.runs) for config in paper.sweeps(full=True) for cell in config.cells()}
    rows = [
        row_of(verdict, cells, full=full, size=size_of_claim(claim, cells, own, full))
        for claim, verdict in zip(asked, verdicts, strict=True)
    ]
    write_rows(place / VERDICTS, command, COLUMNS, rows)
    drawings = [] if claims else list(paper.drawings(results))
    for drawing in drawings:
        save(drawing.figure, place / "figures" / drawing.name)
    if docs is not None:
        tables = [] if claims else paper.tables(results)
        store(paper.folder, paper.claims(), rows, drawings, tables, command)
        copy_figures(docs, place, paper.key, drawings)
    return verdicts


def is_answered(claim: Claim, cells: list[Cell], rows: list[Row]) -> bool:
    """Whether these cells are all that the claim is about; or no cells are, and it has no row."""
    if not claim.labels:
        return all(row["claim"] != claim.id for row in rows)
    played = {cell.label for cell in cells}
    settings = {cell.setting for cell in cells}
    return claim.labels <= played and claim.environments <= settings


def size_of_claim(claim: Claim, cells: list[Cell], own: set[tuple[str, int]], full: bool) -> str:
    """Whether every cell that it is about is as long and as often repeated as at full size."""
    if claim.quick and not full:
        return "quick"
    about = [cell for cell in cells if cell.label in claim.labels]
    return "full" if all((cell.key, cell.runs) in own for cell in about) else "quick"


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
        typer.Option(
            "--full/--quick",
            help="Full size, the papers' own where there is one; or a size that takes minutes.",
        ),
    ] = False,
    only: Annotated[
        list[str] | None, typer.Option(help="Only this paper; may be given again.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where results go.")] = Path("results/papers"),
    docs: Annotated[
        Path | None,
        typer.Option(
            help="Also store the verdicts and the papers' pages beside the claims, and write "
            "measured/papers.md and figures into this folder."
        ),
    ] = None,
    sweep: Annotated[
        list[str] | None,
        typer.Option(help="Only this sweep and the claims it suffices for; may be given again."),
    ] = None,
    claim: Annotated[
        list[str] | None,
        typer.Option(help="Only this claim, by id, and what it is about; may be given again."),
    ] = None,
    page: Annotated[
        bool, typer.Option("--page", help="Play nothing: write the pages from the stored tables.")
    ] = False,
) -> None:
    """Run the papers' experiments and say which of their claims hold.

    Example: python -m papers --quick --only lazyts2024
    """
    if page:
        Console().print(f"Wrote {write_pages(docs or Path('docs'), papers_in(HERE))}.")
        return
    try:
        run_papers(
            only,
            full=full,
            out=out,
            console=Console(),
            docs=docs,
            sweeps=sweep,
            claims=claim,
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


if __name__ == "__main__":
    typer.run(main)
