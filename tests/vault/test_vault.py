"""The vault: a record enters its blocks once, a block is read once or thrown away, and no record
touches more than its cost covers.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.errors import LedgerError
from dpbandits.core.plan import EVERY, Hold, PublicRng
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import JointBatch, LazyForgetful, LocalLaplace, NoisyMax, WeightedArms
from dpbandits.oracles import DecisionSet, Matroid
from dpbandits.policies import CUCB, DPTSMAT, LazyCUCB
from dpbandits.policies.super_arms import FIRST
from dpbandits.simulation.plain import OpenVault
from dpbandits.vault import CHUNK, Books, Ledger, Line, OpenBlock, Vault, add_records
from tests.session.small import Exact, content

ONE, GRID = Fraction(1), Grid(steps=4)
FOUR = dpb.TopK(arms=4, k=2)


def arms_vault(arms: int = 2) -> Vault:
    return Vault("bandit", LazyForgetful(epsilon=ONE, grid=GRID), arms, Exact(1))


def joint_vault(arms: int = 4) -> Vault:
    return Vault("semi", JointBatch(epsilon=ONE, size=3, grid=GRID), arms, Exact(1))


def with_records(vault: Vault, *records: tuple[Any, Any, int]) -> Books:
    """Return books with these records: the arms, the rewards, and the number of a joint plan."""
    books = vault.begin()
    blocks = dict(books.blocks)
    for where, rewards, key in records:
        steps = vault.on_grid(vault.checked(where, rewards))
        add_records(blocks, vault.parts(where, steps, key, None))
    return Books(blocks, books.memory, books.ledger)


def test_a_block_is_read_once_or_thrown_away() -> None:
    vault = arms_vault()
    books = with_records(vault, (0, 1.0, 0), (0, 0.5, 0), (1, 1.0, 0))
    read, (answer,) = vault.release(books, (0,), (1,))
    assert (answer.total, answer.rounds) == (1.5, 2)
    assert read.blocks == {}
    assert books.blocks.keys() == {0, 1}, "a release changes no books"
    assert [tuple(line)[:4] for line in vault.entries(read.ledger)] == [(0, 0, 2, ONE)]
    assert read.ledger.left == {0: (2, 0), 1: (1, 1)}
    for again in ((0,), (1,), (0, 1)):
        with pytest.raises(LedgerError, match="released at most once"):
            vault.release(read, again)
    for keys, drop in (((0, 0), ()), ((0,), (0,)), ((), (1, 1))):
        with pytest.raises(RuntimeError, match="different whole numbers"):
            vault.release(books, keys, drop)


def test_a_joint_block_is_read_by_its_own_plan() -> None:
    """Only the arms that are read of it are kept, and other plans' blocks stay open."""
    vault = joint_vault()
    where = (0, 1, 3)
    books = with_records(vault, (where, [1.0, 0.5, 0.25], 5), (where, [1.0, 0.0, 0.25], 9))
    assert books.blocks == {5: OpenBlock(1, (4, 2, 1)), 9: OpenBlock(1, (4, 0, 1))}
    kept = vault.parts(where, (4, 2, 1), 5, (0, 2))
    assert kept == ((5, (4, 1)),)
    first, answers = vault.release(books, (9,), (), where)
    assert [tuple(answer)[:2] for answer in answers] == [(1.0, 1), (0.0, 1), (0.25, 1)]
    assert first.blocks.keys() == {5}
    with pytest.raises(LedgerError):
        vault.release(first, (9,), (), where)
    second, _ = vault.release(first, (5,), (), where)
    lines = vault.entries(second.ledger)
    assert [tuple(line)[:3] for line in lines] == [(EVERY, 0, 2)]
    assert dpb.spent(lines) == 1
    dropped, none = vault.release(books, (), (5, 9))
    assert (none, dropped.blocks, vault.entries(dropped.ledger)) == ((), {}, ())


