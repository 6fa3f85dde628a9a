"""Pages of HTML from templates: a file each, every text escaped. Needs the `experiments` extra."""

from base64 import b64encode
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from dpbandits.version import __version__

TEMPLATES = Environment(
    loader=PackageLoader("dpbandits.pages", "."),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def write_page(path: Path, template: str, **content: Any) -> Path:
    """Write the page that `template` makes of the content; it needs no other file and no network.

    Raises:
        jinja2.UndefinedError: the template asks for what the content does not have.
    """
    text = TEMPLATES.get_template(template).render(version=__version__, **content)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def data_url(svg: bytes) -> str:
    """A picture as an address that holds the picture itself: one file to keep or to send."""
    return f"data:image/svg+xml;base64,{b64encode(svg).decode()}"


TEMPLATES.filters["data_url"] = data_url
