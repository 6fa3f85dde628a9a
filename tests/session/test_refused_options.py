"""What somebody in a hurry says wrongly of a new session or campaign."""

import re
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb

POLICY = dpb.DPKLUCB(arms=2, epsilon=1)


def test_an_option_that_there_is_not_is_named_with_those_that_there_are() -> None:
    wrong: dict[str, Any] = {"attribution_windows": timedelta(days=7)}
    said = re.escape("does not take attribution_windows (did you mean attribution_window?)")
    with pytest.raises(TypeError, match=rf"A session {said}\. It takes policy, noise, "):
        dpb.Session(POLICY, noise=dpb.SimulatedNoise(1), **wrong)
    with pytest.raises(TypeError, match=f"A session {said}"):
        dpb.Session(POLICY, noise=dpb.SimulatedNoise(1), segments=["DE"], **wrong)
    with (
        dpb.open_store("memory:") as store,
        pytest.raises(TypeError, match=rf"create\(\) {said}.* holdout, ramp, control"),
    ):
        store.create("trial", POLICY, **wrong)


def test_noise_that_is_spelt_wrongly_is_not_taken_for_none() -> None:
    wrong: dict[str, Any] = {"nois": dpb.SimulatedNoise(1)}
    with pytest.raises(TypeError, match=r"does not take nois \(did you mean noise\?\)"):
        dpb.Session(POLICY, **wrong)


def test_what_is_no_policy_is_no_policy_in_a_store_either() -> None:
    wrong: Any = "DPKLUCB"
    with dpb.open_store("memory:") as store:
        with pytest.raises(TypeError, match=r"Expected a policy such as .* got str"):
            store.create("trial", wrong)
        with pytest.raises(TypeError, match="got the class DPKLUCB itself"):
            store.create("trial", dpb.DPKLUCB)  # type: ignore[arg-type]
        assert list(store) == []


@pytest.mark.parametrize("arms", ["blue,green", "blue, green"])
def test_names_in_one_text_are_no_arms(arms: Any) -> None:
    with pytest.raises(ValueError, match=r"write arms=\['blue', 'green'\]\.$"):
        dpb.DPKLUCB(arms=arms, epsilon=1)
    with pytest.raises(ValueError, match="write arms=5, without quotes"):
        dpb.DPKLUCB(arms="5", epsilon=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("answer", [True, False, np.True_])
def test_a_boolean_is_no_number(answer: Any) -> None:
    """True came as seed 1 and reward 1, for Python says that it is a whole number."""
    noise = dpb.SimulatedNoise(1)
    with pytest.raises(ValueError, match=r"Expected seed=.* to be a whole number"):
        dpb.SimulatedNoise(answer)
    with pytest.raises(ValueError, match=r"Expected seed=.* to be a whole number"):
        dpb.Session(POLICY, noise=noise, seed=answer)
    with pytest.raises(ValueError, match=r"Expected default=.* to be a reward"):
        dpb.Session(POLICY, noise=noise, default=answer)
    with pytest.raises(ValueError, match=r"Expected default=.* to be a reward"):
        dpb.Session(POLICY, noise=noise, default=answer, rewards=dpb.Range(0, 10))


@pytest.mark.parametrize("default", [0, 1, Fraction(1, 4), Decimal("0.25"), np.float32(0.25)])
def test_numbers_of_any_kind_are_defaults(default: Any) -> None:
    s = dpb.Session(POLICY, noise=dpb.SimulatedNoise(1), default=default)
    assert type(s.default) is float
    assert s.default == float(default)


@pytest.mark.parametrize("seed", ["x", True, int, 1.5, -1])
def test_the_seed_of_segments_is_a_seed(seed: Any) -> None:
    """It was added to their places before it was looked at."""
    with pytest.raises(ValueError, match=r"Expected seed=.* to be a whole number of at least 0"):
        dpb.Session(POLICY, noise=dpb.SimulatedNoise(1), segments=["a", "b"], seed=seed)
