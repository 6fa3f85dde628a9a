"""The peers: each policy as a plain numba loop that plays every round, written straight from its
formula.

Nothing is shared with the package, so that a ratio compares two programs and not one with itself.
"""

from benchmarks.loops.batches import dpucb_mat, lazy_ts, lazy_ucb, rnm_ftnl
from benchmarks.loops.every_round import kl_ucb, ldp_klucb, ldp_ucb, thompson, ucb1
from benchmarks.loops.trees import hybrid_ucb, tree_ucb

__all__ = [
    "dpucb_mat",
    "hybrid_ucb",
    "kl_ucb",
    "lazy_ts",
    "lazy_ucb",
    "ldp_klucb",
    "ldp_ucb",
    "rnm_ftnl",
    "thompson",
    "tree_ucb",
    "ucb1",
]
