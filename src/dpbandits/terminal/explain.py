"""`dpbandits list` and `dpbandits explain`: the table of all policies; and a policy's docstring,
declarations and proof page, gathered for a reader.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields
from inspect import cleandoc
from operator import attrgetter
from pathlib import Path

from rich import box
from rich.console import RenderableType
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from dpbandits.policies import CONTEXTUAL
from dpbandits.policies.contract import Policy
from dpbandits.policies.joint_contexts import JointDPLinTS
from dpbandits.policies.named import EVERY_POLICY, close_to
from dpbandits.policies.recommended import RECOMMENDED
from dpbandits.theory import PolicyRow

PRIVACY = {
    "none": "None: it sees every reward as it is. `guarantee` is None.",
    "pure": (
        "ε-differential privacy for the whole sequence of decisions, in the central model: you "
        "are trusted with the rewards."
    ),
    "zCDP": (
        "ρ-zero-concentrated differential privacy for the whole sequence of decisions, in the "
        "central model."
    ),
    "local": (
        "ε-local differential privacy: every user randomises their own reward before it is sent; "
        "nobody need be trusted."
    ),
    "joint": (
        "ε-joint differential privacy, in the central model: of a person's context, decision and "
        "reward together, against everybody but that person."
    ),
}

FEEDBACK = {
    "bandit": "the reward of the arm that was played",
    "semi": "the reward of every arm of the super arm that was played",
    "full": "the rewards of all actions, after each round",
}

EXAMPLE = {
    "arms": 5,
    "actions": 5,
    "problem": "dpb.UniformMatroid(arms=5, rank=2)",
    "epsilon": 1,
    "rho": 0.1,
    "features": 3,
    "horizon": 10_000,
    "lasting": 20_000,
    "alpha": 0.1,
    "beta": 0.05,
    "cap": 10**6,
}

BOUND = {"regret": "regret", "estimate": "stops within"}


def explanation(name: str, *, short: bool = False) -> Iterator[RenderableType]:
    """What to print about one policy. short: one screen, without parameters, remarks and proof.

    Raises:
        ValueError: there is no such policy; the message suggests close names.
    """
    if name not in EVERY_POLICY:
        raise ValueError(
            f"There is no policy {name!r}{close_to(name, EVERY_POLICY)}; `dpbandits list` "
            "shows all."
        )
    cls = EVERY_POLICY[name]
    first, *rest = documentation(cls)
    yield Text(f"{name}: {first}\n", style="bold")
    yield facts(cls)
    if short:
        yield Text("\n" + example(cls), style="cyan")
        return
    yield Text("".join(f"\n{paragraph}\n" for paragraph in rest))
    yield parameter_table(cls)
    yield Text(example(cls) + "\n", style="cyan")
    if cls.about.proof:
        yield Text(f"Proof (proofs/{cls.about.proof}.md)")
        yield Markdown(proof_page(cls.about.proof).read_text(encoding="utf-8"))


def facts(cls: type[Policy]) -> Table:
    about = cls.about
    needs = [
        text
        for text, so in (
            ("the horizon must be known", about.needs_horizon),
            ("draws public randomness", about.randomised),
        )
        if so
    ]
    rows = {
        "source": f"{about.paper}, {about.algorithm}",
        "sees": FEEDBACK[about.feedback],
        "guarantee": PRIVACY[about.privacy],
        BOUND[about.goal]: about.bound
        + ("" if about.theory or "proved" in about.bound else " (not proved)"),
        "releases": "after every round"
        if about.every_round
        else "by batches: a few for each doubling of time",
        "needs": ", ".join(needs) or "nothing but its parameters",
        "without privacy": about.baseline or "this is such a policy",
    }
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for key, value in rows.items():
        table.add_row(Text(key, style="bold"), Text(value))
    return table


def parameter_table(cls: type[Policy]) -> Table:
    """Every keyword argument with its default and what its docstring says of it, the budget after
    what is decided among.
    """
    table = Table(box=box.SIMPLE, pad_edge=False)
    for title in ("parameter", "default", "meaning"):
        table.add_column(title, overflow="fold")
    meanings = argument_texts(cls)
    first = ("arms", "actions", "problem", "features", "epsilon", "rho")
    for field in sorted(filter(attrgetter("init"), fields(cls)), key=lambda f: f.name not in first):
        default = "required" if field.default is MISSING else repr(field.default)
        table.add_row(field.name, default, Text(meanings.get(field.name, "")))
    return table


def documentation(cls: type[Policy]) -> list[str]:
    """The class's own docstring without its doctests and its arguments, which have their own table:
    a line a paragraph; tables keep their lines.
    """
    paragraphs = cleandoc(cls.__dict__.get("__doc__") or "").split(">>>")[0].split("\n\n")
    return [
        p if p.startswith("|") else " ".join(p.split())
        for p in paragraphs
        if p.strip() and not p.startswith("Args:")
    ]


def example(cls: type[Policy]) -> str:
    needed = [field.name for field in fields(cls) if field.init and field.default is MISSING]
    if cls.about.needs_horizon and "horizon" not in needed:
        needed.append("horizon")
    optional = {field.name for field in fields(cls)} - set(needed)
    if cls.__name__ in CONTEXTUAL and "epsilon" in optional:  # one budget of two
        needed.append("epsilon")
    call = ", ".join(f"{name}={EXAMPLE.get(name, '…')}" for name in needed)
    host = "JointDPSession" if issubclass(cls, JointDPLinTS) else "Session"
    said = (
        f"import dpbandits as dpb\nsession = dpb.{host}(dpb.{cls.__name__}({call}), "
        "noise=dpb.SecureNoise())"
    )
    asked = "\ndecision = session.ask(context=[0.3, 0.1, 0.5])"
    return said + (asked if cls.__name__ in CONTEXTUAL else "")


def proof_page(proof: str) -> Path:
    """The page's file: inside the installed package, or around it in the repository."""
    package = Path(__file__).parents[1]
    installed = package / "proofs"
    folder = installed if installed.is_dir() else package.parents[1] / "proofs"
    return folder / f"{proof}.md"


