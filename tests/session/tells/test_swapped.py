"""A reward that comes as the decision, and code that comes in place of pairs or of a message: what
the error says does not depend on what came.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.policies import RNMFTNL
from tests.session.small import session
from tests.session.tells.test_refused_tells import said

SWAPPED: dict[str, Callable[[Any, Any, dpb.Decision], Any]] = {
    "one": lambda s, secret, d: s.tell(secret, d),
    "many": lambda s, secret, d: s.tell_many([(secret, d)]),
    "last of many": lambda s, secret, d: s.tell_many(
        [(s.ask(), (0.5, 0.5) if s.guardrail else 0.5), (secret, d)]
    ),
}


@pytest.mark.parametrize("call", SWAPPED.values(), ids=SWAPPED.keys())
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"attribution_window": timedelta(days=1)},
        {"rewards": dpb.Range(0, 10)},
        {"guardrail": dpb.Guardrail("harm", limit=0.5)},
    ],
    ids=["plain", "window", "range", "guardrail"],
)
def test_a_swapped_reward_cannot_be_told_from_its_error(call: Any, options: Any) -> None:
    """0 is no id, 1 one that is resolved, 2 one that waits: each was refused in other words."""

    def text(secret: Any) -> str:
        s = session(**options)
        gone, told = s.ask(), s.ask()
        s.void(gone)
        return said(lambda: call(s, secret, told))

    texts = {text(secret) for secret in (0, 1, 2, 0.7314, True, np.int64(1), None)}
    assert len(texts) == 1
    assert "The decision comes first" in texts.pop()


def test_a_swapped_report_cannot_be_told_from_its_error() -> None:
    s = dpb.Session(dpb.LDPKLUCB(arms=2, epsilon=1), noise=dpb.SimulatedNoise(1), seed=1)
    d = s.ask()
    assert len({said(partial(s.tell, secret, d)) for secret in (0, 1, 2)}) == 1


class OwnPairs:
    def __iter__(self) -> Iterator[Any]:
        raise LookupError("the reward is 0.7314")


class OwnText(str):
    __slots__ = ()

    def __len__(self) -> int:
        raise LookupError("the reward is 0.7314")


def test_code_that_comes_in_place_of_pairs_or_a_message_is_not_repeated() -> None:
    s = session()
    s.ask()
    with pytest.raises(TypeError, match="of type OwnPairs that cannot be read") as refused:
        s.tell_many(OwnPairs())  # type: ignore[arg-type]
    assert "0.73" not in "".join(traceback.format_exception(refused.value))
    with pytest.raises(dpb.MessageError, match="Expected a report") as misread:
        s.tell_message(OwnText("{}"))
    assert "0.73" not in "".join(traceback.format_exception(misread.value))


def test_a_generators_own_error_passes() -> None:
    """Whoever makes the pairs has to see why they could not be made."""

    def pairs() -> Iterator[Any]:
        raise LookupError("no such file")
        yield

    with pytest.raises(LookupError, match="no such file"):
        session().tell_many(pairs())


@pytest.mark.parametrize("told", [range(7314), [range(7314)], {7314: 1}, "7314"])
def test_no_length_is_repeated_that_may_be_a_reward(told: Any) -> None:
    s = dpb.Session(RNMFTNL(actions=3, epsilon=1), noise=dpb.SimulatedNoise(1))
    d = s.ask()
    assert "7314" not in said(lambda: s.tell(d, told))
    with pytest.raises(dpb.RewardError, match=r"got shape \(2,\)"):
        s.tell(d, [0.5, 0.5])


class Proxy:
    """Says what it stands for, which is not there."""

    @property
    def __class__(self) -> Any:
        raise RuntimeError("no request with the reward 0.7314")

    @__class__.setter
    def __class__(self, _: Any) -> None: ...


def test_a_proxy_in_place_of_pairs_is_not_repeated() -> None:
    with pytest.raises(TypeError, match=r"Expected \(decision, reward\) pairs") as error:
        session().tell_many(Proxy())  # type: ignore[arg-type]  # which it is not
    assert "7314" not in said(error.value)
