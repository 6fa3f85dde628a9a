"""Interrupting a call at each of its lines in turn, and the sessions on which that is tried."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any

import dpbandits as dpb
from dpbandits.noise import SimulatedNoise
from dpbandits.policies import (
    CUCBDP,
    CUCBLDP1,
    DPKLUCB,
    DPNAS,
    DPTSMAT,
    LDPUCB,
    AnytimeLazyUCB,
    DPJointMAT,
    HybridUCB,
    LazyDPTS,
    PrefixExponential,
    TreeFTRL,
)

PACKAGE = str(Path(dpb.__file__).parent)
TOP, TOPM = dpb.TopK(arms=4, k=2), dpb.UniformMatroid(arms=4, rank=2)


class Interrupted(BaseException):
    """Like KeyboardInterrupt: no `except Exception` catches it."""


class Traced:
    """What runs within is traced, and nothing else.

    Garbage is not collected meanwhile: the collector would close a generator that another test left
    half read, at a moment that depends on all tests before, and its lines are not the call's.
    """

    def __init__(self, trace: Callable[[FrameType, str, Any], Any]) -> None:
        self.trace = trace

    def __enter__(self) -> None:
        self.before, self.collects = sys.gettrace(), gc.isenabled()
        gc.disable()
        sys.settrace(self.trace)

    def __exit__(self, *_: object) -> None:
        sys.settrace(self.before)
        if self.collects:
            gc.enable()


def interrupt(
    call: Callable[[], Any],
    at: int,
    *,
    each: str = "line",
    within: str = PACKAGE,
    counted: Callable[[FrameType], bool] = lambda _: True,
) -> int:
    """Make the call, raising at its `at`-th line within the package (0: never); how many lines were
    begun.

    each: "line", or "opcode": between any two instructions of the interpreter, which is where
        signals arrive.
    within: the folder or file whose lines count.
    counted: which of them.
    """
    begun = 0

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal begun
        if not frame.f_code.co_filename.startswith(within):
            return None
        frame.f_trace_opcodes = each == "opcode"
        if event == each and counted(frame):
            begun += 1
            if begun == at:
                raise Interrupted
        return trace

    with Traced(trace):
        call()
    return begun


def left_behind(session: dpb.Session) -> None:
    """A call that was interrupted as it ended, and has not left."""
    session._gate.enter()


class Silent(SimulatedNoise):
    """Adds nothing, so that what is released shows which rewards are in it."""

    def laplace(self, value: int, *, sensitivity: int, epsilon: Fraction) -> int:
        return value

    def joint(self, values: Any, *, sensitivity: int, epsilon: Fraction) -> tuple[int, ...]:
        return tuple(values)

    def exceeds(self, value: int, bar: int, threshold: int, **kwargs: Any) -> bool:
        return value >= bar


POLICIES: dict[str, Any] = {
    "one arm": AnytimeLazyUCB(arms=1, epsilon=1, grid=2**20),
    "batches": DPKLUCB(arms=2, epsilon=1, first=3, grid=2**20),
    "tree and pending sums": HybridUCB(arms=2, epsilon=1, grid=2**20),
    "posterior draws": LazyDPTS(arms=2, epsilon=1),
    "super arms": CUCBDP(problem=TOP, epsilon=1, horizon=100),
    "joint releases": DPJointMAT(problem=TOPM, epsilon=4, first=1.0),
    "drawn super arms": DPTSMAT(problem=TOP, epsilon=1),
    "whole records": TreeFTRL(actions=2, epsilon=1, horizon=100),
    "dropped records": PrefixExponential(actions=2, epsilon=1),
    "reports": LDPUCB(arms=2, epsilon=1),
    "reports on super arms": CUCBLDP1(problem=TOP, epsilon=1),
    "stopping rule": DPNAS(alpha=0.9, beta=0.5, cap=12, epsilon=16, low=-1, high=1),
}


def fresh(policy: Any) -> dpb.Session:
    return dpb.Session(policy, noise=Silent(1), seed=1)


def reward_of(session: dpb.Session, decision: dpb.Decision) -> Any:
    """A reward that tells its decision: in sums of different ones each leaves a bit of its own."""
    value = 2.0 ** -(1 + decision.id % 20)
    single = session.policy.about.feedback == "bandit"
    rewards = value if single else [value] * len(decision.observe or range(session.policy.arms))
    randomizer = session.policy.randomizer()
    return rewards if randomizer is None else randomizer.report(rewards, Silent(decision.id))


def standing(session: dpb.Session) -> Any:
    """What a session holds beside pending decisions and public coins: state, plan, counts, ledger,
    sums and memory.
    """
    session.settle()
    vault, turn = session._vault, session._wheel.turn
    return (
        session.state,
        turn.progress.told,
        vault.public_state(),
        vault._sums(),
        vault._memory,
        repr(turn.plan),
    )
