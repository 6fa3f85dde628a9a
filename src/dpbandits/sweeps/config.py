"""A sweep as data: a TOML file of policies × environments × budgets, checked when it is read."""

import tomllib
from collections import Counter
from dataclasses import fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from dpbandits.core.errors import ConfigError, MissingDataError
from dpbandits.core.privacy import as_fraction, printed
from dpbandits.environments import Environment
from dpbandits.oracles import DecisionSet
from dpbandits.policies.contextual import ContextualPolicy
from dpbandits.policies.contract import Policy, size_argument
from dpbandits.policies.joint_contexts import JointDPLinTS
from dpbandits.policies.named import NO_ABOUT, close_to, policy_class
from dpbandits.sweeps.cells import Cell, checkpoints
from dpbandits.sweeps.laws import AnySetting, Count, Epsilon, Loaded, Spec

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
    if issubclass(found, (ContextualPolicy, JointDPLinTS)):
        raise ValueError(
            f"expected a policy that decides without contexts: the laws of a sweep have none. Play "
            f"{name} by dpbandits.simulate in a dpbandits.ContextTable"
        )
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
        takes = sorted(self.parameters - FILLED)
        for name in self.given:
            if name not in takes:
                filled = " (the sweep fills it: use epsilons = […])"
                hint = filled if name == "epsilon" else close_to(name, takes)
                raise ValueError(
                    f"{self.policy} does not take {name!r}{hint}; it takes "
                    f"{', '.join(takes) or 'nothing'}"
                )
        if self.rhos and "rho" not in self.parameters:
            raise ValueError(f"rhos is for policies under zCDP; {self.policy} takes epsilons")
        if "rho" in self.parameters and not self.rhos and "rho" not in self.given:
            raise ValueError(
                f"{self.policy} is private under zCDP, not at an ε: give it rhos = [0.1] or rho "
                "= 0.1"
            )
        return self

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


QUICK = {"rounds": 10_000, "runs": 10}
"""What a quick run of a sweep file without [quick] has at most."""


class Quick(Spec):
    """Overrides for a quick run."""

    rounds: Count | None = None
    runs: Count | None = None
    epsilons: list[Epsilon] | None = Field(default=None, min_length=1)


