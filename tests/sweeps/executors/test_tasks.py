"""Tasks and whoever plays them, by hand: what is asked when, and that nothing is waited for without
end.
"""

from __future__ import annotations

import pickle
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest

from dpbandits import WorkerError
from dpbandits.sweeps import Results
from dpbandits.sweeps.executors import cluster as room
from dpbandits.sweeps.executors import tasks
from dpbandits.sweeps.executors.base import Job, PlayedJob
from dpbandits.sweeps.executors.tasks import play_in_tasks
from dpbandits.sweeps.executors.workers import Workers


def played(task: list[Job]) -> list[PlayedJob]:
    return [PlayedJob(job.cell.key, None, {"seconds": 1.0}) for job in task]


def test_what_came_back_beside_an_error_is_not_lost(tiny: Results) -> None:
    jobs, sent = [Job(cell, 0) for cell in tiny.cells], list[Future[Any]]()

    def submit(task: list[Job]) -> Future[list[PlayedJob]]:
        sent.append(Future())
        if len(sent) == 3:  # all are done at once, and the first has failed
            sent[0].set_exception(RuntimeError("as a policy's"))
            sent[1].set_result(played(task))
            sent[2].set_result(played(task))
        return sent[-1]

    answers = play_in_tasks(jobs, submit, lambda: 3)
    assert len([next(answers), next(answers)]) == 2
    with pytest.raises(RuntimeError, match="as a policy's"):
        next(answers)


def test_who_plays_is_not_asked_once_all_is_answered(tiny: Results) -> None:
    jobs, left = [Job(cell, 0) for cell in tiny.cells], len(tiny.cells)

    def submit(task: list[Job]) -> Future[list[PlayedJob]]:
        answer = Future[list[PlayedJob]]()
        answer.set_result(played(task))
        return answer

    def width() -> int:
        assert left, "nothing is left to be played"
        return 2

    for _ in play_in_tasks(jobs, submit, width):
        left -= 1
    assert left == 0


def test_somebody_is_looked_for_while_no_answer_comes(
    tiny: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "LOOK", 0.01)
    looks = list[int]()

    def width() -> int:
        looks.append(1)
        if len(looks) == 5:
            raise WorkerError("nobody")
        return 2

    jobs = [Job(cell, 0) for cell in tiny.cells]
    with pytest.raises(WorkerError, match="nobody"):
        list(play_in_tasks(jobs, lambda task: Future(), width))


def workers(answer: Any, latest: float = 60.0) -> Workers:
    """Of a scheduler that says this, or raises it."""

    def sync(call: Any, callback_timeout: float) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    client = SimpleNamespace(sync=sync, scheduler=SimpleNamespace(ncores=None))
    return Workers(client, "tcp://host:8786", latest)


def test_who_is_there() -> None:
    assert workers({"a": 1, "b": 1, "c": 1}).width() == 6
    assert workers({}).width() == 2, "one may come yet"
    with pytest.raises(WorkerError, match="one thread each, there is one with 4"):
        workers({"a": 1, "b": 4}).width()
    with pytest.raises(WorkerError, match="has had no worker for -1 seconds"):
        workers({}, latest=-1.0).width()
    for error in (OSError("closed"), TimeoutError(), AttributeError("ncores")):
        with pytest.raises(WorkerError, match=r"tcp://host:8786 was lost"):
            workers(error).width()
    gone = Workers(SimpleNamespace(scheduler=None), "tcp://host:8786", 60.0)
    with pytest.raises(WorkerError, match=r"tcp://host:8786 was lost"):
        gone.width()


def test_a_policy_s_file_is_the_one_that_was_sent(
    tiny: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker imports a file once: of one that was edited since it would play what was before."""
    monkeypatch.setattr(room, "keep_to_one_thread", lambda: None)
    jobs = [Job(tiny.cells[0], 0)]
    sent = pickle.dumps(jobs)
    assert room.own_code(jobs) == [""], "one of ours, whose code is compared as a whole"
    (one,) = room.play_pickled(sent, [""], (), room.surroundings())
    assert one.key == jobs[0].cell.key
    with pytest.raises(WorkerError, match=r"imported another file as dpbandits\..* anew"):
        room.play_pickled(sent, ["as edited"], (), room.surroundings())
