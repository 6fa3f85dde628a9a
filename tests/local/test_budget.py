"""What a device tells in all: a budget that outlives it, rewards that are reported once, decisions
of one campaign, answered once.
"""

import json
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.core.errors import BudgetError, MessageError
from dpbandits.local import messages
from dpbandits.local.budget import FINEST, Budget, FileBudget, MemoryBudget
from dpbandits.local.client import Client
from dpbandits.local.messages import randomizer_to_json
from dpbandits.mechanisms import LocalLaplace

ONE = Fraction(1)


def described(campaign: str = "films", epsilon: Fraction = ONE, width: int = 1) -> str:
    return messages.randomizer_to_json(LocalLaplace(epsilon=epsilon, width=width), campaign)


def described_with(**fields: object) -> str:
    return json.dumps(json.loads(described()) | fields)


def device(description: str | None = None, **options: Any) -> Client:
    return Client(
        description or described(),
        **({"most": 1, "noise": dpb.SimulatedNoise(1), "simulated": True} | options),
    )


def asking(id: int, action: Any = 0, campaign: str = "films") -> str:
    return messages.decision_to_json(id, action, None, campaign=campaign)


def steps(message: str) -> Any:
    return messages.report_from_json(message).report.steps


def test_fresh_ids_buy_no_fresh_reports() -> None:
    """A server that asks about one reward 2,000 times gets one report of it, as it was agreed."""
    client = device()
    client.answer(asking(1), 0.75)
    for id in range(2, 2001):
        with pytest.raises(BudgetError, match="total=1; 1 of it is spent, and this report costs 1"):
            client.answer(asking(id), 0.75)


def test_a_reward_with_a_name_is_reported_once() -> None:
    client = device(total=2)
    jazz = {
        steps(client.answer(asking(id, action=id), 0.75, datum="likes jazz"))
        for id in range(1, 2001)
    }
    assert len(jazz) == 1
    assert steps(client.answer(asking(3000), 0.75, datum="likes rock")) not in jazz
    with pytest.raises(BudgetError):
        client.answer(asking(3001), 0.75, datum="likes folk")
    assert len(client._budget._answers) == 4  # type: ignore[attr-defined]  # free answers take no memory
    with pytest.raises(TypeError, match="Expected datum= to be a name"):
        client.answer(asking(3002), 0.75, datum=3)  # type: ignore[arg-type]


def test_two_spellings_of_a_name_are_one() -> None:
    budget = MemoryBudget(2)
    client = device(budget=budget)
    for id, name in enumerate(("Beyonc\u00e9", "Beyonce\u0301"), 1):
        client.answer(asking(id), 0.75, datum=name)
    assert budget.spent == 1
    for blank in "", " \u200b":
        with pytest.raises(ValueError, match="got an empty one"):
            client.answer(asking(3), 0.75, datum=blank)
    assert budget.spent == 1


def test_a_mapping_with_a_name_pays_for_new_arms_only() -> None:
    budget = MemoryBudget(2)
    client = device(described(width=2), budget=budget)
    likes = {0: 0.25, 1: 0.5, 2: 0.75}
    first = steps(client.answer(asking(1, [0, 1]), likes, datum="films"))
    assert budget.spent == 1
    second = steps(client.answer(asking(2, [1, 2]), likes, datum="films"))
    assert budget.spent == Fraction(3, 2)
    assert first[1] == second[0]
    assert steps(client.answer(asking(3, [2, 0]), likes, datum="films")) == (second[1], first[0])
    assert budget.spent == Fraction(3, 2)


def test_a_decision_is_answered_once() -> None:
    client = device(total=5)
    first = client.answer(asking(1), 0.75)
    assert client.answer(asking(1), 0.25) == client.answer(asking(1), "nothing") == first  # type: ignore[arg-type]
    with pytest.raises(MessageError, match="another one under an old id"):
        client.answer(asking(1, action=2), 0.75)
    assert client._budget.spent == 1  # type: ignore[attr-defined]


def test_a_decision_of_another_campaign_is_refused() -> None:
    client = device()
    for campaign in ("", "songs"):
        with pytest.raises(MessageError, match="campaign"):
            client.answer(asking(1, campaign=campaign), 0.75)
    assert messages.report_from_json(client.answer(asking(1), 0.75)).campaign == "films"


