"""Columns as a table of a library that need not be installed: it is imported when a table is asked
for, and by its name, so that no import of ours needs it.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Literal

INSTALL = {
    "polars": "pip install 'dpbandits[experiments]'",
    "pandas": "pip install pandas, or use to_polars()",
}


def frame_of(columns: Mapping[str, Any], library: Literal["polars", "pandas"]) -> Any:
    """A `DataFrame` of polars or pandas. columns: names, and a value a row each.

    Raises:
        ImportError: the library is not installed; the message says how to install it.
    """
    try:
        module = import_module(library)
    except ImportError:
        raise ImportError(f"This table needs {library}: {INSTALL[library]}.") from None
    return module.DataFrame(dict(columns))
