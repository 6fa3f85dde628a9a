"""Every link of the README and of every page leads somewhere, as GitHub shows them: to a file that
is in the repository, and to a heading that is in the file. In what a registry shows, where files
are not, none is left.
"""

import os
import re
import subprocess
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.places import REPOSITORY

LINK = re.compile(
    r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE
)
TAG = re.compile(r"<(?:a|img|source)\b[^>]*?\b(?:href|src|srcset)=\"([^\"]+)\"")
CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]+`", re.MULTILINE | re.DOTALL)
ELSEWHERE = re.compile(r"[a-z][a-z+.-]*:|//")


@cache
def kept() -> frozenset[str]:
    """Files and folders of the repository, as far as it keeps them."""
    try:
        said = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):  # what was unpacked is no repository
        said = [str(p.relative_to(REPOSITORY)) for p in REPOSITORY.rglob("*") if p.is_file()]
    folders = {parent.as_posix() for path in said for parent in Path(path).parents}
    return frozenset({*said, *folders})


def pages() -> list[str]:
    return sorted(path for path in kept() if path.endswith(".md") and "node_modules" not in path)


def text_of(page: str) -> str:
    return (REPOSITORY / page).read_text(encoding="utf-8")


def links_in(text: str) -> list[str]:
    plain = CODE.sub("", text)
    found = [one or other for one, other in LINK.findall(plain)] + TAG.findall(plain)
    return [link for link in found if not ELSEWHERE.match(link)]


@cache
def anchors_of(page: str) -> frozenset[str]:
    """Headings as GitHub names them."""
    found, plain = set[str](), re.sub(r"^(```|~~~).*?^\1", "", text_of(page), flags=re.M | re.S)
    for heading in re.findall(r"^#+\s+(.*?)\s*$", plain, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        number = sum(each == slug or each.startswith(f"{slug}-") for each in found)
        found.add(slug if slug not in found else f"{slug}-{number}")
    return frozenset(found)


def fault_of(page: str, link: str) -> str | None:
    """What is wrong with a link of a page."""
    path, _, anchor = unquote(link).partition("#")
    target = page
    if path:
        target = os.path.normpath(Path(page).parent / path)
        if target.startswith(".."):
            return "leads out of the repository"
        if target not in kept():
            return "is no file of the repository"
    if anchor and target.endswith(".md") and anchor not in anchors_of(target):
        return "names no heading"
    return None


def test_every_link_leads_to_a_file_that_is_there() -> None:
    found = {
        (page, link): fault_of(page, link) for page in pages() for link in links_in(text_of(page))
    }
    assert {link: fault for link, fault in found.items() if fault} == {}


@pytest.mark.parametrize(
    ("page", "link", "fault"),
    [
        ("README.md", "docs/guides/joint.md", None),
        ("README.md", "docs/guides/jiont.md", "is no file of the repository"),
        ("README.md", "docs/guides", None),
        ("README.md", "docs/reference/api/service.md", "is no file of the repository"),
        ("docs/guides/joint.md", "../../README.md#more", None),
        ("docs/guides/joint.md", "../../README.md#strat", "names no heading"),
        ("docs/guides/joint.md", "../../../main/README.md", "leads out of the repository"),
    ],
)
def test_a_link_that_leads_nowhere_is_found(page: str, link: str, fault: str | None) -> None:
    assert fault_of(page, link) == fault
    assert links_in(f"see [it]({link}), `[no]({link})`, [far](https://example.org)") == [link]
    assert links_in(f'<a href="{link}">it</a> and\n```\n[no]({link})\n```\n') == [link]
