"""Controls of unusual shape: what somebody might write who never saw this package's own mechanisms
and policies.
"""

from benchmarks.odd.parts import Odd
from benchmarks.odd.right import CORRECT
from benchmarks.odd.wrong import MISSED, WRONG

__all__ = ["CORRECT", "MISSED", "WRONG", "Odd"]
