# What is exported stands in the `__all__` of each module, so stars are meant.
# ruff: noqa: F403
"""Every policy, one family a file. `POLICIES` is the table of them, found and not listed: it holds
what the modules that are imported here name in their `__all__`.
"""

from dpbandits.policies.bandit.cumulative import *
from dpbandits.policies.bandit.forgetful import *
from dpbandits.policies.bandit.rate import *
from dpbandits.policies.bandit.thompson import *
from dpbandits.policies.bandit.tree import *
from dpbandits.policies.bandit.ucb import *
from dpbandits.policies.contract import Policy
from dpbandits.policies.experts.leaders import *
from dpbandits.policies.experts.noisy_leader import *
from dpbandits.policies.identification.elimination import *
from dpbandits.policies.identification.sparse_vector import *
from dpbandits.policies.identification.top_two import *
from dpbandits.policies.matroid.joint import *
from dpbandits.policies.matroid.lazy import *
from dpbandits.policies.matroid.optimistic import *
from dpbandits.policies.matroid.sampling import *
from dpbandits.policies.stopping.empirical import *
from dpbandits.policies.super_arms.cucb import *
from dpbandits.policies.super_arms.joint_cucb import *
from dpbandits.policies.super_arms.local import *
from dpbandits.policies.super_arms.tree import *

_FOUND = [
    value
    for value in globals().values()
    if isinstance(value, type) and issubclass(value, Policy) and value is not Policy
]

POLICIES: dict[str, type[Policy]] = {
    cls.__name__: cls for cls in sorted(_FOUND, key=lambda cls: cls.about.privacy != "none")
}
"""By name; those without privacy come first."""

__all__ = list(POLICIES)
