"""A paper's folder: sweeps and claims as data, and the code that draws its figures."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from dpbandits.core.errors import MissingDataError
from dpbandits.figures.grids import Drawing
from dpbandits.papers.claims import Claim, load_claims
from dpbandits.sweeps.config import Config, Quick, load_config
from dpbandits.sweeps.results import Results

SWEEP, CLAIMS, FIGURES, OWN_DATA = "sweep.toml", "claims.toml", "figures.py", "own_data"


@dataclass(frozen=True)
class Paper:
    """key: the folder's name."""

    folder: Path

    @property
    def key(self) -> str:
        return self.folder.name

    def claims(self) -> list[Claim]:
        return load_claims(self.folder / CLAIMS)

    def sweeps(self, *, full: bool) -> list[Config]:
        """Every sweep in the folder, `sweep.toml` first, at the paper's own size or smaller.

        Those in `own_data` are left out where their data is missing: it may not be shipped.
        """
        files = [path for path in self.folder.glob("*.toml") if path.name != CLAIMS]
        files.sort(key=lambda path: (path.name != SWEEP, path.name))
        configs = [load_config(path) for path in files]
        for path in sorted(self.folder.glob(f"{OWN_DATA}/*.toml")):
            with suppress(MissingDataError):
                configs.append(load_config(path))
        return configs if full else [quickened(config) for config in configs]

    def drawings(self, results: Mapping[str, Results]) -> Iterable[Drawing]:
        """What the folder's `figures.py` makes of the results, by the sweeps' names."""
        drawings: Iterable[Drawing] = load_module(
            self.folder / FIGURES, f"dpbandits_paper_{self.key}"
        ).drawings(results)
        return drawings


def quickened(config: Config) -> Config:
    """The sweep's `[quick]` size (without one, the sweep as it is); a policy whose runs cost no
    time keeps them all.
    """
    small = config.quickened() if config.quick != Quick() else config
    entries = [
        less
        if entry.kind.about.every_round
        else less.model_copy(update={"runs": entry.runs or config.runs})
        for entry, less in zip(config.policies, small.policies, strict=True)
    ]
    return small.model_copy(update={"policies": entries})


def load_module(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"{path}: this cannot be loaded as Python code.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def find_papers() -> Path | None:
    """The `papers` folder of the current directory, else that of the repository this package was
    installed from.
    """
    import dpbandits

    repository = Path(dpbandits.__file__).resolve().parents[2]
    for place in (Path.cwd() / "papers", repository / "papers"):
        if any(place.glob(f"*/{CLAIMS}")):
            return place
    return None


def papers_in(folder: Path) -> dict[str, Paper]:
    """Every paper by key."""
    return {path.parent.name: Paper(path.parent) for path in sorted(folder.glob(f"*/{CLAIMS}"))}
