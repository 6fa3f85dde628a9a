"""The user's side: messages hold reports and nothing else, a device answers once, and no raw value
crosses to the server.
"""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from examples.local_privacy.server import MEANS

import dpbandits as dpb
from dpbandits.auditing.foreign import RandomizerSubject
from dpbandits.auditing.statistical import statistical_level
from dpbandits.checks.tape import Recorder
from dpbandits.core.errors import MessageError
from dpbandits.core.privacy import Grid
from dpbandits.local import messages
from dpbandits.local.budget import FileBudget
from dpbandits.local.client import Client
from dpbandits.mechanisms import LocalLaplace, RandomizedResponse, Randomizer
from dpbandits.mechanisms.randomizers import Report
from dpbandits.policies import CUCBLDP1, CUCBLDP2
from tests.local import test_budget as budgets

VALUES = (0.2718281828, 0.7310585786)
"""Raw rewards of the users: easy to find again, as text and as grid steps."""

GRID = 2**20
DECISION = messages.decision_to_json(7, [0, 3], (3,))


def policy(epsilon: object = "1/100") -> CUCBLDP2:
    return CUCBLDP2(problem=dpb.TopKMax(arms=len(MEANS), k=2), epsilon=epsilon, grid=GRID)  # type: ignore[arg-type]


def described(epsilon: int = 1) -> str:
    return budgets.described("", Fraction(epsilon), width=2)


def client(epsilon: int = 1) -> Client:
    return budgets.device(described(epsilon))


@pytest.mark.parametrize(
    "randomizer",
    [
        LocalLaplace(epsilon="1/3", width=5, grid=Grid(steps=7)),  # type: ignore[arg-type]
        LocalLaplace(epsilon=2, grid=Grid(rounding="bernoulli")),  # type: ignore[arg-type]
        RandomizedResponse(epsilon="0.1"),  # type: ignore[arg-type]
    ],
)
def test_a_described_randomizer_is_the_same_again(randomizer: Randomizer) -> None:
    assert messages.randomizer_from_json(messages.randomizer_to_json(randomizer, "films")) == (
        "films",
        randomizer,
    )


def test_reports_survive_the_trip() -> None:
    for reward in (0.3, [0.3, 1.0]):
        report = LocalLaplace(epsilon=1, width=2).report(reward, dpb.SimulatedNoise(2))  # type: ignore[arg-type]
        assert messages.report_from_json(messages.report_to_json(3, report, "films")) == (
            "films",
            3,
            report,
        )


REPORT = {
    "version": 1,
    "campaign": "",
    "id": 1,
    "steps": [3],
    "randomizer": "LocalLaplace(epsilon=1, grid=1)",
    "noise": "secure",
}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0.731",
        "[]",
        json.dumps(REPORT | {"reward": 0.5}),
        json.dumps({k: v for k, v in REPORT.items() if k != "noise"}),
        json.dumps(REPORT | {"steps": [0.731]}),
        json.dumps(REPORT | {"steps": []}),
        json.dumps(REPORT | {"steps": [2**61]}),
        json.dumps(REPORT | {"steps": True}),
        json.dumps(REPORT | {"id": 0}),
        json.dumps(REPORT | {"noise": "none"}),
        json.dumps(REPORT | {"version": 2}),
        json.dumps(REPORT | {"campaign": 0.731}),
        json.dumps(REPORT | {"campaign": "0.731" * 100}),
        json.dumps(REPORT | {"randomizer": 0.731}),
        '{"id": 1, "steps": 0.731, "steps": [3], "randomizer": "x", "noise": "secure"}',
        "[" * 100_000,
        " " * messages.LONGEST + json.dumps(REPORT),
    ],
)
def test_what_is_no_report_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(MessageError) as error:
        messages.report_from_json(text)
    assert "731" not in str(error.value)


def test_damaged_descriptions_and_decisions_are_refused() -> None:
    good = json.loads(messages.randomizer_to_json(LocalLaplace(epsilon=Fraction(1))))
    wrong: list[dict[str, Any]] = [{"epsilon": "-1"}, {"epsilon": 1}, {"width": 0}, {"more": 1}]
    for change in [*wrong, {"randomizer": "Exact"}, {"grid": {"steps": 0}}]:
        with pytest.raises(MessageError):
            messages.randomizer_from_json(json.dumps(good | change))
    of_two: list[tuple[Any, Any]] = [([0, 1], observe) for observe in ([2], [], [1, 1], "0")]
    for action, observe in [*of_two, (0, [1]), ("0", None)]:
        with pytest.raises(MessageError):
            client().answer(messages.decision_to_json(1, action, observe), {0: 1.0, 1: 1.0, 2: 1.0})


