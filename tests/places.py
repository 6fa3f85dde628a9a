"""Where the repository lies, and beside it, never in it, the real data."""

from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
DATA = REPOSITORY.parent / "shared" / "data"
