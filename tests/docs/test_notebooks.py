"""The tutorials' notebooks are the guides' examples, and show what the guides show."""

import base64
import doctest
import json
from typing import Any

import pytest
from examples.notebooks import TUTORIALS, cells_of, codes_of

from tests.places import REPOSITORY


def cells_in(name: str) -> list[dict[str, Any]]:
    text = (REPOSITORY / "examples" / f"{name}.ipynb").read_text(encoding="utf-8")
    cells = json.loads(text)["cells"]
    assert isinstance(cells, list)
    return cells


def shown(cell: dict[str, Any]) -> str:
    """What a cell prints, and its value, as a prompt would show them."""
    text = ""
    for output in cell.get("outputs", []):
        text += "".join(output.get("text", []))
        if value := output.get("data", {}).get("text/plain"):
            text += "".join(value) + "\n"
    return text


def pictures(cell: dict[str, Any]) -> list[bytes]:
    found = (output.get("data", {}).get("image/png") for output in cell.get("outputs", []))
    return [base64.b64decode(picture) for picture in found if picture]


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_notebook_has_the_guides_code_and_shows_what_the_guide_shows(name: str) -> None:
    """After a change of a guide run `python -m examples.notebooks`."""
    cells = cells_in(name)
    assert [cell["source"] for cell in cells] == [
        cell["source"] for cell in cells_of(TUTORIALS[name])
    ]
    guide = (REPOSITORY / "docs" / "guides" / TUTORIALS[name].guide).read_text(encoding="utf-8")
    blocks = [part.partition("```")[0] for part in guide.split("```python\n")[1:]]
    wants = {code.rstrip("\n"): want for block in blocks for code, want in codes_of(block)}
    checker, compared = doctest.OutputChecker(), 0
    for cell in cells:
        if want := wants.get("".join(cell["source"])):
            assert checker.check_output(want, shown(cell), doctest.ELLIPSIS), cell["source"]
            compared += 1
        assert all(len(picture) < 60_000 for picture in pictures(cell))
    assert compared > 5
