"""What privacy is expected to have cost a campaign, computed when somebody looks: one at a time,
and once a release.
"""

from collections import OrderedDict
from threading import Lock
from typing import final

from dpbandits.forecasting.forecast import ExpectedLoss
from dpbandits.service.looks.campaign import ShownCampaign

KEPT = 256
"""Campaigns whose newest figure is kept."""

BUSY = "Another campaign's expected loss is being simulated. Ask again in some seconds."


@final
class LossDesk:
    """Computes expected losses, and keeps each until its campaign releases something new."""

    def __init__(self) -> None:
        self._one, self._kept = Lock(), OrderedDict[str, tuple[int, ExpectedLoss | None]]()

    def of(self, campaign: ShownCampaign) -> ExpectedLoss | None:
        """The expected loss as of the newest release (see `Campaign.expected_loss`).

        Raises:
            RuntimeError: another one is being computed. Requests that waited for it would keep
                others from being served.
        """
        summary = campaign.summary()
        mark, step = campaign.uid, summary.step
        kept = self._kept.get(mark)
        if kept is not None and kept[0] == step:
            return kept[1]
        if not self._one.acquire(blocking=False):
            raise RuntimeError(BUSY)
        try:
            found = campaign.expected_loss()
            self._kept[mark] = step, found
            self._kept.move_to_end(mark)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        finally:
            self._one.release()
        return found
