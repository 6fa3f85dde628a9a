"""Several processes behind one address."""

import os
import secrets
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from benchmarks.service.postgres import Server, free_port

from dpbandits.service.server.serving import require_port
from tests.service.http.web import answered

SLOW = """
import sys, time
if "spawn_main" in " ".join(sys.orig_argv):
    time.sleep(13)
"""
"""Makes every worker slow to start, as a busy machine does."""


@pytest.mark.long
def test_workers_are_waited_for_and_end_with_the_process_that_started_them(
    server: Server, tmp_path: Path
) -> None:
    """However that ends: workers that went on would keep the port from the next server."""
    (tmp_path / "sitecustomize.py").write_text(SLOW, "utf-8")
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    port, url = free_port(), server.fresh(secrets.token_hex(8))
    program = str(Path(sys.executable).with_name("dpbandits"))
    where = [f"--store={url}", f"--witness={tmp_path}/witness", f"--port={port}"]
    command, env = [program, "serve", *where, "--workers=2"], {**os.environ, "PYTHONPATH": paths}
    with subprocess.Popen(command, env=env, start_new_session=True) as process:
        try:
            assert answered(f"http://127.0.0.1:{port}/healthz", process) == 200
            process.kill()
            process.wait()
            is_free = False
            for _ in range(100):
                with suppress(ValueError):
                    require_port("127.0.0.1", port)
                    is_free = True
                    break
                time.sleep(0.1)
            assert is_free
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
