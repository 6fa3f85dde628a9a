"""What a client asks of its budget, how a cost is booked, and the budget in memory."""

import math
from fractions import Fraction
from typing import NoReturn, Protocol, SupportsIndex, final

from dpbandits.core.errors import BudgetError
from dpbandits.core.privacy import Real, as_fraction, printed
from dpbandits.local.budget.alone import Alone
from dpbandits.noise.sources import Process

FINEST = 10**40
"""The largest denominator of the number that is spent: a budget cannot tell smaller parts apart,
whoever chose the costs.
"""


class Budget(Protocol):
    """What a client asks of its budget. One of your own, over the device's storage, is called in
    this order: spend, then keep.
    """

    def spend(self, amount: Fraction) -> None:
        """Take `amount` for ever, durably before it returns. Raises BudgetError where less is
        left.
        """

    def recall(self, key: str) -> str | None:
        """What was kept under `key`."""

    def keep(self, key: str, answer: str) -> str:
        """Keep `answer` for ever, unless there is one already; returns the one that is kept. Two
        processes that keep at once get the same one.
        """


def require_device_budget(budget: object) -> None:
    """Raise unless this is a budget, before anything is spent of one."""
    if isinstance(budget, type) or not all(
        callable(getattr(budget, name, None)) for name in ("spend", "recall", "keep")
    ):
        kind = budget if isinstance(budget, type) else type(budget)
        came = f"{'the class' if kind is budget else 'an object of type'} {kind.__name__}"
        raise TypeError(
            "Expected budget= to be a budget such as FileBudget(path, total=2), or an object of "
            f"your own with spend, recall and keep; got {came}."
        )


def spent_after(amount: Fraction, spent: Fraction, total: Fraction) -> Fraction:
    """What is spent once `amount` is: their sum; of one that a file could not hold, the next larger
    number that it can.

    Raises:
        BudgetError: it is more than the total.
        ValueError: the amount is not above 0.

    >>> spent_after(Fraction(1, 3), Fraction(1, 3), Fraction(1))
    Fraction(2, 3)
    >>> spent_after(Fraction(1, 7**2500), Fraction(1), Fraction(2)) - 1 == Fraction(1, FINEST)
    True
    """
    exact = spent + as_fraction(amount, "amount")
    if exact > total:
        raise BudgetError(
            f"Expected this device's reports to cost at most total={total}; {spent} of it is "
            f"spent, and this report costs {amount_text(amount)}. "
            "No report was made. Only the user can agree to a larger total."
        )
    return exact if exact.denominator <= FINEST else Fraction(math.ceil(exact * FINEST), FINEST)


def amount_text(amount: Fraction) -> str:
    return str(amount) if amount.denominator <= FINEST else f"about {printed(amount)}"


@final
class MemoryBudget:
    """A budget for the life of one process: of the one that made it, not of its forked children.
    Threads may share it.

    There is one of it: a copy would spend the same total again, so it is neither copied nor
    pickled.

    total: the most that all reports together may cost.
    """

    def __init__(self, total: Real) -> None:
        self.total, self.spent = as_fraction(total, "total"), Fraction(0)
        self._answers: dict[str, str] = {}
        self._alone, self._owner = Alone(), Process.now()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(
            "Expected one MemoryBudget for all who share it, got a copy or a pickle, which would "
            "spend its total again. "
            "Hand the budget itself on, or use a FileBudget, which processes share by its path."
        )

    def spend(self, amount: Fraction) -> None:
        call = self._alone.enter()
        try:
            self._check_owner()
            self.spent = spent_after(amount, self.spent, self.total)
        finally:
            self._alone.leave(call)

    def recall(self, key: str) -> str | None:
        return self._answers.get(key)

    def keep(self, key: str, answer: str) -> str:
        self._check_owner()
        return self._answers.setdefault(key, answer)

    def _check_owner(self) -> None:
        if self._owner != Process.now():
            raise BudgetError(
                "Expected the process that made this budget, got a forked child, which would "
                "spend it again. Use a FileBudget."
            )
