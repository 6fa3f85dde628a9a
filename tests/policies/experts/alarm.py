"""How often the statistical tests here may fail by chance."""

from __future__ import annotations

ALARM = 1e-6
"""False-alarm rate of each statistical test here."""