def test_a_device_refuses_more_than_its_user_agreed_to() -> None:
    device = client()
    told = messages.report_from_json(device.answer(DECISION, {0: 0.5, 3: 0.25}))
    assert told.id == 7
    assert len(told.report.steps) == 1  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="more than the most=1"):
        client(epsilon=2)


@pytest.mark.parametrize("kind", [LocalLaplace, RandomizedResponse])
@pytest.mark.parametrize("width", [1, 2, 5])
def test_a_report_about_several_rewards_costs_its_epsilon_in_all(
    kind: type[Randomizer], width: int
) -> None:
    """The cost of one reward times the width is what the user agreed to."""
    randomizer = kind(epsilon=Fraction(3, 2), width=width)
    if isinstance(randomizer, RandomizedResponse):
        loss = width * math.log(randomizer.keep / (1 - randomizer.keep))
        assert 1.5 - 1e-9 < loss <= 1.5
    else:
        recorder = Recorder(1)
        randomizer.report([1.0] * width, recorder)
        assert sum(draw.cost for draw in recorder.draws) == Fraction(3, 2)
    report = randomizer.report([1.0] * width, dpb.SimulatedNoise(2))
    assert randomizer.accepts(report.steps)
    with pytest.raises(dpb.RewardError, match=f"1 to {width}"):
        randomizer.report([1.0] * (width + 1), dpb.SimulatedNoise(3))


def test_simulated_noise_only_when_asked_for() -> None:
    with pytest.raises(TypeError, match="simulated=True"):
        Client(described(), most=1, noise=dpb.SimulatedNoise(1))
    with pytest.raises(TypeError, match="simulated=False"):
        Client(described(), most=1, simulated=True)
    assert Client(described(), most=1).guarantee.noise == "secure"
    assert '"noise": "simulated"' in client().answer(DECISION, {3: 0.5})