@pytest.mark.parametrize(
    "wrong", [-1, 2, 10**30, True, 1.0, "0", None, np.int64(2), np.True_], ids=repr
)
def test_coordinates_are_whole_numbers_of_this_vault(wrong: Any) -> None:
    """−1 used to be the last arm: `release=(1, -1)` read one block twice."""
    vault = arms_vault()
    books, box = with_records(vault, (0, 1.0, 0), (1, 1.0, 0)), OpenVault(vault)
    doors: list[Callable[[], Any]] = [
        lambda: vault.checked(wrong, 1.0),
        lambda: box.add(wrong, 1.0),
        lambda: box.add_block(wrong, 4, 1),
        lambda: vault.release(books, (wrong,)),
        lambda: vault.release(books, (1, wrong)),
        lambda: vault.release(books, (), (wrong,)),
    ]
    for door in doors:
        with pytest.raises(RuntimeError, match=r"different whole numbers from 0 to 1"):
            door()
    assert (box.records, box.ledger) == (0, ())
    box.add(np.int64(1), 1.0)  # NumPy's whole numbers are some
    assert box.release((np.int64(1),), 3, ()).coordinates == (1,)  # type: ignore[arg-type]
    assert type(box.ledger[0].coordinate) is int


def test_whole_records_have_one_coordinate() -> None:
    vault = Vault("full", NoisyMax(epsilon=ONE, grid=GRID), 2, Exact(1))
    books = with_records(vault, (0, [1, 0], 0))
    wrong: list[Any] = [
        ((0,), ()),
        ((EVERY, EVERY), ()),
        ((EVERY,), (EVERY,)),
        ((), (0,)),
        ((True,), ()),
    ]
    for read, drop in wrong:
        with pytest.raises(RuntimeError, match="Expected blocks"):
            vault.release(books, read, drop)
    read_books, answers = vault.release(books, (EVERY,))
    assert (len(answers), read_books.blocks) == (1, {})


def test_a_ledger_adds_up_however_long_it_is() -> None:
    """Against a plain list of readings. Lines of single records are joined."""
    rng, ledger = np.random.default_rng(1), Ledger()
    readings, left = dict[int, list[tuple[int, int]]](), {0: 0, 1: 0}
    for _ in range(4 * CHUNK):
        arm, count = int(rng.integers(2)), int(rng.choice([1, 1, 1, 5]))
        is_read = rng.random() < 0.8
        ledger = ledger.after({arm: count} if is_read else {}, {} if is_read else {arm: count})
        if is_read:
            readings.setdefault(arm, []).append((left[arm], left[arm] + count))
        left[arm] += count
    for arm in (0, 1):
        covered = list[tuple[int, int]]()
        for start, stop, releases in (line for at, line in ledger.lines() if at == arm):
            assert releases in (1, stop - start)
            size = (stop - start) // releases
            covered += [(start + i * size, start + (i + 1) * size) for i in range(releases)]
        assert covered == readings[arm]
        assert ledger.left[arm][0] == left[arm]
    assert ledger.releases == sum(map(len, readings.values()))
    again = Ledger.of(ledger.lines(), ledger.left)
    assert (again.lines(), again.left, again.releases) == (
        ledger.lines(),
        ledger.left,
        ledger.releases,
    )
    assert again.after({0: 1}, {}).lines() == ledger.after({0: 1}, {}).lines()
    assert Line(0, 1, 1) == (0, 1, 1)


# No record touches more than its cost covers


class Says(DecisionSet):
    """Answers what it is told to, whatever its size."""

    def __init__(self, *answer: int, size: int) -> None:
        self.arms, self.size, self.answer = 4, size, answer

    def parameters(self) -> dict[str, Any]:
        return {"answer": self.answer}

    def _best(self, weights: Any) -> Any:
        return self.answer

    def _contains(self, action: Any) -> bool:
        return True


class Grows(Matroid):
    """Rank 1 by its own account; to samples it answers with all three elements."""

    def __init__(self) -> None:
        self._set_rank(3, 1)

    def parameters(self) -> dict[str, Any]:
        return {}

    def _independent(self, arms: Any) -> bool:
        return True

    def _best(self, weights: Any) -> Any:
        return (int(np.argmax(weights)),) if weights.max() in (0.0, FIRST) else (0, 1, 2)


