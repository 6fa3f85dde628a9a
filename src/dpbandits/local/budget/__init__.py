"""What a user's device may still report, and what it has reported: in memory, or in a file that
outlives the device's process.

A budget is spent before a report is made, so that a crash loses a part of it and never spends it
twice.
"""

from dpbandits.core.errors import BudgetError
from dpbandits.local.budget.base import Budget, MemoryBudget
from dpbandits.local.budget.file import FileBudget

__all__ = ["Budget", "BudgetError", "FileBudget", "MemoryBudget"]
