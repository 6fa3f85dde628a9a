"""The documentation site: `make docs`. Its pages are the repository's own Markdown files, where
they lie; the reference is made from the package.
"""

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

project = "dpbandits"
extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = [
    "docs/index.md",
    "docs/guides/*.md",
    "docs/measured/*.md",
    "docs/measured/regret/*.md",
    "clients/js/README.md",
    "docs/reference/*.md",
    "docs/reference/api/*.md",
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
html_title = "dpbandits"
html_show_copyright = False  # LICENSE says whose it is; an empty © says nothing
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]
"""A heading may follow a table of its page's other level."""


def write_reference(app: Any) -> None:
    """The reference's pages, below docs/reference/api/, where git does not look."""
    from docs.generator.reference import reference_pages

    folder = ROOT / "docs" / "reference" / "api"
    folder.mkdir(exist_ok=True)
    for name, text in reference_pages().items():
        page = folder / f"{name}.md"
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def setup(app: Any) -> None:
    app.connect("builder-inited", write_reference)
