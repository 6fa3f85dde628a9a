"""What the documentation site makes from the package itself: `python -m docs.generator` writes the
pages that are kept in the repository, the site's build the rest.
"""

from pathlib import Path

PAGES = Path(__file__).parents[1] / "reference"
"""Where they are kept."""
