"""Contexts as they come and as they are kept."""

import json
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pytest

import dpbandits as dpb
from dpbandits.core.contexts import checked_context, checked_features, checked_rows
from dpbandits.forecasting.trials import Visitors
from dpbandits.service.operations import plain_contexts


def test_a_context_is_kept_in_whole_steps_and_no_longer_than_one() -> None:
    rng = np.random.default_rng(1)
    for _ in range(2000):
        x = rng.normal(size=7)
        x /= np.linalg.norm(x) * rng.choice([1.0, 1.0, 1.3])
        kept = checked_context(x, 7)
        steps = kept * 2**20
        assert np.array_equal(steps, np.rint(steps))
        assert sum(int(s) ** 2 for s in steps) <= 2**40  # its norm, exactly
        assert np.all(np.abs(kept - x) <= 2.0**-19)
        assert np.array_equal(checked_context(kept.tolist(), 7), kept)


@pytest.mark.parametrize(
    ("context", "said"),
    [
        (None, "Expected context=: this policy decides"),
        ([0.1, 0.2], r"vector of 3 numbers \(a, b, c\), one for each feature, got shape \(2,\)"),
        ([[0.1, 0.2, 0.3]], r"got shape \(1, 3\)"),
        ([0.1, float("nan"), 0.3], r"entry 1 \(counted from 0\) is nan"),
        ([0.1, float("inf"), 0.3], "entry 1 .* is inf"),
        ([0.9, 0.9, 0.9], "norm of at most 1, got 1.55884"),
        ([1e200, 1e200, 0.0], "norm of at most 1, got 1.41421"),
        (["0.1", 0.2, 0.3], "3 numbers in a list or an array, got an object of type list"),
        ("abc", "object of type str"),
        ({"a": 0.1, "b": 0.2}, r"missing \['c'\], unknown \[\]"),
        ({"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.0}, r"unknown \['d'\]"),
    ],
)
def test_what_is_no_context_is_refused(context: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        checked_context(context, 3, ("a", "b", "c"))


def test_longer_contexts_are_shortened_where_that_was_asked_for() -> None:
    for long in ([3.0, 4.0], [3e200, 4e200]):
        assert checked_context(long, 2, clip=True) == pytest.approx([0.6, 0.8], abs=1e-5)
    with pytest.raises(ValueError, match="finite"):
        checked_context([float("inf"), 0.0], 2, clip=True)
    named = checked_context({"b": 0.5, "a": 0.25}, 2, ("a", "b"))
    assert named.tolist() == [0.25, 0.5]
    with pytest.raises(ValueError, match="have no names"):
        checked_context({"a": 0.25}, 1)


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame])
def test_columns_of_a_data_frame_are_taken_by_their_names(frame: Any) -> None:
    """And not by their places, which gave each feature's weight to another one."""
    names = ["age", "late", "one"]
    by_column: Any = {"axis": 1} if frame is pd.DataFrame else {}
    rows = dpb.UnitContexts(np.random.default_rng(3).normal(size=(40, 2)))
    contexts = rows(np.random.default_rng(4).normal(size=(40, 2)))
    turned = frame({name: contexts[:, names.index(name)] for name in ("one", "age", "late")})
    assert np.array_equal(checked_rows(turned, 3, names=names), contexts)
    labelled = pd.DataFrame(turned.to_numpy(), columns=list(turned.columns))
    series = [labelled.iloc[at] for at in range(3)]
    fields = list(labelled[:3].itertuples(index=False))
    for several in (series, fields):
        assert np.array_equal(checked_context(several[0], 3, names), contexts[0])
        assert np.array_equal(checked_rows(several, 3, names=names), contexts[:3])
    assert np.array_equal(checked_rows(turned, 3), contexts[:, [2, 0, 1]])  # no names: by places
    with pytest.raises(ValueError, match=r"columns \['age', 'late', '0.5 mg'\]"):
        checked_rows(turned, 3, names=["age", "late", "0.5 mg"])
    with pytest.raises(ValueError, match=r"each once, got \['age', 'late'\]\."):
        checked_rows(turned.rename({"one": "0.5"}, **by_column), 3, names=names)  # a first row
    dummies = frame({"b": [False, True], "a": [True, False]})
    assert np.array_equal(checked_rows(dummies, 2, names=["a", "b"]), np.eye(2))
    assert dpb.UnitContexts(dummies).features == 3
    units = dpb.UnitContexts(frame({name: contexts[:, at] for at, name in enumerate(names)}))
    assert np.array_equal(units(turned), units(contexts))
    policy = dpb.DPLinTS(arms=2, features=names, epsilon=1, public_contexts=turned)
    assert np.array_equal(np.array(policy.public_contexts), contexts)
    assert np.array_equal(Visitors.given(turned, 0.5, 1).contexts, contexts[:, [2, 0, 1]])
    with pytest.raises(ValueError, match="columns of the contexts in the order of the features"):
        dpb.simulate(policy, dpb.ContextTable.logistic(turned, np.eye(3)[:2]), 10)
    chances = dpb.ContextTable.logistic(contexts, [[1, 2, 3], [3, 2, 1]]).chances
    weights = frame({"one": [3, 1], "age": [1, 3], "late": [2, 2]})
    assert np.array_equal(dpb.ContextTable.logistic(turned, weights).chances, chances)
    arms: Any = ["a", "b"]
    labelled_policy = dpb.DPKLUCB(arms=arms, epsilon=1)
    rewards = frame({"b": [0.0, 1.0], "a": [1.0, 1.0]})
    classes = dpb.ContextTable.of_classes(contexts[:3], ["b", "a", "A"])
    assert classes.columns == ["A", "a", "b"]
    unnamed = frame({"0.7314": [0.0], "a": [1.0]})  # a first row of rewards
    for table in (dpb.Table(rewards), dpb.ContextTable(contexts[:2], rewards), dpb.Table(unnamed)):
        with pytest.raises(ValueError, match=r"of the arms, .*; got \[('b', )?'a'\]\.$"):
            dpb.simulate(labelled_policy, table, 1)
    right = dpb.Table(rewards[arms])
    right.columns = rewards[arms].columns  # a user's environment may keep them as they are
    assert dpb.simulate(labelled_policy, right, 2).plays.sum() == 2
    session = dpb.Session(policy, noise=dpb.SimulatedNoise(1), seed=1)
    session.ask(3, context=turned[:3])
    kept = [play[-1] for play in json.loads(session.to_json())["public"]["plays"]]
    assert np.array_equal(np.array(kept), contexts[:3])
    for given in (turned[:3], series, fields):
        sent = plain_contexts(given)  # of a campaign
        assert [[row[name] for name in names] for row in sent] == contexts[:3].tolist()


def test_a_campaign_takes_the_numbers_of_a_frame_and_not_its_columns() -> None:
    """Numbered columns were taken as the context, 0 and 1, and of two of one name the last."""
    plain: Any = plain_contexts
    numbers = [[0.1, 0.2], [0.3, 0.4]]
    assert list(plain(pd.DataFrame(numbers))) == numbers
    assert plain(np.array(0.5)) == ([0.5],)  # which the policy refuses
    with pytest.raises(ValueError, match=r"\['age'\], each once, got \['age', 'age'\]"):
        plain(pd.DataFrame(numbers, columns=["age", "age"]))
    policy, noise = dpb.DPLinTS(arms=2, features=2, epsilon=1), dpb.SimulatedNoise(1)
    with dpb.open_store("memory:", noise=noise) as store:
        for host in (dpb.Session(policy, noise=noise, seed=1), store.create("c", policy)):
            for frame in (pd.DataFrame(numbers), pd.DataFrame(numbers, columns=["late", "age"])):
                assert len(host.ask(2, context=frame)) == 2  # by their places
            with pytest.raises(ValueError, match="no names"):
                host.ask(1, context=[{"late": 0.1, "age": 0.2}])


def test_features_and_rows_are_checked() -> None:
    assert checked_features(np.int64(3)) == (3, None)
    for names in (["a", "b"], np.array(["a", "b"]), pd.Index(["a", "b"])):
        assert checked_features(names) == (2, ("a", "b"))
    for wrong in (0, [], ["a", "a"], ["a", 1], "ab", 1.5, True):
        with pytest.raises(ValueError, match="features"):
            checked_features(wrong)
    with pytest.raises(ValueError, match=r"rows of 2 numbers.*got shape \(2,\)"):
        checked_rows([0.1, 0.2], 2)
    with pytest.raises(ValueError, match=r"Row 1 .*norm of at most 1"):
        checked_rows([[0.1, 0.2], [1.0, 1.0]], 2)


def test_unit_contexts_are_of_norm_one_at_most_and_the_same_for_one_row() -> None:
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(500, 6)) @ rng.normal(size=(6, 6)) + 5.0
    units = dpb.UnitContexts(rows, keep=4)
    made = units(rows * 3.0)
    assert made.shape == (500, 5)
    assert units.features == 5
    assert np.linalg.norm(made, axis=1).max() <= 1.0
    assert np.array_equal(units(rows[7] * 3.0), made[7])
    assert np.array_equal(checked_rows(made, 5), made)
    sides = [[0.0], [1.0]] * 20  # all as far from the middle: each has its full share of the norm
    both = dpb.UnitContexts(sides)(sides)
    assert np.linalg.norm(both, axis=1) == pytest.approx(np.ones(40), abs=1e-5)
    with pytest.raises(ValueError, match="rows of 6 measured features"):
        units(rows[:, :5])
    with pytest.raises(ValueError, match="not finite"):
        units(np.full((1, 6), np.nan))
    with pytest.raises(ValueError, match="at least 2 rows"):
        dpb.UnitContexts(rows[:1])