def test_a_session_takes_the_report_and_refuses_the_raw_value() -> None:
    problem = dpb.TopK(arms=3, k=2)
    session = dpb.Session(CUCBLDP1(problem=problem, epsilon=1), noise=dpb.SecureNoise())
    decision = session.ask()
    campaign = json.loads(decision.to_json())["campaign"]
    device = Client(messages.randomizer_to_json(session.policy.randomizer(), campaign), most=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Report"):
        session.tell(decision, [1.0, 0.0])
    told = messages.report_from_json(device.answer(decision.to_json(), {0: 1.0, 1: 0.0}))
    session.tell(told.id, told.report)
    assert session.state.rounds == (1, 1, 0)
    assert session.spent == 1
    asked = session.ask()
    message = messages.decision_to_json(asked.id, asked.action, asked.observe)
    other = messages.report_from_json(client().answer(message, dict.fromkeys(range(3), 0.5)))
    with pytest.raises(dpb.RewardError, match="simulated"):
        session.tell(other.id, other.report)


# What a user's device is handed: rewards by arm, none missing; descriptions that are read in no
# time


SUPER_ARM = messages.decision_to_json(7, [0, 3], (0, 3))


def test_a_missing_or_wrong_reward_sends_nothing() -> None:
    one, device = messages.decision_to_json(8, 3, None), client()
    for decision, reward, what in (
        (SUPER_ARM, {0: 0.25}, r"rewards of arms \[0, 3\]; those of \[3\] are missing"),
        (SUPER_ARM, {}, r"those of \[0, 3\] are missing"),
        (SUPER_ARM, [0.25, 0.25], "a mapping from arm to reward, got an object of type list"),
        (SUPER_ARM, None, "a mapping from arm to reward, got an object of type NoneType"),
        (SUPER_ARM, {0: 0.25, 3: 1.25}, ""),
        (one, {"3": 0.25}, r"rewards of arms \[3\]; those of \[3\] are missing"),
        (one, {3: math.nan}, ""),
    ):
        with pytest.raises(dpb.RewardError, match=what + ".*Nothing was") as error:
            device.answer(decision, reward)  # type: ignore[arg-type]
        assert "0.25" not in str(error.value)
    device.answer(SUPER_ARM, {0: 0.5, 3: 0.5})  # the decision was not used up


# Reports are cut off at a public bound: what a broken client can do to a sum is limited, and what
# a report tells stays what it was


class Huge(dpb.SimulatedNoise):
    """A draw far beyond what ever comes up."""

    def laplace(self, value: int, **_: Any) -> int:
        return value + self.seed * 2**59 - 2**58


@pytest.mark.parametrize(
    "epsilon", [Fraction(1, 100), Fraction(1, 3), Fraction(1), Fraction(50), Fraction(1000)]
)
@pytest.mark.parametrize("width", [1, 4])
def test_the_bound_is_sixty_scales(epsilon: Fraction, width: int) -> None:
    randomizer = LocalLaplace(epsilon=epsilon, width=width, grid=Grid(steps=7))
    exact = 60 * 7 * width / epsilon
    assert exact <= randomizer.reach < exact + 1
    assert randomizer.randomise(7, Huge(1)) == 7 + randomizer.reach
    assert randomizer.randomise(0, Huge(0)) == -randomizer.reach
    for step in (7 + randomizer.reach, -randomizer.reach):
        beyond = step + (1 if step > 0 else -1)
        assert randomizer.accepts(step)
        assert randomizer.accepts((3, step))
        assert not randomizer.accepts(beyond)
        assert not randomizer.accepts((3, beyond))


def test_a_broken_client_cannot_ruin_a_sum() -> None:
    policy = dpb.LDPUCB(arms=2, epsilon=1, grid=1)
    s = dpb.Session(policy, noise=dpb.SimulatedNoise(1), seed=1)
    d = s.ask()
    name = policy.randomizer().name
    for steps in (2**59, -(2**59), 62, -61):
        with pytest.raises(dpb.RewardError, match="damaged"):
            s.tell(d, Report(steps, name, "simulated"))
    s.tell(d, Report(61, name, "simulated"))
    assert not RandomizedResponse(epsilon=Fraction(1)).accepts(1)


@pytest.mark.parametrize("reach", [0, 60])
def test_cutting_off_costs_nothing(reach: int) -> None:
    """Reports show no more than the claim; at twice the reward they do. Wrong at 1e-6."""
    kind = type("Near", (LocalLaplace,), {"reach": reach})
    leaky = type(
        "Leaky",
        (kind,),
        {"randomise": lambda self, steps, noise: LocalLaplace.randomise(self, 2 * steps, noise)},
    )
    for made, outcome in ((kind, "not refuted"), (leaky, "failed")):
        subject = RandomizerSubject(made(epsilon=Fraction(1), grid=Grid(steps=1)))
        found = statistical_level(subject, Fraction(1), runs=3_000, workers=1)
        assert found.outcome == outcome, found.evidence


# What is refused before anything of the user's budget is spent


POLICY = dpb.LDPKLUCB(arms=2, epsilon=1, grid=1)


def of_session(policy: Any = POLICY, **options: Any) -> Client:
    return Client(dpb.Session(policy, noise=dpb.SecureNoise()).description(), most=1, **options)


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "noise without brackets": (
        lambda: of_session(noise=dpb.SecureNoise),
        "got the class SecureNoise: call it",
    ),
    "noise by its name": (lambda: of_session(noise="secure"), r"Expected noise=SecureNoise\(\)"),
    "a number for a budget": (
        lambda: of_session(budget=2),
        "budget such as FileBudget.*got an object of type int",
    ),
    "a path for a budget": (lambda: of_session(budget="b.json"), "got an object of type str"),
    "a budget without brackets": (
        lambda: of_session(budget=FileBudget),
        "got the class FileBudget",
    ),
    "a report without brackets": (
        lambda: POLICY.randomizer().report(1.0, dpb.SecureNoise),
        "got the class SecureNoise: call it",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_of_another_kind_is_refused(what: str) -> None:
    """A class for the noise was taken, and the first answer spent the budget before it failed."""
    call, message = REFUSED[what]
    with pytest.raises(TypeError, match=message):
        call()


def test_what_is_kept_of_a_decision_is_small(tmp_path: Path) -> None:
    """A decision of 120,000 arms was kept whole with its one reward's report."""
    policy = dpb.CUCBLDP2(problem=dpb.TopK(arms=120_000, k=1), epsilon=1)
    device = of_session(policy, budget=FileBudget(tmp_path / "b", total=1))
    asked = messages.decision_to_json(1, list(range(120_000)), (7,), campaign=device._campaign)
    answer = device.answer(asked, {7: 1.0})
    assert device.answer(asked, {7: 1.0}) == answer
    assert len((tmp_path / "b").read_bytes().rstrip(b"\0")) < 20_000  # of pages of 4,096 bytes


def test_noise_beyond_every_message_is_refused_before_it_is_paid_for() -> None:
    text = dpb.Session(dpb.LDPUCB(arms=2, epsilon=1), noise=dpb.SecureNoise()).description()
    for epsilon in (f"1/{10**30 - 1}", f"1023/{2**50}"):  # the grid has 1024 steps
        described = json.dumps(json.loads(text) | {"epsilon": epsilon})
        with pytest.raises(MessageError, match=r"reports within 60 \* 2\^50 steps"):
            Client(described, most=1)
    described = json.dumps(json.loads(text) | {"epsilon": f"1024/{2**50}"})
    asked = messages.decision_to_json(1, 0, None, campaign=json.loads(text)["campaign"])
    assert "steps" in Client(described, most=1).answer(asked, 1.0)
