"""Pages from templates: one file, every text escaped, nothing from outside, nothing left out."""

import re
from pathlib import Path
from typing import Any

import jinja2
import pytest

from dpbandits.pages import data_url, templates, write_page
from dpbandits.version import __version__

FORECAST: dict[str, Any] = {
    "title": "<b>a & b</b>",
    "lead": "<script>alert(1)</script>",
    "figure": b"<svg/>",
    "heads": ("policy", "<i>loss</i>"),
    "meanings": {"<i>loss</i>": '" onload="x'},
    "rows": [(False, ("<u>x</u>", "1"))],
    "about": "<em>about</em>",
    "seed": 0,
}


def test_every_text_is_escaped_and_none_is_from_outside(tmp_path: Path) -> None:
    path = write_page(tmp_path / "new" / "page.html", "forecast.html", **FORECAST)
    text = path.read_text(encoding="utf-8")
    for mark in ("<b>", "<script", "<i>", "<u>", "<em>", '" onload'):
        assert mark not in text
    assert text.count("&lt;b&gt;a &amp; b&lt;/b&gt;") == 2, "title and heading"
    assert f"dpbandits {__version__}" in text
    assert data_url(FORECAST["figure"]) == "data:image/svg+xml;base64,PHN2Zy8+"
    assert data_url(FORECAST["figure"]) in text
    assert "http" not in text, "a page needs no other file"


def test_no_words_may_be_left_out(tmp_path: Path) -> None:
    for missing in FORECAST.keys() - {"figure"}:
        content = {name: value for name, value in FORECAST.items() if name != missing}
        with pytest.raises(jinja2.UndefinedError, match=missing):
            write_page(tmp_path / "page.html", "forecast.html", **content)
    assert not (tmp_path / "page.html").exists()


def test_every_template_stands_on_the_same_page() -> None:
    names = [name for name in templates().list_templates() if name.endswith(".html")]
    assert set(names) >= {"base.html", "forecast.html", "report.html"}
    loader = templates().loader
    assert loader is not None
    for name in names:
        text = loader.get_source(templates(), name)[0]
        assert name == "base.html" or text.startswith('{% extends "base.html" %}')
        assert re.search(r"\|\s*safe\b", text) is None, "nothing goes in as it is"
