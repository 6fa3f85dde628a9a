"""Proof pages and code name each other, and the numbers the pages state hold. Nothing here is
random.
"""

import inspect
import re
from dataclasses import fields
from fractions import Fraction
from typing import Any

import pytest

from dpbandits import mechanisms
from dpbandits.checks import examples
from dpbandits.core.privacy import Guarantee
from dpbandits.mechanisms import Mechanism, Randomizer
from dpbandits.policies import CONTEXTUAL, POLICIES
from dpbandits.policies.contract import Policy
from tests.places import REPOSITORY

FOLDER = REPOSITORY / "proofs"
PAGES = {
    page.stem: page.read_text(encoding="utf-8")
    for page in sorted(FOLDER.glob("*.md"))
    if page.stem != "README"
}
SHARED = {
    "beliefs",
    "boundary",
    "campaigns",
    "closing",
    "cucb_ldp2_joint",
    "discrete_noise",
    "answering",
    "evidence",
    "fence",
    "periods",
    "super_arm_lower",
    "uniform_matroid",
    "upper_bounds",
    "weights",
    "worst_instances",
}
CODE_NAME = re.compile(r"`(dpbandits(?:\.\w+)+)`")
EVERY = (POLICIES | CONTEXTUAL).values()
POLICY_PAGES = {cls.about.proof for cls in EVERY if cls.about.proof}
PRIVATE = [policy for name in POLICIES for policy in examples(name) if policy.guarantee is not None]


def promise(policy: Policy) -> Guarantee:
    guarantee = policy.guarantee
    assert guarantee is not None
    return guarantee


def built() -> list[Mechanism | Randomizer]:
    """One instance of every mechanism and randomizer the package exports."""
    inner = mechanisms.LazyForgetful(epsilon=Fraction(1))
    settings: dict[str, Any] = {
        "epsilon": Fraction(1),
        "rho": Fraction(1),
        "leaves": 3,
        "inner": inner,
        "actions": 2,
        "width": 2,
        "kinds": (1, 2),
    }
    classes = [getattr(mechanisms, name) for name in mechanisms.__all__]
    wanted = [
        c
        for c in classes
        if issubclass(c, (Mechanism, Randomizer))
        and not inspect.isabstract(c)
        and c not in (mechanisms.SeparableDP, mechanisms.PureDP)
    ]
    return [
        c(**{f.name: settings[f.name] for f in fields(c) if f.name in settings}) for c in wanted
    ]


MECHANISM_PAGES = {
    guarantee.proof for guarantee in (thing.guarantee for thing in built()) if guarantee is not None
}


def sections(page: str) -> dict[str, str]:
    """Text below each heading of the second level."""
    pieces = re.split(r"^## (.+)\n", PAGES[page], flags=re.MULTILINE)[1:]
    return dict(zip(pieces[::2], pieces[1::2], strict=True))


def test_every_page_is_named_and_every_name_has_a_page() -> None:
    assert "" not in MECHANISM_PAGES
    assert set(PAGES) == POLICY_PAGES | MECHANISM_PAGES | SHARED


@pytest.mark.parametrize("policy", PRIVATE, ids=repr)
def test_private_policy_names_its_pages(policy: Policy) -> None:
    assert policy.about.proof in PAGES
    assert promise(policy).proof in MECHANISM_PAGES
    assert f"{promise(policy).proof}.md" in PAGES[policy.about.proof], (
        "the policy's page must lead to its mechanism's"
    )


@pytest.mark.parametrize("page", PAGES)
def test_page_has_its_headings_and_names_code(page: str) -> None:
    """That all names are there, `test_names_in_pages.py` says."""
    found = sections(page)
    middle = ["Regret"] if page in POLICY_PAGES else ["Accuracy"] if page in MECHANISM_PAGES else []
    assert list(found) == ["Statement", "Proof", *middle, "Where in the code", "Notes"]
    assert all(text.strip() for text in found.values())
    assert PAGES[page].startswith("# ")
    assert CODE_NAME.search(found["Where in the code"])
    names = CODE_NAME.findall(PAGES[page])
    loose = [name for name in re.findall(r"dpbandits\.[\w.]*", PAGES[page]) if name not in names]
    assert not loose, f"code references outside backticks or broken: {loose}"


def test_the_index_lists_every_page() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert {
        name for name, file in re.findall(r"\[(\w+)\]\((\w+)\.md\)", text) if name == file
    } == set(PAGES)


def test_local_and_published_guarantees_are_what_the_pages_say() -> None:
    for policy in PRIVATE:
        guarantee, page = promise(policy), PAGES[policy.about.proof]
        assert ("*local* trust" in page) == (guarantee.trust == "local")
        assert ("ρ-zCDP" in page) == (guarantee.measure == "zCDP")
    corrected, published = (policy for policy in PRIVATE if policy.about.proof == "hybrid_ucb")
    assert promise(published).cost == Fraction(3, 2) * promise(corrected).cost
    tight, printed, signed = (policy for policy in PRIVATE if policy.about.proof == "dp_ucb")
    assert promise(printed).cost * printed.arms == promise(tight).cost == promise(signed).cost