def test_unit_contexts_keep_the_main_axes_evened_out_and_shorten_one_row_in_ten() -> None:
    one, other, little = np.random.default_rng(4).normal(size=(3, 500))
    rows = np.column_stack((one, one + 0.01 * little, other))
    made = dpb.UnitContexts(rows, keep=2)(rows)[:, :2]
    for axis, of in enumerate((one, other)):
        assert abs(np.corrcoef(made[:, axis], of)[0, 1]) > 0.9
    assert made[:, 0].std() == pytest.approx(made[:, 1].std(), rel=0.1)
    assert (np.linalg.norm(made, axis=1) > np.sqrt(0.5) - 1e-5).sum() == 50


def test_contexts_do_not_depend_on_the_units_of_features() -> None:
    """Nanomoles in moles were taken for a constant."""
    rows = np.column_stack((np.random.default_rng(3).normal(size=(50, 2)), np.full(50, 0.1)))
    units = [1e-12, 1e12, 1e9]
    assert np.allclose(dpb.UnitContexts(rows * units)(rows * units), dpb.UnitContexts(rows)(rows))
    assert np.ptp(dpb.UnitContexts(rows)(rows), axis=0).min() == 0


def test_a_constant_feature_is_one_over_many_rows() -> None:
    """Its mean is rounded, and its standard deviation was 10⁻¹³."""
    rows = np.column_stack([np.full(100_000, 0.1), np.linspace(0, 1, 100_000)])
    units = dpb.UnitContexts(rows, keep=1)
    assert units.scale[0] == 1.0
    assert np.allclose(units(rows[:9]), units(rows[:9] + np.array([1e-9, 0.0])))
