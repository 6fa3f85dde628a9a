"""The tables of a sweep file: what every `[[environments]]` table is; and a `[[policies]]` table, a
class, its hyper-parameters, and the budgets it is played with.
"""

from abc import abstractmethod
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    model_validator,
)

from dpbandits.core.inputs import MOST
from dpbandits.core.privacy import as_fraction, printed
from dpbandits.datasets import data_folder
from dpbandits.environments import Environment
from dpbandits.oracles import DecisionSet
from dpbandits.policies.contract import Policy, size_argument
from dpbandits.policies.named import NO_ABOUT, close_to, policy_class


class Loaded(NamedTuple):
    """arms: their names, where the data has names. source: of real data; empty for a made-up
    setting.

    problem: the super arms that policies play here; None where they play single arms.
    kinds: of each arm, where the data has them: a film's genres.
    """

    environment: Environment
    arms: tuple[str, ...] = ()
    source: str = ""
    problem: DecisionSet | None = None
    kinds: tuple[tuple[str, ...], ...] = ()


def data_file(folder: Path, path: Path) -> Path:
    """A file of the reader's own: beside the sweep file, else in the data folder (`dpbandits data
    list`).
    """
    beside = folder / path
    return beside if beside.exists() else data_folder() / path


class Spec(BaseModel):
    """A table of a sweep file: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Setting(Spec):
    """One `[[environments]]` table."""

    name: str = Field(min_length=1)

    @abstractmethod
    def load(self, folder: Path) -> Loaded:
        """The environment; relative paths start at `folder`, where the sweep file lies."""


def no_switch(value: Any) -> Any:
    """true and false are no numbers, though pydantic reads them as 1 and 0."""
    if isinstance(value, bool):
        raise ValueError(f"expected a number, got {str(value).lower()}")
    return value


Count = Annotated[int, BeforeValidator(no_switch), Field(ge=1, le=MOST)]
Number = Annotated[float, BeforeValidator(no_switch)]
Epsilon = Annotated[int | float | str, BeforeValidator(no_switch)]
"""As written in the file; a string such as "1/3" is a fraction."""

# by the sweep, never written in a policy's table
FILLED = {"arms", "actions", "problem", "epsilon"}


def class_of(name: str, folder: Path | None) -> type[Policy]:
    """The class of a policy of ours, or of the reader's own, written module:object.

    Raises:
        ValueError: there is none, or it is no class of a policy.
    """
    found = policy_class(name, folder)
    if not (isinstance(found, type) and issubclass(found, Policy) and is_dataclass(found)):
        raise ValueError(
            f"expected {name} to be the class of a policy, a frozen dataclass that derives from "
            "dpbandits.Policy"
        )
    if not hasattr(found, "about"):
        raise ValueError(f"{NO_ABOUT} {name} says nothing.")
    return cast(type[Policy], found)


class PolicyEntry(BaseModel):
    """Keys that are not fields of this model are hyper-parameters of the policy and are checked
    against it.

    class: the name of a policy of ours, or module:object of a file beside the sweep file.
    horizon: filled with the sweep's rounds for policies that have it; a number fixes it, `false`
        leaves it out.
    """

    model_config = ConfigDict(extra="allow", frozen=True, populate_by_name=True)

    policy: str = Field(alias="class")
    label: str | None = None
    epsilons: list[Epsilon] | None = Field(default=None, min_length=1)
    rhos: list[Epsilon] | None = Field(default=None, min_length=1)
    rounds: Count | None = None
    runs: Count | None = None
    environments: list[str] | None = Field(default=None, min_length=1)
    _kind: type[Policy] = PrivateAttr()

    @model_validator(mode="after")
    def _known(self, info: ValidationInfo) -> Self:
        self._kind = class_of(self.policy, (info.context or {}).get("folder"))
        if size_argument(self.kind) is None:
            raise ValueError(
                f"{self.policy} is a stopping rule over one arm: it has no regret to compare; "
                "use dpbandits.estimates"
            )
        faults = [*self._foreign(), *self._budget_faults()]
        if faults:
            raise ValueError("\n".join(faults))
        return self

    def _foreign(self) -> list[str]:
        """Of each hyper-parameter that the policy does not take, what to write instead."""
        takes = sorted(self.parameters - FILLED)
        more = ", ".join(takes) or "nothing"
        return [
            f"{self.policy} does not take {name!r}"
            + (
                " (the sweep fills it: use epsilons = […])"
                if name == "epsilon"
                else close_to(name, takes)
            )
            + f"; it takes {more}"
            for name in self.given
            if name not in takes
        ]

    def _budget_faults(self) -> list[str]:
        if self.rhos and "rho" not in self.parameters:
            return [f"rhos is for policies under zCDP; {self.policy} takes epsilons"]
        if "rho" in self.parameters and not self.rhos and "rho" not in self.given:
            return [
                f"{self.policy} is private under zCDP, not at an ε: give it rhos = [0.1] or rho "
                "= 0.1"
            ]
        return []

    @property
    def kind(self) -> type[Policy]:
        return self._kind

    @property
    def parameters(self) -> set[str]:
        return {f.name for f in fields(self.kind) if f.init}

    @property
    def given(self) -> dict[str, Any]:
        """Hyper-parameters written in the file."""
        return dict(self.model_extra or {})

    def budgets(self, epsilons: list[Epsilon]) -> list[dict[str, Epsilon]]:
        """The budget arguments it is played with: one each of epsilons or rhos; one empty one
        without privacy.
        """
        if "epsilon" in self.parameters:
            return [{"epsilon": e} for e in self.epsilons or epsilons]
        return [{"rho": r} for r in self.rhos] if self.rhos else [{}]

    def build(
        self, arms: int, rounds: int, budget: dict[str, Epsilon], problem: DecisionSet | None = None
    ) -> Policy:
        """The policy; one that plays super arms takes the environment's problem, any other the
        number of its arms.
        """
        size = size_argument(self.kind)
        assert size is not None
        plays = size == "problem"
        if plays is not (problem is not None):
            what = (
                "plays super arms, and this environment has no problem"
                if plays
                else "plays single arms, not this environment's problem"
            )
            raise ValueError(f"it {what}; say with environments = […] where it is played")
        arguments: dict[str, Any] = {size: problem if plays else arms} | self.given | budget
        if "horizon" in self.parameters:
            arguments.setdefault("horizon", rounds)
            if arguments["horizon"] is False:
                del arguments["horizon"]
        return self.kind(**arguments)

    def name(self, policy: Policy) -> str:
        """The label; one entry under several rhos gets one label each."""
        rho = getattr(policy, "rho", None)
        return (self.label or policy.name) + (
            f" (ρ = {printed(as_fraction(rho, 'rho'))})" if rho is not None else ""
        )
