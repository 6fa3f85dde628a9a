"""Decision sets and oracles of the user's own."""

import numpy as np
import pytest

from dpbandits.core.errors import OracleCheckFailed
from dpbandits.oracles import TopK, UserDecisionSet, check_decision_set


def test_user_decision_set() -> None:
    def oracle(weights: np.ndarray) -> list[np.intp]:
        return list(np.argsort(-weights, kind="stable")[:2])

    problem = UserDecisionSet(
        arms=4, size=2, oracle=oracle, contains=lambda action: len(action) == 2, alpha=0.5
    )
    assert problem.best([0.1, 0.9, 0.3, 0.2]) == (1, 2)
    assert all(type(arm) is int for arm in problem.best([0, 0, 0, 0]))
    assert (problem.loops, problem.cover()) == ((), ((0, 1), (2, 3)))
    check_decision_set(problem)
    assert repr(problem) == "UserDecisionSet(arms=4, size=2, oracle=oracle)"
    assert UserDecisionSet(arms=4, size=2, oracle=oracle, costs=True, alpha=2).alpha == 2
    with pytest.raises(TypeError, match="holds functions and cannot be written"):
        problem.to_data()
    assert problem != UserDecisionSet(arms=4, size=2, oracle=oracle)
    assert UserDecisionSet(arms=4, size=2, oracle=oracle) == UserDecisionSet(
        arms=4, size=2, oracle=oracle
    )


@pytest.mark.parametrize("answer", [[0, 1, 2], [1, 1], [4], [-1], [0.5], [], [0, 3]])
def test_a_users_wrong_answer_is_not_played(answer: list[int]) -> None:
    problem = UserDecisionSet(
        arms=4, size=2, oracle=lambda weights: answer, contains=lambda action: action != (0, 3)
    )
    with pytest.raises(ValueError, match="Expected"):
        problem.best(np.zeros(4))


def test_a_poor_oracle_is_caught() -> None:
    def rival(weights: np.ndarray) -> tuple[int, ...]:
        return (0,)

    with pytest.raises(OracleCheckFailed, match="is worth"):
        check_decision_set(UserDecisionSet(arms=3, size=1, oracle=rival))
    with pytest.raises(OracleCheckFailed, match="are in super arms"):
        check_decision_set(UserDecisionSet(arms=3, size=1, oracle=rival, alpha=1e-9))
    calls = iter(range(10**6))
    with pytest.raises(OracleCheckFailed, match="two answers"):
        check_decision_set(
            UserDecisionSet(arms=3, size=1, oracle=lambda weights: [next(calls) % 3]), [np.zeros(3)]
        )
    check_decision_set(TopK(arms=40, k=3))
