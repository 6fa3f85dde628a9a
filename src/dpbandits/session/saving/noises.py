"""The source of noise of a saved session, and the one that it goes on with."""

from typing import Any

from dpbandits.core.values import checked_noise, damaged, part
from dpbandits.noise.protocol import Noise
from dpbandits.noise.sources import SecureNoise, SimulatedNoise, noise_from_state


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
    and it gets no weaker. Simulated noise of the same seed goes on from where it stood.

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
            "Go on with noise=SecureNoise(pool=False)."
        )
    if type(given) is type(source) is SimulatedNoise and given.seed == source.seed:
        return source
    return given


def source_of(said: object, private: dict[str, Any] | None, given: Noise | None) -> Noise:
    """The noise of a session that goes on. private: None for one that is only looked at, with a
    source that draws nothing.
    """
    if private is None:
        silent: Noise = checked_noise(given)
        return silent
    return noise_to_continue(said, private["noise"], given)


def require_said(noise: Noise | None, key: bytes | None) -> None:
    """Refuse to take a source of noise from a document that anybody may have changed.

    Raises:
        ValueError: no source is given, and no key that says the document's is the one it had.
    """
    if noise is None and key is None:
        raise ValueError(
            "Expected noise=dpbandits.SecureNoise(), or noise=dpbandits.SimulatedNoise(seed) for "
            "an experiment: a document that is saved without a key may have been changed to name "
            "a weaker one. One that is saved and loaded with key= goes on with the noise it had."
        )
