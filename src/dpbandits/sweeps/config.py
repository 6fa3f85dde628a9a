"""A sweep as data: a TOML file of policies × environments × budgets, checked when it is read."""

import tomllib
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, PrivateAttr, ValidationError, model_validator

from dpbandits.core.errors import ConfigError, MissingDataError
from dpbandits.core.inputs import shown
from dpbandits.core.privacy import as_fraction
from dpbandits.environments import Environment
from dpbandits.policies.named import close_to
from dpbandits.sweeps.cells import Cell, checkpoints
from dpbandits.sweeps.entries import Count, Epsilon, Loaded, PolicyEntry, Spec, no_switch
from dpbandits.sweeps.laws import LAWS, AnySetting

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
    seed: Annotated[int, BeforeValidator(no_switch), Field(ge=0)] = 0
    epsilons: list[Epsilon] = Field(default=[1], min_length=1)
    at: list[Count] | None = None  # rounds at which regret is kept; about fifty by default
    quick: Quick = Quick()
    environments: list[AnySetting] = Field(min_length=1)
    policies: list[PolicyEntry] = Field(min_length=1)
    _folder: Path = PrivateAttr(default=Path())
    _text: str = PrivateAttr(default="")

    @model_validator(mode="after")
    def _names(self) -> Self:
        settings = [s.name for s in self.environments]
        refuse_twins("environments", settings, "give each its own name")
        labels = [p.label or p.policy + str(sorted(p.given.items())) for p in self.policies]
        refuse_twins("policies", labels, "give each its own label")
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
        """Every environment by name, with its arms' names and its source."""
        loaded = {}
        for i, setting in enumerate(self.environments):
            try:
                loaded[setting.name] = setting.load(self._folder)
            except (ValueError, TypeError, LookupError, OSError) as error:
                text = error.args[0] if isinstance(error, KeyError) and error.args else error
                kind = MissingDataError if isinstance(error, FileNotFoundError) else ConfigError
                raise kind(f"environments[{i}] ({setting.name}): {text}") from None
        return loaded

    @property
    def built(self) -> dict[str, Environment]:
        """Every environment by name."""
        return {name: loaded.environment for name, loaded in self.loaded.items()}

    def cells(self) -> list[Cell]:
        """Every (environment, policy, budget), in the file's order.

        Raises:
            ConfigError: an environment or a policy refuses its values; the message names it.
        """
        return [
            cell
            for name, loaded in self.loaded.items()
            for i, entry in enumerate(self.policies)
            if name in (entry.environments or [name])
            for cell in self._cells_of(i, entry, name, loaded)
        ]

    def _cells_of(self, i: int, entry: PolicyEntry, setting: str, loaded: Loaded) -> list[Cell]:
        environment = loaded.environment
        rounds = entry.rounds or self.rounds
        cells = []
        for budget in entry.budgets(self.epsilons):
            try:
                policy = entry.build(environment.arms, rounds, budget, loaded.problem)
            except (ValueError, TypeError) as error:
                raise ConfigError(f"policies[{i}] ({entry.policy}): {error}") from None
            epsilon, rho = (
                float(as_fraction(v, n)) if (v := getattr(policy, n, None)) else None
                for n in ("epsilon", "rho")
            )
            cells.append(
                Cell(
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
            )
        return cells

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
        copy = self.model_copy(update=quick | {"policies": entries})
        copy._folder, copy._text = self._folder, self._text
        return copy


def load_config(path: str | Path, *, quick: bool = False) -> Config:
    """Read and check a sweep file; everything it names is built once, so mistakes show before any
    work.

    Raises:
        ConfigError: the file is missing, is no TOML, or holds a wrong field; the message says which
        and what to write.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
        config = Config.model_validate(tomllib.loads(text), context={"folder": path.parent})
        config._folder, config._text = path.parent, text
        config = config.quickened() if quick else config
        config.cells()
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such file.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ConfigError(f"{path}: this is not a readable TOML file: {error}") from None
    except ValidationError as error:
        raise ConfigError(f"{path}: {explained(error)}") from None
    except ConfigError as error:
        raise type(error)(f"{path}: {error}") from None
    except (ValueError, RecursionError):  # a number of thousands of digits; lists a thousand deep
        raise ConfigError(
            f"{path}: this is not a readable TOML file: a number is too long, or lists are "
            "nested too deeply."
        ) from None
    return config


def explained(error: ValidationError) -> str:
    """Every key that is missing in one line, or else the first mistake and how many more there
    are.
    """
    mistakes = error.errors()
    missing, unknown = (
        [place_of(m["loc"]) for m in mistakes if m["type"] == kind]
        for kind in ("missing", "extra_forbidden")
    )
    if missing:
        more = len(mistakes) - len(missing) - len(unknown)
        others = (f"; not known: {', '.join(unknown)}" if unknown else "") + (
            f" (and {more} more mistakes)" if more else ""
        )
        return f"missing: {', '.join(missing)}{others}; `dpbandits run --help` shows a file"
    first, *further = mistakes
    place, text = place_of(first["loc"]), first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        text = f"there is no such field here{meant(first['loc'])}"
    elif first["type"].startswith("union_tag"):
        law = first["input"].get("law") if isinstance(first["input"], dict) else None
        text = (
            f"expected law = one of {', '.join(LAWS)}, got {'none' if law is None else shown(law)}"
        )
    elif first["type"] != "value_error":
        text += f", got {shown(first['input'])}"
    return (
        (f"{place}: " if place else "") + text + (f" (and {len(further)} more)" if further else "")
    )


def meant(loc: tuple[Any, ...]) -> str:
    """Which field stands close to one that there is not."""
    law = LAWS.get(loc[2]) if len(loc) == 4 and loc[0] == "environments" else None
    model = Config if len(loc) == 1 else law
    return "" if model is None else close_to(str(loc[-1]), model.model_fields)


def place_of(loc: tuple[Any, ...]) -> str:
    """Where a mistake is, as the file's reader would write it: environments[0].means."""
    parts = [
        p for i, p in enumerate(loc) if not (i == 2 and loc[0] == "environments" and p in LAWS)
    ]
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in parts).lstrip(".")


def refuse_twins(what: str, names: list[str], cure: str) -> None:
    twins = [name for name, count in Counter(names).items() if count > 1]
    if twins:
        raise ValueError(f"{what}: {twins[0]!r} occurs twice; {cure}")
