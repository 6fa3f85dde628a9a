"""Visitors that are made up, for a server that is looked at: a campaign, and a thread that asks and
tells.
"""

import threading
from contextlib import suppress

import numpy as np

from dpbandits.core.errors import StoreError
from dpbandits.policies.cumulative import DPKLUCB
from dpbandits.service.store import CampaignStore

NAME = "headlines"
RATES = {"question": 0.11, "number": 0.16, "plain": 0.08}
MANY, PAUSE = 40, 0.5
"""Visitors at a time, and seconds between two such times."""


def entertain(store: CampaignStore) -> None:
    """Make the campaign, if there is none, and begin to visit it."""
    if NAME not in store:
        # names stand where a number would
        policy = DPKLUCB(arms=list(RATES), epsilon=1)
        store.create(NAME, policy)
    threading.Thread(target=visit, args=(store,), daemon=True).start()


def visit(store: CampaignStore) -> None:
    """Ask and tell, for as long as the server lives. Some visitors answer late, some never."""
    rng, pause, late = np.random.default_rng(), threading.Event(), list[tuple[str, float]]()
    while not pause.wait(PAUSE):
        with suppress(StoreError):
            asked = store[NAME].ask(MANY)
            for decision in asked:
                reward = float(rng.random() < RATES[str(decision.label)])
                if rng.random() < 0.9:
                    late.append((decision.id, reward))
                else:
                    store[NAME].expire(decision)
            told, late = late[:-MANY], late[-MANY:]
            store[NAME].tell_many(told)
