"""Who may have an unread reward, by hand."""

from __future__ import annotations

import pytest

import dpbandits as dpb
from dpbandits.campaign.people.spacing import BEING_MADE, FORGOTTEN, MOST_RUNS, Spacing, few_runs
from dpbandits.core.errors import DamagedSessionError
from dpbandits.policies import DPKLUCB, AdaCUCB

POLICY = AdaCUCB(arms=2, rho=1)


def test_a_damaged_document_is_refused() -> None:
    session = dpb.Session(
        POLICY,
        noise=dpb.SimulatedNoise(1),
        privacy_unit="user",
        max_contributions=3,
        max_contributions_per_release=1,
    )
    for who in range(12):
        session.tell(session.ask(user=who), 0.0)
    assert session._wheel.spacing is not None
    data, policy = session._wheel.spacing.to_data(), session.policy
    again = Spacing.restored(data, policy, 12)
    assert again is not None
    assert again.to_data() == data
    assert len(data["newest"]) == 12
    for name, wrong in (
        ("newest", [["x", 1, 0]]),
        ("newest", [["0" * 32, 14, 0]]),
        ("newest", [["0" * 32, 1, 2]]),
        ("since", [[0, 1, 13, []]]),
        ("since", [[0, -1, 3, []]]),
        ("since", [[7, 1, 3, []]]),
        ("since", [[0, 1, 3, [[4, 1]]]]),
        ("since", [[0, 1, 3, [[2, 0]]]]),
        ("since", [[0, 1, 3]]),
    ):
        with pytest.raises(DamagedSessionError):
            Spacing.restored({**data, name: wrong}, policy, 12)
    with pytest.raises(DamagedSessionError):
        Spacing.restored(data, DPKLUCB(arms=2, epsilon=1), 12)


def test_late_answers_are_told_from_what_was_read() -> None:
    """By hand: a block of arm 0 leaves after ten decisions, of which 4 and 7 are late."""
    spacing = Spacing()
    spacing.newest = {"early": (3, 0), "late": (4, 0), "between": (5, 0), "other": (6, 1)}
    assert not spacing.is_free("late", {4, 7}, [])
    spacing.look({0: 3}, {0: [4, 7], 1: [6]}, 10)
    assert not spacing.is_free("late", {}, [0, 1])  # answered since, so it is in the next block
    assert spacing.is_free("late", {}, [1])
    assert spacing.is_free("early", {}, [0, 1])
    assert spacing.is_free("between", {}, [0, 1])
    assert not spacing.is_free("other", {}, [0, 1])
    assert spacing.is_free("other", {}, [0])
    assert spacing.is_free("nobody", {}, [0, 1])
    spacing.look({0: 3}, {0: [11]}, 12)  # nothing of arm 0 left since
    assert not spacing.is_free("late", {}, [0])
    spacing.look({0: 8}, {0: [11]}, 12)
    assert spacing.is_free("late", {}, [0])
    spacing.newest["new"] = (13, 0)
    assert not spacing.is_free("new", {}, [0])


def test_many_that_wait_are_kept_as_runs() -> None:
    assert few_runs([]) == ()
    assert few_runs([3, 4, 5, 9, 11, 12]) == (range(3, 6), range(9, 10), range(11, 13))
    scattered = few_runs(range(2, 3 * MOST_RUNS, 2))
    assert len(scattered) == MOST_RUNS
    assert scattered[0] == range(2, MOST_RUNS + 1)
    assert scattered[-1] == range(3 * MOST_RUNS - 2, 3 * MOST_RUNS - 1)


def test_a_decision_that_was_being_made_waits_for_all_arms() -> None:
    spacing = Spacing()
    spacing.newest = {"ann": (3, BEING_MADE)}
    spacing.look({0: 2}, {}, 6)
    assert not spacing.is_free("ann", {}, [0, 1])
    assert spacing.is_free("ann", {}, [0])
    assert spacing.is_free("ann", {}, [])


def test_what_is_forgotten_counts_as_the_newest_of_all() -> None:
    spacing = Spacing()
    spacing.newest = {"ann": (3, 1)}
    spacing.forget("ann", 9)
    spacing.forget("ben", 9)
    assert spacing.newest == {"ann": (9, FORGOTTEN)}
    spacing.look({0: 5}, {0: [9]}, 9)  # the ninth is somebody else's, and never answered
    assert not spacing.is_free("ann", {9}, [0, 1])
    assert spacing.is_free("ann", {9}, [0])
    spacing.look({0: 5, 1: 2}, {0: [9]}, 12)
    assert spacing.is_free("ann", {9}, [0, 1])
