"""The Dockerfile: what it copies is there and is enough, and what it runs comes up."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import httpx
import pytest
from benchmarks.service.postgres import free_port

from tests.places import REPOSITORY
from tests.service.deployed.instructions import (
    DOCKERFILE,
    IMAGE,
    copied,
    instructions,
    listed,
    parsed,
    steps,
)


def test_what_it_copies_is_there() -> None:
    sources = [source for source, _ in copied()]
    assert sources
    assert [each for each in sources if not (REPOSITORY / each).exists()] == []


@pytest.mark.long
def test_a_wheel_of_what_it_copies_is_whole(tmp_path: Path) -> None:
    """Proof pages, templates and the database's versions are in it."""
    context = tmp_path / "context"
    context.mkdir()
    for source, target in copied():
        into = context / target
        if (REPOSITORY / source).is_dir():
            unbuilt = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(REPOSITORY / source, into, ignore=unbuilt)
        else:
            shutil.copy(REPOSITORY / source, into)
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run([*build, "--wheel-dir", str(tmp_path), "."], cwd=context, env=clean, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    package = REPOSITORY / "src" / "dpbandits"
    wanted = {f"dpbandits/proofs/{page.name}" for page in (REPOSITORY / "proofs").glob("*.md")}
    for end in ("py", "sql", "html", "css", "js"):
        wanted |= {f"dpbandits/{file.relative_to(package)}" for file in package.rglob(f"*.{end}")}
    assert len(wanted) > 100
    assert wanted - held == set()


def test_its_volumes_belong_to_its_user() -> None:
    """A volume that nobody gave to the user belongs to root, and nothing can be written there."""
    words = [word for word, _ in instructions()]
    before = instructions()[: min(words.index("VOLUME"), words.index("USER"))]
    given = " ".join(rest for word, rest in before if word == "RUN" and "chown" in rest)
    (user,) = [rest for word, rest in instructions() if word == "USER"]
    assert f"chown {user}" in given
    assert set(listed("VOLUME")) <= set(given.split("chown")[-1].split())


def test_what_it_runs_is_understood() -> None:
    assert listed("ENTRYPOINT") == ["dpbandits"]
    options = parsed(listed("CMD"))
    assert options["host"] == "0.0.0.0"
    assert {str(options["witness"].parent), "/data"} == set(listed("VOLUME"))
    (port,) = [rest for word, rest in instructions() if word == "EXPOSE"]
    assert options["port"] == int(port)


@pytest.mark.long
def test_the_steps_of_the_guide_come_up(tmp_path: Path) -> None:
    """A key is made, and then the image's own command serves; without the key it would refuse."""
    port = free_port()
    places = {"/data": tmp_path / "data", "/witness": tmp_path / "witness"}
    for place in places.values():
        place.mkdir()
    made = list[list[str]]()
    for program, *arguments in steps():
        assert program == "dpbandits"
        here = [each.replace("8080", str(port)) for each in arguments]
        for name, place in places.items():
            here = [each.replace(f"{name}/", f"{place}/") for each in here]
        made.append([str(Path(sys.executable).with_name(program)), *here])
    *first, last = made
    refused = subprocess.run(last, capture_output=True, text=True, timeout=120, check=False)
    assert refused.returncode == 2
    assert "dpbandits keys create" in refused.stdout + refused.stderr
    token = ""
    for command in first:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        token = done.stdout.strip()
    process = subprocess.Popen(last, stdout=subprocess.DEVNULL)
    try:
        assert answered(f"http://127.0.0.1:{port}/healthz", process) == 200
        campaigns = f"http://127.0.0.1:{port}/v1/campaigns"
        assert httpx.get(campaigns).status_code == 401
        key = {"Authorization": f"Bearer {token}"}
        assert httpx.get(campaigns, headers=key).status_code == 200
    finally:
        process.terminate()
        process.wait(30)


def answered(address: str, process: subprocess.Popen[bytes]) -> int:
    """What a server that is starting says once it says anything."""
    for _ in range(600):
        assert process.poll() is None
        try:
            return httpx.get(address).status_code
        except httpx.HTTPError:
            time.sleep(0.1)
    raise AssertionError("The server did not answer within a minute.")


def docker_missing() -> bool:
    if shutil.which("docker") is None:
        return True
    asked = subprocess.run(["docker", "info"], capture_output=True, timeout=60, check=False)
    return asked.returncode != 0


@pytest.mark.long
def test_docker_builds_it() -> None:
    if docker_missing():
        pytest.skip("needs Docker, and its daemon at work")
    build = ["docker", "build", "--quiet", "-f", str(DOCKERFILE), "-t", f"{IMAGE}-tried", "."]
    subprocess.run(build, cwd=REPOSITORY, check=True, timeout=1800)
    explain = ["docker", "run", "--rm", f"{IMAGE}-tried", "explain", "DPKLUCB"]
    shown = subprocess.run(explain, capture_output=True, text=True, check=True, timeout=300)
    assert "Where in the code" in shown.stdout
