"""The JavaScript client: its own tests in Node, and in a browser with storage of its own."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from benchmarks.service.over_http import server

import dpbandits as dpb
from dpbandits.service.opening import open_store
from dpbandits.service.operations import CampaignDecision
from dpbandits.service.server.app import Access
from dpbandits.version import __version__
from tests.clients.browser import served, visited
from tests.places import REPOSITORY
from tests.service.browsing.chromium import CHROMIUM

PACKAGE = REPOSITORY / "clients" / "js"
SIMULATED = dpb.SimulatedNoise(1)
NODE, NPM = map(shutil.which, ("node", "npm"))


@pytest.mark.long
@pytest.mark.skipif(NODE is None, reason="needs Node (Debian package nodejs)")
def test_in_node() -> None:
    tests = sorted(map(str, (PACKAGE / "test").glob("*.test.js")))
    assert len(tests) == 5
    done = subprocess.run(
        [str(NODE), "--test", *tests], cwd=PACKAGE, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# fail 0" in done.stdout or "ℹ fail 0" in done.stdout


@pytest.mark.skipif(NODE is None, reason="needs Node (Debian package nodejs)")
@pytest.mark.parametrize("clip", [False, True])
def test_a_device_decides_and_reports_as_a_session_does(clip: bool) -> None:
    """For contexts of any length, by position and by name, and at the range's ends."""
    rng = np.random.default_rng(3)
    rows = rng.uniform(-0.7, 0.7, (500, 2)) * rng.choice([1.0, 1e160] if clip else [1.0], (500, 1))
    policy = dpb.JointDPLinTS(
        arms=3, features=["p", "q"], epsilon=9, public_contexts=rows, width=1e-9, clip=clip
    )
    rewards = dpb.Range(-2, 3, clip=clip, minimise=True)
    session = dpb.JointDPSession(policy, noise=SIMULATED, seed=1, rewards=rewards)
    for row in rows:
        decision = session.ask(row)
        session.tell(decision, -2 if decision.action == int(row[0] > 0) else 3)
    released = session.releases
    while session.releases == released:  # the next block has more asks than there are rows below
        session.ask(rows[0])
    assert released > 1
    snapshot, expected, told = session.snapshot, list[list[int]](), list[float]()
    for at, row in enumerate(rows[:100]):
        decision, before = session.ask(row), session._open.counts.copy()
        told.append((-2.0, 3.0, -1e9, 1e9)[at % (4 if clip else 2)])
        session.tell(decision, told[-1])
        (place,) = np.flatnonzero(session._open.counts - before)
        expected.append([decision.action, int(place)])
    assert session.snapshot == snapshot, "another block"
    program = """
        import { decide } from "./src/index.js";
        const [snapshot, rows, told] = JSON.parse(await new Response(process.stdin).text());
        const made = rows.map(([p, q], at) => decide(snapshot, at % 2 ? { q, p } : [p, q]));
        console.log(JSON.stringify(made.map((each, at) => [each.arm, each.index(told[at])])));
    """
    done = subprocess.run(
        [str(NODE), "--input-type=module", "--eval", program],
        input=json.dumps([snapshot, rows[:100].tolist(), told]),
        cwd=PACKAGE,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == expected


@pytest.mark.long
@pytest.mark.skipif(CHROMIUM is None, reason="needs a browser (Debian package chromium)")
def test_in_a_browser(tmp_path: Path) -> None:
    """Another browser process with the same profile gives the same report, and pays nothing."""
    with served(PACKAGE) as (address, posted):
        page = f"{address}/test/browser.html"
        first = visited(page, tmp_path / "profile", posted)
        again = visited(f"{page}?again", tmp_path / "profile", posted)
        fresh = visited(f"{page}?again", tmp_path / "other", posted)
    assert first["failed"] == {}
    assert len(first["checks"]) == 7
    assert again["report"] == first["report"]
    assert first["spent"] == again["spent"] == fresh["spent"] == "1"


@pytest.mark.skipif(NODE is None, reason="needs Node (Debian package nodejs)")
def test_a_campaign_of_a_server(tmp_path: Path) -> None:
    """Central trust: the client beside a server in a process of its own."""
    with open_store(f"sqlite:///{tmp_path}/trial.db", key=bytes(32), witness=tmp_path / "w") as s:
        for name in ("trial", "other"):
            s.create(name, dpb.DPKLUCB(arms=["blue", "green"], epsilon=1), noise=SIMULATED)  # type: ignore[arg-type]
        access = Access(s, open=False)
        token = access.create("website", ["ask", "tell"], "trial")
        by_context = dpb.DPLinTS(arms=["blue", "green"], features=["p", "q"], epsilon=1)  # type: ignore[arg-type]
        s.create("videos", by_context, noise=SIMULATED)
        contexts = access.create("videos", ["ask", "tell"], "videos")
    with server(f"sqlite:///{tmp_path}/trial.db", tmp_path / "w", 1) as address:
        command = [str(NODE), str(PACKAGE / "test" / "live.js"), address, token, contexts]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert len(found["labels"]) == 20
    assert set(found["labels"]) <= {"blue", "green"}
    assert found["statuses"] == ["recorded"] * 21 + ["already"] + ["recorded"] * 4
    one = CampaignDecision.model_validate(found["one"])
    assert (one.label, one.round, one.campaign, one.learn) == ("green", 21, "trial", True)
    codes = ["no_such_arm", "reward_out_of_range", "other_campaign", "no_key", "context"]
    assert found["refused"] == [["RefusedError", code] for code in codes]
    with open_store(f"sqlite:///{tmp_path}/trial.db", key=bytes(32), witness=tmp_path / "w") as s:
        summary = s["trial"].summary()
        assert s["videos"].summary().told == 4
    assert (summary.asked, summary.told) == (22, 21)


def test_the_package_is_of_this_version_and_depends_on_nothing() -> None:
    about = json.loads((PACKAGE / "package.json").read_text(encoding="utf-8"))
    assert about["version"] == __version__
    assert not about.keys() & {"dependencies", "peerDependencies", "bundledDependencies"}


@pytest.mark.skipif(NPM is None, reason="needs npm (Debian package npm)")
def test_the_package_has_its_licence() -> None:
    command = [str(NPM), "pack", "--dry-run", "--json", "--silent"]
    done = subprocess.run(command, cwd=PACKAGE, capture_output=True, text=True, check=True)
    (packed,) = json.loads(done.stdout[done.stdout.index("[") :])
    assert {"LICENSE", "README.md"} < {each["path"] for each in packed["files"]}
    assert not (PACKAGE / "LICENSE").exists(), "it is the repository's"