def purpose(cls: type[Policy]) -> str:
    """What a policy is for, in three words."""
    about = cls.about
    if cls.__name__ in CONTEXTUAL:
        return "an arm by context"
    if about.goal == "estimate":
        return "a mean, then stop"
    if about.feedback == "full":
        return "every arm is seen"
    if about.feedback == "semi":
        return "a matroid's basis" if about.matroid else "super arms"
    found = cls.__module__.startswith("dpbandits.policies.identification")
    return "name the best arm" if found else "one arm a round"


def unit(cls: type[Policy]) -> str:
    """What is paid for what: the budget, and what of it is one record."""
    about = cls.about
    if about.privacy == "none":
        return "no privacy"
    what = "a reward" if about.feedback == "bandit" else "a round"
    budget = "ρ" if about.privacy == "zCDP" else "ε"
    if about.privacy == "joint":
        return "ε a record, joint"
    return f"{budget} {what}" + (", local" if about.privacy == "local" else "")


def catalogue(rows: Iterable[PolicyRow]) -> Table:
    """`dpbandits list`: a line a policy, in 80 columns; `--json` and `explain` tell the rest."""
    table = Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        caption="ε (ρ: zCDP) is for one reward, or for all rewards of a round.",
        caption_justify="left",
    )
    for title in ("policy", "what for", "unit", ""):
        table.add_column(title, no_wrap=True)
    for row in rows:
        cls = EVERY_POLICY[row.name]
        mark = "recommended" if row.name in RECOMMENDED else ""
        table.add_row(f"[bold]{row.name}[/]", purpose(cls), unit(cls), mark)
    return table


def catalogue_json(rows: Iterable[PolicyRow]) -> str:
    return json.dumps([row._asdict() for row in rows], indent=2, ensure_ascii=False)


def argument_texts(cls: type) -> dict[str, str]:
    """What the class says of each argument of its constructor, by name.

    Read from the `Args:` sections of its docstring and those of its bases, of which the nearest to
    the class counts: an entry is a line "name: text", and further lines of it are indented more.
    """
    texts: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        _, _, section = cleandoc(base.__dict__.get("__doc__") or "").partition("\nArgs:\n")
        entries = re.findall(
            r"^    (\w+): (.+(?:\n     .+)*)", section.split("\n\n")[0], re.MULTILINE
        )
        texts |= {name: " ".join(text.split()) for name, text in entries}
    return texts
