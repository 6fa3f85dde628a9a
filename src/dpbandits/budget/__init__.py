"""What a user's device may still report, and what it has reported: in memory, or in a file that outlives the device's process.

A budget is spent before a report is made, so that a crash loses a part of it and never spends it twice.
"""

from dpbandits.budget.alone import BudgetError
from dpbandits.budget.base import Budget, MemoryBudget
from dpbandits.budget.file import FileBudget

__all__ = ["Budget", "BudgetError", "FileBudget", "MemoryBudget"]
