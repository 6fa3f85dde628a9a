"""Audits and checks of policies that decide by contexts: exact losses, and broken twins."""

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.checks import check_policy, examples
from dpbandits.checks.examples import PLACES
from dpbandits.core.errors import CheckFailed
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import LazyForgetful
from dpbandits.mechanisms.cells import CellBatches
from dpbandits.policies.contextual import DPLinTS
from dpbandits.policies.contract import policy_dataclass
from dpbandits.session import contexts
from dpbandits.session.state import Told, View


def audited(subject: Any, **options: Any) -> Any:
    return dpb.audit(subject, **{"runs": 300, "seed": 3, **options})


@pytest.mark.long
@pytest.mark.parametrize("name", ["DPLinTS", "DPLinUCB"])
def test_exactly_epsilon_is_found(name: str) -> None:
    report = audited(name, epsilon="1/2")
    assert report.passed
    (level, counted) = report.levels
    assert level.details["loss"] == "1/2"
    assert report.lower_bound == 0.5
    assert counted.outcome == "not applicable"
    assert "contexts" in counted.evidence


@pytest.mark.long
def test_exactly_rho_is_found() -> None:
    report = audited(replace(examples("DPLinTS")[0], epsilon=None, rho="1/3"))  # type: ignore[call-arg]
    assert report.passed
    assert report.levels[0].details["loss"] == "1/3"
    published = audited("AdaCOFUL")
    assert published.passed
    assert 0.3 < published.levels[0].details["loss_value"] <= 1 / 3


@pytest.mark.long
def test_a_smaller_claim_is_refuted() -> None:
    report = audited("DPLinTS", claim=1.9)
    assert report.failed
    assert report.lower_bound == 2.0


def test_without_privacy_there_is_no_verdict() -> None:
    report = audited("LinTS")
    assert report.verdict == "no verdict"


# Twins: a cell chosen by the reward, counts by who answered, and a codebook from rewards


add: Any = contexts.with_records
newest: Any = contexts.newest


def cell_by_reward(patch: Any) -> None:
    def added(*given: Any) -> Any:
        *block, records = given
        turned = [
            each if each.steps else each._replace(context=each.context[::-1]) for each in records
        ]
        return add(*block, turned)

    patch.setattr(contexts, "with_records", added)


def counts_by_answer(patch: Any) -> None:
    def added(*given: Any) -> Any:
        *block, records = given
        sums, _ = add(*given)
        answered = [each for each in records if each.steps]
        counts = add(*block, answered)[1] if answered else block[4]
        return sums, add(*given)[1]._replace(directions=counts.directions)

    patch.setattr(contexts, "with_records", added)


def contexts_by_reward(patch: Any) -> None:
    def with_records(self: Any, state: Any, plan: Any, records: Any) -> Any:
        blocks, after = every(self, state, plan, records)
        recent = list(after.recent)
        for arm, new in records.items():
            rows = [each.context for each in new if each.steps]
            recent[arm] = newest(self.recent[arm], rows, 1_500) if rows else self.recent[arm]
        return blocks, after._replace(recent=tuple(recent))

    every = contexts.Contexts.with_records
    patch.setattr(contexts.Contexts, "with_records", with_records)


@pytest.mark.parametrize("broken", [cell_by_reward, counts_by_answer, contexts_by_reward])
def test_broken_twins_are_caught(broken: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell chosen by the reward; B counted by who answered; a codebook from rewards."""
    broken(monkeypatch)
    report = audited("DPLinTS")
    assert report.failed
    assert report.lower_bound > 2.0
    with pytest.raises(CheckFailed):
        check_policy(examples("DPLinTS")[0])


def test_a_block_that_ends_by_its_sum_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    apply = View.apply

    def by_sum(self: View, event: Any, at: int) -> None:
        apply(self, event, at)
        if type(event) is Told and self.context_records is not None and self.ready is None:
            arm = event.counted_as
            if self.folded().books.blocks[arm].sums.sum() >= 4:
                self.ready = (arm,)

    monkeypatch.setattr(View, "apply", by_sum)
    assert audited("DPLinTS").failed


@policy_dataclass
class OwnCoins(DPLinTS):
    def roots_of(self, state: Any, information: Any) -> Any:
        return super().roots_of(state, information) * random.choice([1.0, 2.0])


def test_of_coins_that_no_replay_can_script_nothing_is_said() -> None:
    made = OwnCoins(arms=2, features=2, epsilon=2, first=12, public_contexts=PLACES)
    report = audited(made)
    assert report.verdict == "no verdict"
    assert "coins" in report.levels[0].evidence


@policy_dataclass
class KeepsArrays(dpb.LinTS):
    def learned_from(self, fit: Any, arm: int, answer: Any) -> Any:
        found = super().learned_from(fit, arm, answer)
        return found._replace(weighted=np.array(found.weighted))


def test_a_state_of_arrays_is_named() -> None:
    with pytest.raises(CheckFailed, match="The state holds an object of type ndarray"):
        check_policy(KeepsArrays(arms=2, features=2))


class TwoCells(CellBatches):
    """Says half of what its noise keeps."""

    def answer(self, memory: Any, block: Any, noise: Any) -> Any:
        return CellBatches(inner=LazyForgetful(epsilon=4, grid=self.grid)).answer(  # type: ignore[arg-type]  # exact
            memory, block, noise
        )


@policy_dataclass
class TooLittleNoise(DPLinTS):
    first: int = 12
    public_contexts: Any = tuple(map(tuple, PLACES))

    def mechanism(self) -> Any:
        grid = Grid(steps=self.grid)
        return TwoCells(inner=LazyForgetful(epsilon=self.budget, grid=grid))


def test_too_little_noise_is_caught() -> None:
    report = audited(TooLittleNoise, epsilon=2)
    assert report.failed
    assert report.lower_bound == 4.0
    with pytest.raises(CheckFailed, match="the claim is 2"):
        check_policy(TooLittleNoise(arms=2, features=2, epsilon=2))
