"""A store behind HTTP: the same verbs, from another machine."""

from dpbandits.service.remote.campaign import RemoteCampaign
from dpbandits.service.remote.store import RemoteStore

__all__ = ["RemoteCampaign", "RemoteStore"]
