"""A campaign is a session, decision for decision, whatever its store is and however often it is
opened. Examples are drawn from fixed seeds.
"""

from __future__ import annotations

import secrets
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from dpbandits.service.opening import open_store
from dpbandits.service.rows.memory import MemoryBackend
from dpbandits.service.store import CampaignStore
from dpbandits.service.witness import Witness
from tests.service.conftest import KEY
from tests.service.machine import SideBySide
from tests.service.postgres import Server


def many(examples: int, steps: int = 25) -> settings:
    return settings(
        phases=[Phase.explicit, Phase.generate],
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )


class InMemory(SideBySide):
    def __init__(self) -> None:
        super().__init__()
        self.backend, self.witness = MemoryBackend(), Witness(None)

    def open_anew(self) -> Any:
        return CampaignStore(self.backend, self.witness, key=KEY, clock=self.clock)


class InFile(SideBySide):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.url, self.witness = f"sqlite:///{self.folder.name}/trial.db", self.folder.name + "/w"

    def open_anew(self) -> Any:
        return open_store(self.url, key=KEY, witness=Path(self.witness), clock=self.clock)

    def teardown(self) -> None:
        super().teardown()
        self.folder.cleanup()


def on_server(server: Server) -> type[InFile]:
    class OnServer(InFile):
        def __init__(self) -> None:
            super().__init__()
            self.url = server.fresh(secrets.token_hex(8))

    return OnServer


def test_in_memory() -> None:
    run_state_machine_as_test(InMemory, settings=many(25))


def test_in_a_file() -> None:
    run_state_machine_as_test(InFile, settings=many(4))


@pytest.mark.long
def test_in_a_file_for_long() -> None:
    run_state_machine_as_test(InFile, settings=many(40, 40))


@pytest.mark.long
def test_in_memory_for_long() -> None:
    run_state_machine_as_test(InMemory, settings=many(300, 50))


@pytest.mark.long
def test_on_a_server(server: Server) -> None:
    run_state_machine_as_test(on_server(server), settings=many(10))