def test_what_is_refused_costs_nothing() -> None:
    budget = MemoryBudget(1)
    client = device(budget=budget)
    for reward in (1.5, float("nan"), "0.5", None, [0.5]):
        with pytest.raises(dpb.RewardError):
            client.answer(asking(1), reward)  # type: ignore[arg-type]
    assert budget.spent == 0
    with pytest.raises(TypeError, match="not both"):
        device(budget=budget, total=2)


def test_a_source_that_fails_loses_budget_and_sends_nothing() -> None:
    class Failing(dpb.SimulatedNoise):
        def laplace(self, value: int, **_: Any) -> int:
            raise OSError("no randomness")

    budget = MemoryBudget(1)
    with pytest.raises(OSError, match="no randomness"):
        device(budget=budget, noise=Failing(1)).answer(asking(1), 0.75)
    assert budget.spent == 1
    assert budget._answers == {}


def test_threads_share_a_budget(budget_of: Callable[[int], Budget]) -> None:
    budget, done = budget_of(50), list[int]()

    def work() -> None:
        for _ in range(30):
            try:
                budget.spend(ONE)
            except BudgetError:
                return
            done.append(1)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: work(), range(4)))
    assert len(done) == 50


def test_a_budget_of_ones_own() -> None:
    """Three calls are all that is asked of it."""

    class Notebook:
        def __init__(self) -> None:
            self.lines = list[str]()

        def spend(self, amount: Fraction) -> None:
            self.lines.append(f"spend {amount}")

        def recall(self, key: str) -> str | None:
            return None

        def keep(self, key: str, answer: str) -> str:
            self.lines.append("keep")
            return answer

    notebook = Notebook()
    message = device(budget=notebook).answer(asking(1), 0.75)
    assert notebook.lines == ["spend 1", "keep"]
    assert json.loads(message)["campaign"] == "films"


# What a cost is booked as: exactly where that is short, never below, and always as a number that
# can be read again


LONG = Fraction(1, int("7" * 2500))


def test_no_server_writes_a_number_that_cannot_be_read_again(tmp_path: Path) -> None:
    """A cost of 2,500 digits is booked as one of 40, rounded up."""
    budget, memory = FileBudget(tmp_path / "b", total=10), MemoryBudget(10)
    for _ in range(3):
        for one in (budget, memory):
            one.spend(LONG)
            one.spend(Fraction(1, 3))
    spent = FileBudget(tmp_path / "b", total=10).spent
    assert spent == budget.spent == memory.spent
    assert 1 + 3 * LONG <= spent <= 1 + Fraction(6, FINEST)
    assert len(str(spent)) < 100


def test_ordinary_costs_are_booked_exactly(tmp_path: Path) -> None:
    """Nothing is lost to rounding: three thirds, and ten tenths that are floats, make one."""
    for parts, cost in ((3, Fraction(1, 3)), (10, Fraction("0.1")), (7, Fraction(1, 7))):
        budget = FileBudget(tmp_path / str(parts), total=1)
        for _ in range(parts):
            budget.spend(cost)
        assert budget.spent == 1


LONG_EPSILONS = ["1/" + "7" * 2500, "1/" + "7" * 101, "1e-101", "1e-99999"]
SLOW_EPSILONS = ["1e6000000", "1e-6000000", "1" * 10**5, "1/" + "7" * 10**5]


@pytest.mark.parametrize("epsilon", LONG_EPSILONS + SLOW_EPSILONS, ids=range(8))
def test_a_description_has_no_long_epsilon_and_costs_no_time(epsilon: str) -> None:
    text = described_with(epsilon=epsilon)
    tracemalloc.start()
    with pytest.raises(MessageError, match=r"epsilon.*at most 100 digits") as error:
        device(text)
    largest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Of the first slow one 10 to the power of 6,000,000 was computed, 2.5 MB long.
    assert largest < 1_000_000
    assert len(str(error.value)) < 200
    if epsilon in LONG_EPSILONS:
        with pytest.raises(MessageError, match="at most 100 digits"):
            randomizer_to_json(LocalLaplace(epsilon=Fraction(epsilon)))


def test_a_description_has_no_great_width() -> None:
    with pytest.raises(MessageError, match="width"):
        device(described_with(width=10**200))
    device(described_with(epsilon="7" * 100 + "/" + "9" * 100))


def test_no_cost_gives_budget_back(budget_of: Callable[[int], Any]) -> None:
    budget = budget_of(1)
    for amount in (Fraction(0), Fraction(-1)):
        with pytest.raises(ValueError, match="amount"):
            budget.spend(amount)
    assert budget.spent == 0
