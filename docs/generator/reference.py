"""The reference: every public name, from its own docstring and parameter texts."""

import inspect
from dataclasses import MISSING, fields
from importlib import import_module
from pkgutil import resolve_name
from typing import Any

from docs.generator.docstrings import docstring, escaped, signature
from docs.generator.members import members
from pydantic import BaseModel

import dpbandits as dpb
from dpbandits.policies import POLICIES
from dpbandits.terminal.explain import argument_texts

ROOMS = {
    "dpbandits": "What `import dpbandits as dpb` gives",
    "dpbandits.sweeps": "Sweeps (extra `experiments`)",
    "dpbandits.datasets": "Data sets",
    "dpbandits.checks": "Checks of policies, mechanisms, environments and stores",
    "dpbandits.auditing": "Audits",
    "dpbandits.mechanisms": "Mechanisms",
    "dpbandits.noise": "Noise",
    "dpbandits.oracles": "Decision sets and their oracles",
    "dpbandits.environments": "Environments",
    "dpbandits.theory": "Bounds",
    "dpbandits.session": "Sessions",
    "dpbandits.simulation": "Simulation",
}
"""The rooms whose `__all__` is public. A name is explained where it comes first."""

CHOSEN = {
    "dpbandits.service": (
        "Campaigns (extra `service`)",
        "Opened by [open_store](dpbandits.md); the [guide](../../guides/service.md) shows them at "
        "work.",
        "store.CampaignStore campaign.Campaign segments.SegmentedCampaign holdout.HoldoutCampaign "
        "scope.Scope turns.asks.CampaignDecision looks.store.ShownStore "
        "looks.campaign.ShownCampaign "
        "looks.segments.ShownSegments looks.segments.ShownHoldout looks.reports.Summary "
        "looks.reports.DecisionPage looks.reports.StoredDecision looks.reports.StoredRelease "
        "looks.reports.LedgerLine remote.RemoteStore remote.RemoteCampaign rows.backend.Backend "
        "rows.backend.CampaignRows rows.memory.MemoryBackend witness.WitnessFile",
    ),
    "dpbandits.local": (
        "A user's device, in the local model",
        "What a [Client](dpbandits.md) may still report of a person, who trusts no server.",
        "budget.Budget budget.MemoryBudget budget.FileBudget",
    ),
    "dpbandits.figures": (
        "Figures (extra `experiments`)",
        "Drawn from [results](../results.md).",
        "plots.regret_figure plots.epsilon_figure plots.save plots.SavedFigure panels.Panel "
        "panels.panels_of layout.Layout layout.ONE_COLUMN layout.TWO_COLUMNS",
    ),
    "dpbandits.core": (
        "For policies and mechanisms of one's own",
        "What a new policy or mechanism is made of; [how to add one](../../../CONTRIBUTING.md).",
        "plan.Cycle plan.Hold plan.Draw plan.FOREVER plan.PublicRng",
    ),
}
"""Rooms without an `__all__`, and the names in them that guides use or a public call returns: a
title, a sentence, and the names.
"""

ALSO = {
    "dpbandits.policies.contract.About": "dpbandits.core",
    "dpbandits.policies.contract.policy_dataclass": "dpbandits.core",
    "dpbandits.policies.base.PrivatePolicy": "dpbandits.core",
    "dpbandits.noise.laws.published_loss": "dpbandits.noise",
}
"""Names of inner rooms that guides use, and the page on which they are explained."""


def public_names() -> dict[str, dict[str, Any]]:
    """By room, every public name with what it stands for; each once."""
    found: dict[str, dict[str, Any]] = {}
    known: set[int] = set()
    for room in ROOMS:
        module = import_module(room)
        found[room] = {}
        for name in sorted(module.__all__, key=str.lower):
            thing = getattr(module, name)
            if inspect.ismodule(thing):  # a package that is called
                thing = thing.__call__
            if id(thing) not in known or not callable(thing):
                found[room][name] = thing
            known.add(id(thing))
    for room, (_, _, names) in CHOSEN.items():
        found[room] = {name: resolve_name(f"{room}.{name}") for name in names.split()}
    for path, room in ALSO.items():
        found[room].setdefault(path.removeprefix(f"{room}."), resolve_name(path))
    return found


def reference_pages() -> dict[str, str]:
    """Markdown by page name: one for the policies, one a room."""
    pages, rooms = {}, public_names()
    shown = {id(thing): name for names in rooms.values() for name, thing in names.items()}
    for room, names in rooms.items():
        policies = {n: t for n, t in names.items() if POLICIES.get(n) is t}
        if policies:
            pages["policies"] = "# Policies\n\n" + "".join(
                section(f"dpbandits.{n}", t, shown) for n, t in policies.items()
            )
        others = {path_of(room, n): t for n, t in names.items() if n not in policies}
        if others:
            text = "".join(section(path, thing, shown) for path, thing in others.items())
            pages[room.removeprefix("dpbandits.")] = head(room) + text
    return pages


def path_of(room: str, name: str) -> str:
    """Where a name is imported from; those of `ALSO` say it themselves."""
    return name if name.startswith("dpbandits.") else f"{room}.{name}"


def head(room: str) -> str:
    """A page's title, and its first sentence if it has one."""
    if room in ROOMS:
        return f"# {ROOMS[room]}\n\n"
    title, sentence, _ = CHOSEN[room]
    return f"# {title}\n\n{sentence}\n\n"


def section(path: str, thing: Any, shown: dict[int, str]) -> str:
    """A name: how it is called, what its docstring says, its parameters and its members."""
    head = f"## {path.removeprefix('dpbandits.')}\n\n"
    if inspect.isclass(thing) and issubclass(thing, BaseModel):
        keys = "Its keys and their defaults: [what a sweep file holds](../sweep_files.md).\n\n"
        return head + docstring(thing) + keys + members(thing, shown)
    if inspect.isclass(thing) or inspect.isroutine(thing):
        text = head + f"```python\n{path}{signature(thing)}\n```\n\n" + docstring(thing)
        if inspect.isclass(thing):
            plays = issubclass(thing, dpb.Policy)
            text += parameters(thing) if plays else members(thing, shown)
        return text
    names = " ".join(sorted(thing)) if isinstance(thing, dict | set | frozenset) else repr(thing)
    return head + f"A value: `{names[:500]}`\n\n"


def parameters(kind: type[dpb.Policy]) -> str:
    """A policy's hyper-parameters, with their defaults and what its docstring says of them."""
    meanings = argument_texts(kind)
    lines = ["| parameter | default | meaning |", "|---|---|---|"]
    for field in (f for f in fields(kind) if f.init):
        default = "required" if field.default is MISSING else f"`{field.default!r}`"
        meaning = escaped(meanings.get(field.name, "").replace("|", "∣"))
        lines.append(f"| `{field.name}` | {default} | {meaning} |")
    return "\n".join(lines).replace("|  |", "| |") + "\n\n"
