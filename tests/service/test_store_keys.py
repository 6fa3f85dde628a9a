"""A store's private rows are all sealed with one key: a store that is opened with another one
refuses at once, and two keys are never at work in one store.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.service.server import serving
from tests.service.conftest import KEY, Open
from tests.service.timelines import create, turns

OTHER = bytes(32)
KEYS = pytest.mark.parametrize(
    ("first", "second"),
    [(KEY, OTHER), (KEY, None), (None, KEY)],
    ids=["another", "none", "one"],
)
REFUSED = "with the key it was made with|without a key, and it cannot be given one"


@KEYS
def test_another_key_is_refused_as_a_store_is_opened(make: Open, first: Any, second: Any) -> None:
    store = make(key=first)
    turns(create(store), 3)
    for _ in range(2):
        with pytest.raises(dpb.StoreError, match=REFUSED):
            make(key=second)
    turns(make(key=first)["c"], 3)


@pytest.mark.parametrize("options", [{"segments": ["DE", "FR"]}, {"holdout": "1/2"}])
def test_of_a_campaign_with_parts_too(make: Open, options: Any) -> None:
    create(make(), **options)
    with pytest.raises(dpb.StoreError, match=REFUSED):
        make(key=OTHER)
    assert list(make()) == ["c"]


@KEYS
def test_a_store_that_was_opened_empty_creates_nothing_under_another_key(
    make: Open, tmp_path: Path, first: Any, second: Any
) -> None:
    """Nothing was there that the key could have been tried on."""
    right, wrong = make(key=first), make(key=second)
    turns(create(right), 3)
    witnessed = (tmp_path / "witness").read_bytes()
    with pytest.raises(dpb.StoreError, match=REFUSED):
        create(wrong, name="second")
    with pytest.raises(dpb.StoreError, match=REFUSED):
        wrong["c"].ask()
    assert "second" not in right
    assert (tmp_path / "witness").read_bytes() == witnessed
    turns(create(right, name="second"), 3)
    turns(right["c"], 3)


def test_a_server_with_another_key_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, witness = f"sqlite:///{tmp_path}/trial.db", tmp_path / "witness"

    def never() -> None:
        pytest.fail("Nothing stood in the way.")

    monkeypatch.setenv("DPBANDITS_KEY", KEY.hex())
    with dpb.open_store(url, witness=witness) as store:
        create(store)
    monkeypatch.setenv("DPBANDITS_KEY", OTHER.hex())
    with pytest.raises(dpb.StoreError, match=REFUSED) as refused:
        serving.serve(url, port=1, witness=witness, ready=never)
    assert OTHER.hex() not in str(refused.value)
    monkeypatch.setenv("DPBANDITS_KEY", "")
    with pytest.raises(ValueError, match="or not to be set; it is empty"):
        serving.serve(url, port=1, witness=witness, ready=never)
