"""Several processes behind one address."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.service.postgres import Server, free_port

from tests.service.http.web import answered

SLOW = """
import sys, time
if "spawn_main" in " ".join(sys.orig_argv):
    time.sleep(13)
"""
"""Makes every worker slow to start, as a busy machine does."""


@pytest.mark.long
def test_workers_that_are_slow_to_start_are_waited_for(server: Server, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(SLOW, "utf-8")
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    port, url = free_port(), server.fresh(secrets.token_hex(8))
    program = str(Path(sys.executable).with_name("dpbandits"))
    where = [f"--store={url}", f"--witness={tmp_path}/witness", f"--port={port}"]
    with subprocess.Popen(
        [program, "serve", *where, "--workers=2"], env={**os.environ, "PYTHONPATH": paths}
    ) as process:
        try:
            assert answered(f"http://127.0.0.1:{port}/healthz", process) == 200
        finally:
            process.terminate()
