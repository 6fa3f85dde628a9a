"""Every policy is exported, explained, listed and proved; every formula is compiled."""

import inspect
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

import dpbandits as dpb
from dpbandits.policies import CONTEXTUAL, POLICIES, formulas
from dpbandits.policies.contract import Policy, size_argument
from dpbandits.policies.named import EVERY_POLICY
from dpbandits.terminal.cli import app
from dpbandits.terminal.explain import argument_texts
from tests.places import REPOSITORY


@cache
def printed(*command: str) -> str:
    result = CliRunner().invoke(app, list(command), env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.split())


@pytest.mark.parametrize("name", EVERY_POLICY)
def test_a_policy_is_exported_explained_listed_and_proved(name: str) -> None:
    cls = EVERY_POLICY[name]
    about = cls.about
    assert getattr(dpb, name) is cls
    assert name in dpb.__all__
    assert name in printed("list")
    explained = printed("explain", name)
    said = about.paper, about.algorithm, about.bound, about.proof, size_argument(cls) or ""
    for part in (*said, f"Session(dpb.{name}("):
        assert part in explained
    texts = argument_texts(cls)
    # those by contexts explain some arguments in pairs
    for field in (field for field in fields(cls) if field.init and name in POLICIES):
        assert texts.get(field.name), field.name
        assert field.name in explained
        # a table folds its last column, so the first words tell that the text is there
        assert " ".join(texts[field.name].split()[:3]) in explained, field.name
    proved = (REPOSITORY / "proofs" / f"{about.proof}.md").is_file() if about.proof else None
    assert proved is (None if about.privacy == "none" else True)


def test_every_policy_in_the_package_is_registered() -> None:
    """A class that can be made and that declares what is known of it is a policy for users."""
    found, folders = set[type[Policy]](), list[type[Policy]]([Policy])
    while folders:
        cls = folders.pop()
        folders += cls.__subclasses__()
        ours = cls.__module__.startswith("dpbandits.policies.")
        if ours and not inspect.isabstract(cls) and "about" in vars(cls):
            found.add(cls)
    assert found == set(POLICIES.values()) | set(CONTEXTUAL.values())


def test_every_formula_is_compiled() -> None:
    """The folder is walked: each function of each of its files has a compiled form of its name."""
    from dpbandits.simulation.compiled import jit

    named: list[str] = []
    for file in sorted(Path(formulas.__path__[0]).glob("*.py")):
        module = inspect.getmodulename(str(file))
        if module == "__init__":
            continue
        code = __import__(f"{formulas.__name__}.{module}", fromlist=["*"])
        named += [
            name
            for name, function in inspect.getmembers(code, inspect.isfunction)
            if function.__module__ == code.__name__
        ]
    assert len(named) == len(set(named)) > 40
    assert set(jit.FORMULAS) == set(named)
    assert jit.growing_batch(8, 3, 1.5) == 4
    # one that calls another file's formulas
    assert jit.dp_klucb(0.5, 10, 1.0, 1.0) == pytest.approx(
        formulas.indices.dp_klucb(0.5, 10, 1.0, 1.0)
    )
    with pytest.raises(AttributeError, match="no formula 'nothing'"):
        jit.nothing  # noqa: B018
