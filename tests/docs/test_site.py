"""The documentation site's own parts: what is generated is current and whole, and no page is lost.
`make docs` builds the site, where a warning is an error.
"""

import re
import tomllib
from typing import get_args

import dpbandits as dpb
from dpbandits.policies.recommended import RECOMMENDED
from dpbandits.sweeps.config import Config, PolicyEntry, Quick
from dpbandits.sweeps.laws import AnySetting
from tests.places import REPOSITORY

DOCS = REPOSITORY / "docs"


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


SWEEP_FILES = page("reference/sweep_files")
ROWS = dict(re.findall(r"^\| (\w+) \| (`.*?) \|", SWEEP_FILES, re.MULTILINE))
POLICY, ENVIRONMENTS = (
    tomllib.loads(text) for text in re.findall(r"```toml\n(.*?)```", SWEEP_FILES, re.DOTALL)
)
LAWS = {
    law.model_fields["law"].annotation.__args__[0]: law for law in get_args(get_args(AnySetting)[0])
}


def test_the_page_on_sweep_files_has_every_law_and_key() -> None:
    assert set(ROWS) == set(LAWS)
    for law, model in LAWS.items():
        keys = set(re.findall(r"`(\w+)`", ROWS[law]))
        assert keys == set(model.model_fields) - {"name", "law"}
    for model in (Config, Quick, PolicyEntry):
        for name, field in model.model_fields.items():
            assert f"`{field.alias or name}`" in SWEEP_FILES


def test_every_law_has_an_example_that_is_one() -> None:
    (policy,) = POLICY["policies"]
    del policy["environments"]
    head = {"name": "a", "title": "b", "rounds": 10, "runs": 1, "policies": [policy]}
    written = ENVIRONMENTS["environments"]
    assert [each["law"] for each in written] == list(ROWS)
    for each in written:
        if "path" in LAWS[each["law"]].model_fields:  # a file that only a reader has
            LAWS[each["law"]].model_validate(each)
        else:
            config = Config.model_validate(head | {"environments": [each]})
            assert config.loaded[each["name"]].environment.arms >= 2


def test_which_policy_is_what_recommend_says() -> None:
    text = page("reference/which_policy")
    assert all(f"`{name}" in text for name in RECOMMENDED)
    calls = re.findall(r"^\| [^|]+ \| `([^`…]+)` \| `(\w+)", text, re.MULTILINE)
    assert len(calls) >= 5
    for call, name in calls:
        assert type(eval(f"dpb.recommend({call})", {"dpb": dpb})).__name__ == name


def test_every_page_is_in_the_table_of_contents() -> None:
    listed = set(re.findall(r"^([\w./*-]+)$", page("index"), re.MULTILINE))
    kept = [path.relative_to(DOCS).with_suffix("") for path in DOCS.rglob("*.md")]
    pages = {path.as_posix() for path in kept if path.parts[:2] != ("reference", "api")}
    assert pages - {"index"} <= listed
    assert {"reference/api", "../proofs/*", "../decisions/0*"} <= listed


def test_what_a_guide_installs_is_what_a_reader_has() -> None:
    """A clone: no registry has this package."""
    pages = [REPOSITORY / "README.md", *DOCS.rglob("*.md")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    assert "pip install '.[" in text
    assert "pip install 'dpbandits" not in text
    assert "pip install dpbandits" not in text


def test_the_extras_are_on_the_page_on_installation() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    rows = set(re.findall(r"^\| `(\w+)` \|", page("guides/install"), re.MULTILINE))
    assert rows == set(project["optional-dependencies"]) - {"dev"}