@pytest.mark.parametrize("answer", [(0, 1, 2, 3), (0, 0), (1, 0), ()])
def test_what_is_no_super_arm_is_not_planned(answer: tuple[int, ...]) -> None:
    words = r"Expected the oracle Says to answer a super arm, .* size=2 .*Correct its _best"
    with pytest.raises(ValueError, match=words):
        dpb.Session(LazyCUCB(problem=Says(*answer, size=2), epsilon=1), noise=Exact(1))


def test_a_law_that_draws_too_many_arms_is_stopped_at_the_boundary() -> None:
    """A drawn action comes from the matroid itself; the rewards told for it are refused."""
    s = dpb.Session(DPTSMAT(problem=Grows(), epsilon=1), noise=dpb.SimulatedNoise(1), seed=1)
    for _ in range(3):
        s.tell(s.ask(), [1.0])
    decision = s.ask()
    assert len(decision.action) == 3  # type: ignore[arg-type]
    before = content(s)
    for tell in (lambda: s.tell(decision, [1.0] * 3), lambda: s.tell_many([(decision, [1.0] * 3)])):
        words = r"at most 1 arms.*got 3.*Nothing was recorded"
        with pytest.raises(RuntimeError, match=words):
            tell()
    assert content(s) == before


@pytest.mark.parametrize("where", [(0, 1, 2), (0, 0), (0, -1), (3, 4), (0, True), (0, 1.0)])
def test_every_door_refuses_too_many_arms_and_those_of_no_vault(where: Any) -> None:
    """Raw rewards, reports and, without privacy, the same."""
    rewards = [1.0] * len(where)
    for vault in (
        Vault("semi", LazyCUCB(problem=FOUR, epsilon=1).mechanism(), 4, Exact(1)),
        Vault("semi", CUCB(problem=FOUR).mechanism(), 4, Exact(1)),
    ):
        box = OpenVault(vault)
        for door in (
            lambda box=box: box.vault.checked(where, rewards),
            lambda box=box: box.add(where, rewards),
            lambda box=box: box.add_block(where, np.ones(len(where), np.int64), 1),
        ):
            with pytest.raises(RuntimeError, match="Correct"):
                door()
        assert box.books.blocks == {}
    randomizer = LocalLaplace(epsilon=1, width=2)  # type: ignore[arg-type]
    local = Vault("semi", CUCB(problem=FOUR).mechanism(), 4, Exact(1), randomizer)
    report = LocalLaplace(epsilon=1, width=3).report(rewards, Exact(1))  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="Correct"):
        local.checked(where, report)


def test_a_single_arm_that_costs_more_than_the_guarantee_is_not_recorded() -> None:
    half, inner = Fraction(1, 2), LazyForgetful(epsilon=Fraction(1))
    mechanism = WeightedArms(inner=inner, kinds=(1, 2), epsilon=half, width=1)
    vault = Vault("bandit", mechanism, 2, Exact(1))
    assert vault.quick_parts(0, 1.0) is None
    with pytest.raises(RuntimeError, match="weights of at most 1 together"):
        vault.checked(0, 1.0)
    assert vault.checked(1, 1.0) == 1.0
    for kinds in ((0, 2), (1, -1)):
        with pytest.raises(ValueError, match="kinds"):
            replace(mechanism, kinds=kinds)


@dataclass(frozen=True, kw_only=True)
class Plays(dpb.DPKLUCB):
    """Holds arm `arm` and releases `released`."""

    arm: int = 0
    released: tuple[int, ...] = (0,)

    def plan(self, state: Any, rng: PublicRng) -> Hold:  # type: ignore[override]
        return Hold(self.arm, 2, self.released)


def test_a_plan_with_foreign_arms_reads_nothing() -> None:
    for wrong in ({"arm": -1}, {"arm": 1, "released": (1, -1)}):
        with pytest.raises(ValueError, match="one arm at a time, from 0 to 1"):
            dpb.Session(Plays(arms=2, epsilon=1, **wrong), noise=Exact(1))  # type: ignore[arg-type]
