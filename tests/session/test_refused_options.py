"""What somebody in a hurry says wrongly of a new session or campaign."""

import re
from datetime import timedelta
from typing import Any

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