class Config(Spec):
    """One sweep. `cells()` is the work it stands for."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    title: str
    about: str = ""  # a paragraph for the report
    unit: str = "in reward"  # what regret counts, as in "it loses 12 responses"
    each: str = "rounds"  # what a round is, as in "over 1,000 patients"
    rounds: Count
    runs: Count
    seed: int = Field(default=0, strict=True, ge=0)
    epsilons: list[Epsilon] = Field(default=[1], min_length=1)
    at: list[Count] | None = None  # rounds at which regret is kept; about fifty by default
    quick: Quick = Quick()
    environments: list[AnySetting] = Field(min_length=1)
    policies: list[PolicyEntry] = Field(min_length=1)
    _folder: Path = PrivateAttr(default=Path())
    _text: str = PrivateAttr(default="")

    @model_validator(mode="after")
    def _names_fit(self) -> Self:
        settings = [setting.name for setting in self.environments]
        labels = [entry.label or entry.policy + str(entry.given) for entry in self.policies]
        for what, names in (("environments", settings), ("policies", labels)):
            for name in names:
                if names.count(name) > 1:
                    raise ValueError(f"{what}: {name!r} occurs twice; give each its own name")
        for entry in self.policies:
            for name in entry.environments or ():
                if name not in settings:
                    raise ValueError(
                        f"policy {entry.policy}: there is no environment "
                        f"{name!r}{close_to(name, settings)}"
                    )
        return self

    @property
    def text(self) -> str:
        """The sweep file as it was read; empty for a sweep made in Python."""
        return self._text

    @cached_property
    def loaded(self) -> dict[str, Loaded]:
        """Every environment by name, with its arms' names and its source.

        Raises:
            ConfigError: environments refuse their values; the message names each of them.
        """
        loaded, faults = dict[str, Loaded](), list[ConfigError]()
        for i, setting in enumerate(self.environments):
            try:
                loaded[setting.name] = setting.load(self._folder)
            except (ValueError, TypeError, LookupError, OSError) as error:
                text = error.args[0] if isinstance(error, KeyError) and error.args else error
                kind = MissingDataError if isinstance(error, FileNotFoundError) else ConfigError
                faults.append(kind(f"environments[{i}] ({setting.name}): {text}"))
        raise_all(faults)
        return loaded

    @property
    def built(self) -> dict[str, Environment]:
        """Every environment by name."""
        return {name: loaded.environment for name, loaded in self.loaded.items()}

    def cells(self) -> list[Cell]:
        """Every (environment, policy, budget), in the file's order.

        Raises:
            ConfigError: environments or policies refuse their values; the message names each of
                them.
        """
        cells, faults = list[Cell](), list[ConfigError]()
        for name, loaded in self.loaded.items():
            for i, entry in enumerate(self.policies):
                if name not in (entry.environments or [name]):
                    continue
                for budget in entry.budgets(self.epsilons):
                    try:
                        cells.append(self._cell(entry, name, loaded, budget))
                    except Exception as error:  # the class may be the user's own
                        ours = isinstance(error, (ValueError, TypeError))
                        said = str(error) if ours else f"{type(error).__name__}: {error}"
                        faults.append(ConfigError(f"policies[{i}] ({entry.policy}): {said}"))
        named = Counter((cell.label, cell.setting, cell.epsilon) for cell in cells)
        for (label, setting, _), times in named.items():
            if times > 1:
                said = f"policies: {label!r} occurs twice in {setting!r} at one budget"
                faults.append(ConfigError(f"{said}; give each its own label, each budget once"))
        raise_all(faults)
        return cells

    def _cell(
        self, entry: PolicyEntry, setting: str, loaded: Loaded, budget: dict[str, Epsilon]
    ) -> Cell:
        rounds, environment = entry.rounds or self.rounds, loaded.environment
        policy = entry.build(environment.arms, rounds, budget, loaded.problem)
        epsilon, rho = (
            float(as_fraction(value, name)) if (value := getattr(policy, name, None)) else None
            for name in ("epsilon", "rho")
        )
        return Cell(
            label=entry.name(policy),
            setting=setting,
            policy=policy,
            environment=environment,
            epsilon=epsilon,
            rho=rho,
            rounds=rounds,
            runs=entry.runs or self.runs,
            seed=self.seed,
            at=checkpoints(rounds, self.at),
        )

    def quickened(self) -> Self:
        """The same sweep with its `[quick]` overrides, or `QUICK` if it has none; a policy's own
        rounds and runs shrink to them, too.
        """
        quick = self.quick.model_dump(exclude_none=True) or {
            name: min(getattr(self, name), most) for name, most in QUICK.items()
        }
        small = {name: quick[name] for name in ("rounds", "runs") if name in quick}
        entries = [
            e.model_copy(update={n: min(v, s) for n, s in small.items() if (v := getattr(e, n))})
            for e in self.policies
        ]
        return self.model_copy(update=quick | {"policies": entries})


def load_config(path: str | Path, *, quick: bool = False) -> Config:
    """Read and check a sweep file; everything it names is built once, so mistakes show before any
    work.

    Args:
        path: the TOML file. Paths in it start at its folder.
        quick: whether to shrink it for a first look (see `Config.quickened`).

    Raises:
        ConfigError: the file is missing, is no TOML, or holds wrong fields, all of which the
            message names.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such file.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: this is not a readable TOML file: {error}") from None
    try:
        config = Config.model_validate(data, context={"folder": path.parent})
        config._folder, config._text = path.parent, text
        config = config.quickened() if quick else config
        config.cells()
    except ValidationError as error:
        raise ConfigError(f"{path}: {in_words(error)}") from None
    except ConfigError as error:
        raise type(error)(f"{path}: {error}") from None
    return config


def in_words(error: ValidationError) -> str:
    """Every mistake that pydantic found: where, and what was expected."""
    lines = []
    for each in error.errors():
        got = f", got {each['input']!r}" if isinstance(each["input"], (int, float, str)) else ""
        where = ".".join(map(str, each["loc"]))
        lines.append(f"{where}: {each['msg'].removeprefix('Value error, ')}{got}".lstrip(": "))
    return listed(lines)


def listed(mistakes: list[str]) -> str:
    """One mistake as it is, several in a line each."""
    if len(mistakes) == 1:
        return mistakes[0]
    return "\n".join([f"{len(mistakes)} mistakes:", *(f"  {mistake}" for mistake in mistakes)])


def raise_all(faults: list[ConfigError]) -> None:
    """Raise one error that names all of them, each once; nothing where there are none."""
    if faults:
        missing = all(isinstance(fault, MissingDataError) for fault in faults)
        kind = MissingDataError if missing else ConfigError
        raise kind(listed(list(dict.fromkeys(map(str, faults)))))
