"""Positive controls: things that are BROKEN ON PURPOSE, so that it can be seen whether an auditor
catches them. Never for use.
"""

from dpbandits.auditing.broken import half, joint, published, sums
from dpbandits.auditing.broken.specimen import Specimen

SPECIMENS: tuple[Specimen, ...] = (
    *published.SPECIMENS,
    *sums.SPECIMENS,
    *joint.SPECIMENS,
    *half.SPECIMENS,
)

__all__ = ["SPECIMENS", "Specimen"]
