"""The Dockerfile: what it copies is there and is enough, and what it runs comes up."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import zipfile
from importlib.metadata import requires
from pathlib import Path

import httpx
import pytest
from benchmarks.service.postgres import free_port
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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


def pip_calls() -> list[list[str]]:
    """The calls of pip that the image makes, in their order."""
    runs = [rest.split("&&") for word, rest in instructions() if word == "RUN"]
    calls = [shlex.split(call) for run in runs for call in run]
    return [call for call in calls if call[0] == "pip"]


def test_it_installs_from_the_lock_alone() -> None:
    """All that is not copied has a hash in the lock, also what the package is built with."""
    locked, own = pip_calls()
    assert "--require-hashes" in locked
    assert locked[-2:] == ["-r", "requirements.lock"]
    assert {"--no-deps", "--no-build-isolation"} <= set(own)
    before = instructions()[: instructions().index(("RUN", shlex.join(locked)))]
    assert ("COPY", "requirements.lock ./") in before
    # this environment has it all, so nothing is looked for elsewhere
    offline = [sys.executable, "-m", *locked, "--dry-run", "--no-index", "--quiet"]
    done = subprocess.run(offline, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_lock_has_all_that_its_python_needs() -> None:
    """Of what is installed here, with the requirements of the image's version of Python."""
    (image,) = [rest for word, rest in instructions() if word == "FROM"]
    version = image.removeprefix("python:").removesuffix("-slim")
    here = {"python_version": version, "python_full_version": f"{version}.0"}
    lock = (REPOSITORY / "requirements.lock").read_text("utf-8")
    pins = dict(re.findall(r"^([\w.-]+)==(\S+) \\\n    --hash=sha256:", lock, re.MULTILINE))
    assert len(pins) == len(re.findall(r"^[\w.-]+==", lock, re.MULTILINE)), "one without a hash"
    left, seen = [Requirement("dpbandits[experiments,service]")], set[str]()
    while left:
        wanted = left.pop()
        name = canonicalize_name(wanted.name)
        if name != "dpbandits":
            assert wanted.specifier.contains(pins[name], prereleases=True), wanted
        for text in requires(name) or []:
            each = Requirement(text)
            marks = [{**here, "extra": extra} for extra in (wanted.extras or {""})]
            needed = each.marker is None or any(each.marker.evaluate(mark) for mark in marks)
            if needed and str(each) not in seen:
                seen.add(str(each))
                left.append(each)
    assert len(seen) > 30


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
