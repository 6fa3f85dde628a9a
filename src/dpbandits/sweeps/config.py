"""A sweep as data: a TOML file of policies × environments × budgets, checked when it is read."""

import tomllib
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, PrivateAttr, ValidationError

from dpbandits.core.errors import ConfigError, MissingDataError
from dpbandits.core.privacy import as_fraction
from dpbandits.environments import Environment
from dpbandits.policies.named import close_to
from dpbandits.sweeps.cells import Cell, checkpoints
from dpbandits.sweeps.reading.entries import Count, Epsilon, Loaded, PolicyEntry, Spec, no_switch
from dpbandits.sweeps.reading.laws import AnySetting
from dpbandits.sweeps.reading.mistakes import all_of, explained, twins_in, without_mistakes

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
    _places: dict[str, list[int]] = PrivateAttr(default={})  # where its tables stood in the file

    @property
    def text(self) -> str:
        """The sweep file as it was read; empty for a sweep made in Python."""
        return self._text

    @cached_property
    def tried(self) -> tuple[dict[str, Loaded], list[ConfigError]]:
        """Environments by name, as far as they load, and what is wrong with the others."""
        loaded, faults = dict[str, Loaded](), list[ConfigError]()
        for i, setting in enumerate(self.environments):
            try:
                loaded[setting.name] = setting.load(self._folder)
            except (ValueError, TypeError, LookupError, OSError) as error:
                text = error.args[0] if isinstance(error, KeyError) and error.args else error
                kind = MissingDataError if isinstance(error, FileNotFoundError) else ConfigError
                at = self._place("environments", i)
                faults.append(kind(f"environments[{at}] ({setting.name}): {text}"))
        return loaded, faults

    @property
    def loaded(self) -> dict[str, Loaded]:
        """Every environment by name, with its arms' names and its source."""
        loaded, faults = self.tried
        failed = all_of(faults)
        if failed is not None:
            raise failed
        return loaded

    @property
    def built(self) -> dict[str, Environment]:
        """Every environment by name."""
        return {name: loaded.environment for name, loaded in self.loaded.items()}

    def cells(self) -> list[Cell]:
        """Every (environment, policy, budget), in the file's order.

        Raises:
            ConfigError: names occur twice or are not known, or environments or policies refuse
                their values; the message names each of them.
        """
        cells, faults = self._cells_and_faults()
        failed = all_of(faults)
        if failed is not None:
            raise failed
        return cells

    def faults(self) -> list[ConfigError]:
        """All that keeps its cells from being played."""
        return self._cells_and_faults()[1]

    def _cells_and_faults(self) -> tuple[list[Cell], list[ConfigError]]:
        loaded, faults = self.tried
        cells, faults = list[Cell](), [*self._name_faults(), *faults]
        for name, each in loaded.items():
            for i, entry in enumerate(self.policies):
                if name in (entry.environments or [name]):
                    cells += self._cells_of(i, entry, name, each, faults)
        return cells, faults

    def _place(self, tables: str, at: int) -> int:
        """The number of a table in the file."""
        return self._places[tables][at] if self._places else at

    def _name_faults(self) -> list[ConfigError]:
        settings = [s.name for s in self.environments]
        labels = [p.label or p.policy + str(sorted(p.given.items())) for p in self.policies]
        return [
            *twins_in("environments", settings, "give each its own name"),
            *twins_in("policies", labels, "give each its own label"),
            *(
                ConfigError(
                    f"policy {entry.policy}: there is no environment "
                    f"{name!r}{close_to(name, settings)}"
                )
                for entry in self.policies
                for name in entry.environments or ()
                if name not in settings
            ),
        ]

    def _cells_of(
        self,
        i: int,
        entry: PolicyEntry,
        setting: str,
        loaded: Loaded,
        faults: list[ConfigError],
    ) -> list[Cell]:
        """Those of one policy in one environment; of budgets that cannot be played, the faults."""
        environment = loaded.environment
        rounds = entry.rounds or self.rounds
        cells = []
        for budget in entry.budgets(self.epsilons):
            try:
                policy = entry.build(environment.arms, rounds, budget, loaded.problem)
            except Exception as error:  # the class may be the user's own
                at, said = self._place("policies", i), str(error)
                if not isinstance(error, (ValueError, TypeError)):
                    said = f"{type(error).__name__}: {error}"
                faults.append(ConfigError(f"policies[{at}] ({entry.policy}): {said}"))
                continue
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
        ConfigError: the file is missing, is no TOML, or holds wrong fields; the message says all
        that is wrong and what to write.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
        config = config_from(tomllib.loads(text), path.parent)
        config._text = text
        config = config.quickened() if quick else config
        config.cells()
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such file.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ConfigError(f"{path}: this is not a readable TOML file: {error}") from None
    except ConfigError as error:
        raise type(error)(f"{path}: {error}") from None
    except (ValueError, RecursionError):  # a number of thousands of digits; lists a thousand deep
        raise ConfigError(
            f"{path}: this is not a readable TOML file: a number is too long, or lists are "
            "nested too deeply."
        ) from None
    return config


def config_from(data: dict[str, Any], folder: Path) -> Config:
    """A sweep from what its file holds. Where fields are wrong, what else is wrong is looked for in
    the rest, so that one error says it all.
    """
    context = {"folder": folder}
    try:
        config = Config.model_validate(data, context=context)
    except ValidationError as error:
        faults, rest = explained(error, Config), without_mistakes(data, error)
    else:
        config._folder = folder
        return config
    if rest is not None:
        with suppress(ValidationError):
            left = Config.model_validate(rest[0], context=context)
            left._folder, left._places = folder, rest[1]
            faults += left.faults()
    failed = all_of(faults)
    assert failed is not None
    raise failed
