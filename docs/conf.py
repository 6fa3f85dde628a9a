"""The documentation site: `make docs`. Its pages are the repository's own Markdown files, where
they lie; the reference is made from the package.
"""

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

project = "dpbandits"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
]
templates_path = [str(ROOT / "docs" / "_templates")]
autodoc_default_options = {
    "inherited-members": "object,tuple,dict,BaseModel",
    "show-inheritance": True,
}
autodoc_typehints = "description"
napoleon_numpy_docstring = False
root_doc = "docs/index"
include_patterns = [
    "docs/index.md",
    "docs/guides/*.md",
    "docs/measured/*.md",
    "clients/js/README.md",
    "docs/reference/*.md",
    "docs/reference/api/*",
    "proofs/*.md",
    "decisions/*.md",
    "papers/README.md",
    "papers/*/README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CHANGELOG.md",
]
exclude_patterns = ["**/.*", "build", "results"]
html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = "dpbandits"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_copyright = False  # LICENSE says whose it is; an empty © says nothing
myst_heading_anchors = 3
suppress_warnings = ["myst.header", "docutils", "ref.python"]
"""A heading may follow a table of its page's other level; docstrings are Markdown, not reST."""


def write_commands(_: Any) -> None:
    """The page of the command line, from the commands' own help."""
    import typer
    from typer.cli import get_docs_for_click

    from dpbandits.terminal.cli import app

    command = typer.main.get_command(app)
    context = typer.Context(command, info_name="dpbandits")
    text = get_docs_for_click(obj=command, ctx=context, name="dpbandits", title="Commands")
    text = re.sub(r"\[bold\](.*?)\[/\]", r"`\1`", text, flags=re.DOTALL)
    page = ROOT / "docs" / "reference" / "api" / "commands.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text(text, encoding="utf-8")


def setup(app: Any) -> None:
    app.connect("builder-inited", write_commands)
