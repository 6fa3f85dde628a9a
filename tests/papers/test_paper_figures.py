"""Every figure of a paper has a policy of ours and the lower bound, or its caption says why not."""

from pathlib import Path

import pytest

from dpbandits.plots import BOUND
from dpbandits.sweeps import Config, Results, run_sweep
from papers.pages import FIGURES, read_rows
from papers.paper import Paper
from tests.papers.test_paper_folders import EVERY

OURS = {
    "DP-KLUCB",
    "DP-KLUCB, 10⁸ rounds",
    "DP-KL-MAT (ours)",
    "DP-KLCUCB (ours)",
    "DP-KLCUCB (ours, central)",
}


class Played(dict[str, Results]):
    """Two short runs of each sweep asked for. `get` finds none, as without the data."""

    def __contains__(self, name: object) -> bool:
        return name in self.configs

    def __init__(self, paper: Paper, out: Path) -> None:
        super().__init__()
        self.configs = {config.name: config for config in paper.sweeps(full=False)}
        self.out = out

    def __missing__(self, name: str) -> Results:
        self[name] = run_sweep(shortened(self.configs[name]), self.out, workers=1)
        return self[name]


def shortened(config: Config) -> Config:
    small = {"rounds": 400, "runs": 2}
    entries = [entry.model_copy(update={"rounds": None, "runs": None}) for entry in config.policies]
    copy = config.model_copy(update={**small, "policies": entries})
    copy._folder, copy._text = config._folder, config._text
    return copy


@pytest.mark.long
@EVERY
def test_every_figure_has_ours_and_the_lower_bound_or_says_why_not(
    paper: Paper, tmp_path: Path
) -> None:
    drawings = [each for each in paper.drawings(Played(paper, tmp_path)) if each.shown]
    assert drawings
    rows = {row["figure"]: row for row in read_rows(paper.folder / FIGURES)}
    for drawing in drawings:
        panels = [ax for ax in drawing.figure.axes if ax.get_visible()]
        drawn = [any(line.get_color() == BOUND.colour for line in ax.lines) for ax in panels]
        (legend,) = drawing.figure.legends
        names, caption = {text.get_text() for text in legend.get_texts()}, drawing.caption
        row = rows[drawing.name]  # of the committed picture
        assert (row["caption"], row["lines"]) == (caption, "; ".join(drawing.lines)), drawing.name
        assert all(drawn) or "bound" in caption or "order" in caption, drawing.name
        assert any("lower bound" in name for name in names) == any(drawn), drawing.name
        assert ("dotted: " in caption.lower()) == any(drawn), drawing.name
        ours = names & OURS or any("(ours)" in name for name in names)
        assert ours or "Full information" in caption or "Local" in caption, drawing.name
