"""THE BOUNDARY. Feedback enters by `add` (simulated blocks by `add_block`), answers leave by
`release`; nothing else crosses.

Here are the range check, the fixed-point grid and the integer sums. Outside this folder and
`mechanisms/` no code reads a reward or an exact sum, so every decision made elsewhere is
post-processing of what `release` returned.
"""

from dpbandits.mechanisms.base import Mechanism
from dpbandits.mechanisms.joint import GuardedBatches
from dpbandits.mechanisms.randomizers import Randomizer
from dpbandits.noise.protocol import Noise
from dpbandits.policies.contract import Feedback
from dpbandits.vault.arms import ArmVault
from dpbandits.vault.base import Vault
from dpbandits.vault.guarded import GuardedVault
from dpbandits.vault.joint import JointVault
from dpbandits.vault.saved import SavedVault
from dpbandits.vault.vectors import VectorVault

__all__ = ["ArmVault", "JointVault", "SavedVault", "Vault", "VectorVault", "open_vault"]


def open_vault(
    feedback: Feedback,
    mechanism: Mechanism,
    coordinates: int,
    noise: Noise,
    randomizer: Randomizer | None,
) -> SavedVault:
    """The vault for a policy's kind of feedback."""
    if isinstance(mechanism, GuardedBatches):
        return GuardedVault(mechanism, coordinates, noise)
    if mechanism.together:
        return JointVault(mechanism, coordinates, noise)
    if feedback == "full":
        return VectorVault(mechanism, coordinates, noise)
    return ArmVault(mechanism, coordinates, noise, randomizer)
