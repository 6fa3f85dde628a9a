"""Parts of a sweep, merged, are the sweep; parts of something else are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal
from typer.testing import CliRunner, Result

from dpbandits import ConfigError
from dpbandits.sweeps import Results, Shard, load_config, merge_shards, run_sweep
from dpbandits.sweeps.shards import cells_of_shard
from dpbandits.terminal.cli import app

Write = Callable[..., Path]


@pytest.fixture(scope="module")
def halves(tiny: Results, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folders = [tmp_path_factory.mktemp(f"half{i}") for i in (1, 2)]
    for i, folder in enumerate(folders, 1):
        run_sweep(tiny.config, folder, workers=1, shard=Shard(i, 2))
    return folders


def test_two_shards_merged_are_one_run(tiny: Results, halves: list[Path], tmp_path: Path) -> None:
    merged = merge_shards(tiny.config, halves, tmp_path / "out")
    assert (merged.computed, merged.skipped) == (0, 12)
    assert_frame_equal(
        merged.summary.drop("seconds"), tiny.summary.drop("seconds"), check_exact=True
    )
    assert_frame_equal(merged.curves, tiny.curves, check_exact=True)
    again = run_sweep(tiny.config, tmp_path / "out", workers=1)
    assert again.computed == 0


@pytest.mark.parametrize("parts", [1, 2, 3, 5, 20])
def test_every_cell_is_in_one_shard(tiny: Results, parts: int) -> None:
    cells = tiny.config.cells()
    shards = [cells_of_shard(cells, Shard(i, parts)) for i in range(1, parts + 1)]
    assert sorted(c.key for shard in shards for c in shard) == sorted(c.key for c in cells)
    assert max(map(len, shards)) - min(map(len, shards)) <= 1


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "1/0", "-1/3", "a/b", "1/3/5", "1.5/3", ""])
def test_what_is_no_shard(text: str) -> None:
    with pytest.raises(ValueError, match="Expected a shard i/n with 1 ≤ i ≤ n"):
        Shard.parsed(text)


def test_what_cannot_be_merged(
    tiny: Results, halves: list[Path], write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    with pytest.raises(ConfigError, match=r"these shards are missing: 2/2"):
        merge_shards(tiny.config, halves[:1], out)
    with pytest.raises(ConfigError, match="holds no finished shard"):
        merge_shards(tiny.config, [*halves, tmp_path], out)
    other = load_config(write(edits={"seed = 7": "seed = 8"}))
    with pytest.raises(ConfigError, match="a shard of another sweep"):
        merge_shards(other, halves, out)
    with pytest.raises(ConfigError, match="a shard of another sweep"):
        merge_shards(load_config(write(), quick=True), halves, out)
    assert not out.exists()
    third = tmp_path / "third"
    run_sweep(tiny.config, third, workers=1, shard=Shard(9, 20))
    with pytest.raises(ConfigError, match="different divisions"):
        merge_shards(tiny.config, [*halves, third], out)
    (third / "shard-9-of-20.json").write_text("[]")
    with pytest.raises(ConfigError, match="does not say which shard"):
        merge_shards(tiny.config, [third], out)
    monkeypatch.setattr("dpbandits.sweeps.shards.code_digest", lambda: "other")
    with pytest.raises(ConfigError, match="another version of dpbandits"):
        merge_shards(tiny.config, halves, out)


SWEEP = """
name = "small"
title = "A small sweep"
rounds = 100
runs = 4
[[environments]]
name = "two arms"
law = "bernoulli"
means = [0.7, 0.5]
[[policies]]
class = "DPKLUCB"
[[policies]]
class = "KLUCB"
"""


def dpbandits(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "200"}, catch_exceptions=False)


def test_shards_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(SWEEP)
    for part in ("1/2", "2/2"):
        done = dpbandits("run", "small.toml", "--shard", part, "--workers", "1")
        assert done.exit_code == 0
        assert "1 computed, 0 finished before" in done.stdout
    merged = dpbandits(
        "merge", "small.toml", "results/small-shard-1-of-2", "results/small-shard-2-of-2"
    )
    assert merged.exit_code == 0
    assert Path("results/small/report.html").is_file()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--shard", "0/3"], "1 ≤ i ≤ n"),
        (["--shard", "4/3"], "1 ≤ i ≤ n"),
        (["--executor", "dask"], "together with --scheduler"),
        (["--scheduler", "tcp://x:1"], "together with --executor dask"),
        (["--executor", "dask", "--scheduler", "tcp://x:1", "--workers", "2"], "has its own"),
    ],
)
def test_options_that_do_not_fit(tmp_path: Path, options: list[str], words: str) -> None:
    (tmp_path / "small.toml").write_text(SWEEP)
    done = dpbandits("run", str(tmp_path / "small.toml"), *options)
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert words in line
