"""Linear and integer programs about covers: the cheapest one, and how many sets one can have."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.arrays import Booleans, Floats
from dpbandits.oracles.inputs import SuperArm

ENTRIES = 20_000  # of the linear program's matrix: larger ones take seconds
SCALE = 1e6  # of the dearest set
SLACK = 1e-6  # what solvers' rounding may take from a whole number

Row = list[tuple[int, float]]  # a constraint: variables and their factors


def cheapest_cover(table: Booleans, costs: Floats) -> SuperArm:
    """A cover of the least cost, none of whose sets can be left out.

    table: which set has which element, shape (sets, elements). costs: at least 0, shape (sets,).
    """
    from scipy.optimize import Bounds, LinearConstraint, milp  # slow to import

    found = milp(
        # the solver stops at a gap of 1e-6, whatever is asked for
        costs * (SCALE / (costs.max() or 1.0)),
        constraints=LinearConstraint(table.T.astype(np.float64), lb=1),
        integrality=np.ones(len(costs)),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0},
    )
    chosen = np.flatnonzero(found.x > 0.5).tolist()
    for arm in reversed(chosen.copy()):  # superfluous sets cost nothing here
        others = [other for other in chosen if other != arm]
        if table[others].any(axis=0).all():
            chosen = others
    return tuple(chosen)


def largest_cover(members: Sequence[Sequence[int]], holders: Sequence[NDArray[np.intp]]) -> int:
    """A bound on the number of sets of a cover that needs all of them: each of them has an element
    of its own, so the other sets with that element are not in the cover.

    By counting: k sets keep out at least the sum of the k smallest numbers of other sets with an
    element, and a set outside is kept out at most once for each of its elements. By the linear
    program below, where it is small, which is closer.

    members: the elements of each set. holders: the sets with each element.
    """
    others = np.sort([len(arms) for arms in holders]) - 1
    lengths = np.sort([len(row) for row in members])[::-1]
    most = max(
        k
        for k in range(1, min(len(members), len(holders)) + 1)
        if others[:k].sum() <= lengths[: len(members) - k].sum()
    )
    if sum(len(arms) ** 2 for arms in holders) > ENTRIES:
        return most
    return min(most, relaxed(members, holders))


def relaxed(members: Sequence[Sequence[int]], holders: Sequence[NDArray[np.intp]]) -> int:
    """The linear program, whose variables are whether a set is chosen, and whether an element is
    its own: the most sets such that every element is covered, every chosen set has an element of
    its own, and of the sets with an element that is another's own none is chosen.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    pairs = [(arm, e) for arm, row in enumerate(members) for e in row]
    own = {pair: len(members) + i for i, pair in enumerate(pairs)}
    rows: list[tuple[Row, float]] = [([(arm, -1) for arm in arms], -1) for arms in holders]
    rows += [([(arm, 1), *((own[arm, e], -1) for e in row)], 0) for arm, row in enumerate(members)]
    rows += [
        ([(arm, 1), *((own[other, e], 1) for other in holders[e] if other != arm)], 1)
        for arm, e in pairs
    ]
    columns, factors = zip(*(entry for row, _ in rows for entry in row), strict=True)
    starts = np.cumsum([0, *(len(row) for row, _ in rows)])
    shape = (len(rows), len(members) + len(pairs))
    found = linprog(
        np.repeat([-1.0, 0.0], [len(members), len(pairs)]),
        A_ub=csr_array((np.array(factors, np.float64), columns, starts), shape=shape),
        b_ub=[most for _, most in rows],
        bounds=(0, 1),
    )
    return int(np.floor(-found.fun + SLACK))
