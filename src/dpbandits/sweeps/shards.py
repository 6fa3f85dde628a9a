"""A sweep in parts, for batch queues: each part is run on its own, and the parts are merged."""

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from dpbandits.core.errors import ConfigError, DamagedCellError
from dpbandits.sweeps.cells import Cell
from dpbandits.sweeps.config import Config
from dpbandits.sweeps.digests import code_digest, digest_of
from dpbandits.sweeps.executors.base import effort_of
from dpbandits.sweeps.results import Results, collect
from dpbandits.sweeps.store import cell_path, checksum_path, read_cell, replace, require_writable


class Shard(NamedTuple):
    """Part `number` of so many `parts`, counted from 1. It is written 2/3."""

    number: int
    parts: int

    @classmethod
    def parsed(cls, text: str) -> Self:
        """Raises ValueError: it is not i/n with 1 ≤ i ≤ n."""
        found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text.strip())
        shard = cls(*map(int, found.groups())) if found else cls(0, 0)
        if not 1 <= shard.number <= shard.parts:
            raise ValueError(
                f"Expected a shard i/n with 1 ≤ i ≤ n, such as 1/3, 2/3, 3/3; got {text!r}."
            )
        return shard

    def __str__(self) -> str:
        return f"{self.number}/{self.parts}"

    @property
    def stem(self) -> str:
        """What folders and files of it are called: shard-2-of-3."""
        return f"shard-{self.number}-of-{self.parts}"


def cells_of_shard(cells: Sequence[Cell], shard: Shard) -> list[Cell]:
    """Every n-th cell, the longest first, so that shards are about equally long. Cells that share
    their runs stay together.
    """
    effort: dict[str, float] = {}
    for cell in cells:
        effort[cell.key] = max(effort_of(cell), effort.get(cell.key, 0.0))
    ordered = sorted(effort, key=lambda key: -effort[key])
    chosen = set(ordered[shard.number - 1 :: shard.parts])
    return [cell for cell in cells if cell.key in chosen]


def sweep_digest(config: Config) -> str:
    """A hash of all that the sweep plays and how it is called, whatever code plays it."""
    return digest_of([[c.label, c.setting, c.runs, c.work] for c in config.cells()])[:20]


def write_manifest(out: Path, config: Config, shard: Shard) -> None:
    """Say, in the shard's folder, which part of which sweep is finished there."""
    said = {
        "sweep": config.name,
        "digest": sweep_digest(config),
        "code": code_digest(),
        "shard": str(shard),
    }
    text = json.dumps(said, indent=2) + "\n"
    replace(out / f"{shard.stem}.json", text.encode())


def merge_shards(config: Config, folders: Sequence[Path], out: Path) -> Results:
    """Copy the finished shards of a sweep into one folder, and return the whole sweep's results:
    those of one run.

    Raises:
        ConfigError: a folder holds no shard, or one of another sweep, size or code; or shards are
            missing. Nothing is written then.
        DamagedCellError: a stored cell cannot be trusted; the message names the file.
    """
    require_whole(config, [Path(folder) for folder in folders])
    require_writable(Path(out))
    cells = config.cells()
    for cell in cells:
        copy_cell(cell, [Path(folder) for folder in folders], Path(out))
    return collect(config, cells, Path(out), computed=0, damaged=())


def require_whole(config: Config, folders: Sequence[Path]) -> None:
    """Refuse folders that do not make the whole sweep together."""
    found: dict[Shard, Path] = {}
    for folder in folders:
        manifests = sorted(folder.glob("shard-*-of-*.json"))
        if not manifests:
            raise ConfigError(
                f"{folder} holds no finished shard: run one with `dpbandits run CONFIG --shard 1/2 "
                "--out FOLDER`."
            )
        for path in manifests:
            found[checked_shard(path, config)] = folder
    divisions = sorted({shard.parts for shard in found})
    if len(divisions) != 1:
        raise ConfigError(
            f"These are shards of different divisions: {', '.join(map(str, sorted(found)))}."
        )
    missing = [
        str(shard)
        for number in range(1, divisions[0] + 1)
        if (shard := Shard(number, divisions[0])) not in found
    ]
    if missing:
        raise ConfigError(
            f"Of the sweep {config.name}, these shards are missing: {', '.join(missing)}."
        )


def checked_shard(path: Path, config: Config) -> Shard:
    """Which shard a manifest speaks of, if it is one of this sweep."""
    try:
        said: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        shard = Shard.parsed(said["shard"])
        sweep, digest, code = said["sweep"], said["digest"], said["code"]
    except (ValueError, LookupError, TypeError, AttributeError):
        raise ConfigError(
            f"{path} does not say which shard is here; run the shard again."
        ) from None
    if digest != sweep_digest(config):
        raise ConfigError(
            f"{path.parent} holds a shard of another sweep ({sweep}), or of this one with other "
            "settings: merge shards of one file, all with --quick or none."
        )
    if code != code_digest():
        raise ConfigError(
            f"{path.parent} was played by another version of dpbandits than this one; run the "
            "shard again."
        )
    return shard


def copy_cell(cell: Cell, folders: Sequence[Path], out: Path) -> None:
    """Copy a cell from the first folder that has all its runs, unless `out` has them."""
    try:
        if read_cell(out, cell) is not None:
            return
    except DamagedCellError:  # it is written anew
        pass
    for folder in folders:
        if read_cell(folder, cell) is not None:
            source, target = cell_path(folder, cell), cell_path(out, cell)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
            shutil.copy(checksum_path(source), checksum_path(target))
            return
    raise ConfigError(f"No folder holds {cell}; run the shards again.")
