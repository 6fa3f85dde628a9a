"""The generated reference: every public name is in it, with everything that can be done with it."""

import re
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType

import pytest
from docs.generator.reference import CHOSEN, ROOMS, path_of, public_names, reference_pages

import dpbandits as dpb
from dpbandits.service.campaign import Campaign
from dpbandits.service.client import RemoteStore
from dpbandits.service.store import CampaignStore
from tests.places import REPOSITORY

PAGES = reference_pages()
GUIDES = [*(REPOSITORY / "docs").glob("[gr]*/*.md"), REPOSITORY / "README.md"]
HANDED_OUT = {
    "dpbandits": (dpb.Session, dpb.SegmentedSession),
    "service": (CampaignStore, Campaign, RemoteStore),
}
"""Objects of which users hold one all the time, by the page that explains them."""


def section(page: str, name: str) -> str:
    (found,) = re.findall(rf"\n## (?:[\w.]+\.)?{name}\n(.*?)(?=\n## |\Z)", PAGES[page], re.DOTALL)
    return str(found)


def test_it_has_every_public_name() -> None:
    names = public_names()
    assert set(names["dpbandits"]) == set(dpb.__all__)
    things = [id(thing) for room in names.values() for thing in room.values() if callable(thing)]
    assert len(things) == len(set(things)), "each is explained once"
    text = "".join(PAGES.values())
    for room, things in names.items():
        for name in things:
            path = path_of(room, name).removeprefix("dpbandits.")
            assert f"\n## {path}\n" in text, path
    rooms = {room.removeprefix("dpbandits.") for room in (*ROOMS, *CHOSEN) if names[room]}
    assert set(PAGES) == rooms | {"policies"}


@pytest.mark.parametrize(
    ("page", "kind"), [(page, kind) for page, kinds in HANDED_OUT.items() for kind in kinds]
)
def test_every_verb_and_look_is_in_the_class_s_section(page: str, kind: type) -> None:
    text = section(page, kind.__name__).replace("\\", "")
    public = {name for name in dir(kind) if not name.startswith("_")}
    public -= {*dir(Mapping)} | {
        name for name in public if getattr(kind, name) is None
    }  # what subclasses declare
    assert len(public) > 3
    assert not [n for n in public if f"### {n}\n" not in text and f"`{n}`" not in text]


def test_what_only_some_campaigns_can_do_is_explained() -> None:
    assert "### uplift\n" in section("service", "Campaign")
    assert "### expected\\_loss\n" in section("service", "Campaign")
    assert "* options: those of `Session`." in section("service", "CampaignStore")
    assert "### create\n" in section("service", "CampaignStore")


def test_every_name_that_a_guide_imports_is_explained() -> None:
    explained = {id(thing) for names in public_names().values() for thing in names.values()}
    imports = [
        (module, name.strip())
        for guide in GUIDES
        for module, names in re.findall(
            r"^(?:>>> |\.\.\. )?from (dpbandits[\w.]*) import ([\w, ]+)",
            guide.read_text(encoding="utf-8"),
            re.MULTILINE,
        )
        for name in names.split(",")
    ]
    assert len(imports) > 20
    for module, name in imports:
        thing = getattr(import_module(module), name)
        assert isinstance(thing, ModuleType) or id(thing) in explained, f"{module}.{name}"


def test_no_address_of_memory_is_shown() -> None:
    """It would be another one at each build, and says nothing to a reader."""
    assert not [line for text in PAGES.values() for line in text.splitlines() if " at 0x" in line]
    assert "(../sweep_files.md)" in section("sweeps", "Config")


def test_an_entry_of_a_list_is_a_name_and_what_it_is() -> None:
    torn = [
        line
        for text in PAGES.values()
        for line in re.findall(r"^\* .*", text.replace("\\", ""), re.MULTILINE)
        if not re.match(r'\* ("\w+"|\**\w+(, \**\w+)*): ', line)
    ]
    assert not torn
