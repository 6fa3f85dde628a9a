"""Pages of HTML from templates: a file each, every text escaped. Needs the `experiments` extra."""

from base64 import b64encode
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpbandits.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def templates() -> "Environment":
    """All templates. Only who writes a page needs their library: an audit on the terminal does not.

    Raises:
        ModuleNotFoundError: the `experiments` extra is not installed.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=PackageLoader("dpbandits.pages", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["data_url"] = data_url
    return found


def write_page(path: Path, template: str, **content: Any) -> Path:
    """Write the page that `template` makes of the content; it needs no other file and no network.

    Raises:
        jinja2.UndefinedError: the template asks for what the content does not have.
    """
    text = templates().get_template(template).render(version=__version__, **content)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def data_url(svg: bytes) -> str:
    """A picture as an address that holds the picture itself: one file to keep or to send."""
    return f"data:image/svg+xml;base64,{b64encode(svg).decode()}"
