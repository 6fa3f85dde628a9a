"""The source of noise of a saved session, and the one that it goes on with."""

from typing import Any

from dpbandits.core.values import checked_noise, damaged, part
from dpbandits.noise.protocol import Noise
from dpbandits.noise.sources import SecureNoise, noise_from_state


def noise_to_data(noise: Noise) -> dict[str, Any]:
    """What everybody may know of a noise source: its kind and, of a secure one, whether it draws
    ahead.

    A secure source of the caller's own that does not say so in its state (`pool`) counts as one
    that does, the weaker.
    """
    return {"kind": noise.kind} | (
        {"pool": noise.state().get("pool", True)} if noise.kind == "secure" else {}
    )


def noise_to_continue(said: object, saved: dict[str, Any], given: Noise | None) -> Noise:
    """The noise to go on with: the given source or, without one, the saved one's. Its kind stays,
    and it gets no weaker.

    said: the public part's word, as `noise_to_data` wrote it; the private part has to say the same.
    """
    source = noise_from_state(saved)
    if said != noise_to_data(source) or not isinstance(
        part(said, "public.noise").get("pool", True), bool
    ):
        raise damaged("its public and its private part name different kinds of noise")
    if given is None:
        return source
    if checked_noise(given).kind != source.kind:
        raise ValueError(
            f"This session was played with {source.kind} noise; going on with {given.kind} noise "
            "would void its guarantee."
        )
    if isinstance(source, SecureNoise) and not source.pool and noise_to_data(given)["pool"]:
        raise ValueError(
            "This session was played with noise that is never drawn ahead, for machines that are "
            "restored from snapshots. "
            "Go on with noise=SecureNoise(pool=False), or leave noise= out."
        )
    return given


def source_of(said: object, private: dict[str, Any] | None, given: Noise | None) -> Noise:
    """The noise of a session that goes on. private: None for one that is only looked at, with a
    source that draws nothing.
    """
    if private is None:
        silent: Noise = checked_noise(given)
        return silent
    return noise_to_continue(said, private["noise"], given)
