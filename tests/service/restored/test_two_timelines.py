"""The exact loss of one record over both timelines: epsilon with the fence, else twice that."""

from fractions import Fraction
from pathlib import Path

import pytest

import dpbandits as dpb
from dpbandits.checks.checks import largest_loss
from dpbandits.checks.tape import Recorder
from dpbandits.service.database import Database
from tests.service.timelines import copied, copy_file, inside, store_of


def play(
    folder: Path,
    noise: Recorder,
    patch: pytest.MonkeyPatch,
    *,
    fenced: bool,
    changed: int | None = None,
) -> int:
    """A campaign, and a copy that goes on: how many releases there were in both."""
    patch.setattr("dpbandits.service.parts.noise_to_go_on", lambda *_: noise)
    backend, path = Database("memory:"), folder / "witness"
    policy = dpb.DPKLUCB(arms=2, epsilon=1, first=4)
    store = store_of(backend, path)
    first = store.create("c", policy, noise=dpb.SimulatedNoise(1), seed=1)
    asked = first.ask(40)
    pairs = [(d, float(n == changed)) for n, d in enumerate(asked)]
    first.tell_many(pairs[:3])
    copy, old = copied(backend), folder / "old"
    copy_file(path, old)
    first.tell_many(pairs[3:])
    other = store_of(copy, path if fenced else old)
    second = other["c"]
    second.tell_many(pairs[3:])
    second.tell_many([(d, 1) for d in second.ask(40)])
    both = [
        inside(each, lambda part, rows: rows.releases(part.uid, 0, 99)) for each in (first, second)
    ]
    for each in (store, other):
        each.close()
    path.unlink()
    return sum(map(len, both))


@pytest.mark.parametrize(("fenced", "most"), [(True, 1), (False, 2)])
def test_exact_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fenced: bool, most: int
) -> None:
    recorded = Recorder(4)
    assert play(tmp_path, recorded, monkeypatch, fenced=fenced) >= 4

    def neighbour(changed: int):  # type: ignore[no-untyped-def]
        return lambda noise: play(tmp_path, noise, monkeypatch, fenced=fenced, changed=changed)

    worst = largest_loss(recorded, (neighbour(changed) for changed in (0, 2, 3, 20, 39)))
    assert worst == Fraction(most)
