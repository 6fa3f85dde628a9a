"""Every exception of the package. `except dpb.Error` catches them all."""

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = [
    "BudgetError",
    "CheckFailed",
    "ClosedError",
    "ConfigError",
    "DamagedCellError",
    "DamagedSessionError",
    "DataError",
    "DecisionError",
    "Diverged",
    "EditedRowsError",
    "EnvironmentExhausted",
    "Error",
    "HorizonError",
    "LedgerError",
    "MessageError",
    "MissingDataError",
    "NameTakenError",
    "NoKeyError",
    "NotForThisKeyError",
    "NotRecordedError",
    "OracleCheckFailed",
    "PrivacyWarning",
    "RequestsDiffer",
    "RewardError",
    "SharedError",
    "StoreError",
    "TooManyPendingError",
    "UnknownCampaignError",
    "UnlearnedError",
    "WitnessError",
    "WorkerError",
]


Refused = TypeVar("Refused", bound=Exception)


def coded(code: str, kind: type[Refused], text: str) -> Refused:
    """Return an error with a word for programs, as its attribute `code`. A server replies with this
    word and a fixed text in place of the error's own, which may repeat what was given.
    """
    error = kind(text)
    error.code = code  # type: ignore[attr-defined]  # errors may carry any attribute
    return error


class Error(Exception):
    """The base class of every exception that this package defines.

    Each also has the built-in base class that fits it, so `except ValueError` catches a
    `RewardError`. Arguments that no call accepts raise a plain ValueError or TypeError, and a
    missing file raises FileNotFoundError.

    Attributes:
        code: a word for programs, of errors of sessions and campaigns.
    """

    code: str | None = None


# Sessions


class RewardError(Error, ValueError):
    """A reward is not a number in [0, 1]. Nothing was recorded."""

    code: str = "reward_out_of_range"


class DecisionError(Error, LookupError):
    """A reward or an expiry was reported for a decision that is unknown or already resolved.
    Nothing was recorded.
    """

    code: str = "decision"


class NotRecordedError(Error, RuntimeError):
    """A pending release or plan of an earlier call failed again, so this call did nothing.
    `__cause__` is that failure.

    When a release fails for the first time, the reward of that call is recorded, and that call
    raises the failure itself.
    """


class HorizonError(Error, ValueError):
    """A policy is played beyond the horizon it was made for. Nothing was released, and nothing more
    will be; earlier releases remain valid.
    """

    code: str = "horizon"


class SharedError(Error, RuntimeError):
    """A session was used by two threads at once, in a forked child, or from within one of its own
    calls. Nothing was done.
    """

    code: str = "busy_campaign"


class ClosedError(Error, RuntimeError):
    """A session or campaign that was closed makes no further decision, and its arms stay as they
    are. Nothing was done.
    """

    code: str = "closed"


class TooManyPendingError(Error, RuntimeError):
    """More decisions would wait for their rewards than `max_pending` allows. None was made."""

    code: str = "full"


class PrivacyWarning(UserWarning):
    """A session for people's data guarantees little or nothing: its ε is very large, it has none,
    there is nothing to decide, or rewards on a scale are held as its two ends.
    """


# Campaigns


class StoreError(Error, RuntimeError):
    """A store cannot be used: it does not exist, has a newer version, is unavailable, or would not
    keep what it commits. The request can be repeated.
    """

    code: str = "store"


class EditedRowsError(StoreError):
    """Rows of a campaign differ from those that were written: they were edited, deleted or restored
    one by one. Nothing was done, and nothing is released from them.

    Attributes:
        fenced: True if the campaign continues by itself once all open blocks are discarded. False
            if a backup of the whole database must be restored.
    """

    fenced: bool = False


class UnlearnedError(StoreError):
    """A release was made, but the policy failed to learn from it. The release is discarded.

    The block is not released again, because the failure may depend on the noise. The next call
    fences the campaign.
    """


class NameTakenError(Error, ValueError):
    """A campaign or an access key of this name exists already. Nothing was created."""

    code: str = "name_taken"


class UnknownCampaignError(Error, KeyError):
    """There is no campaign of this name."""

    code: str = "no_such_campaign"

    def __str__(self) -> str:  # a KeyError shows its text in quotes
        return str(self.args[0]) if self.args else ""


class NoKeyError(Error, PermissionError):
    """No access key was sent, or one that the server does not know or that was revoked. Nothing was
    done.
    """

    code: str = "no_key"


class NotForThisKeyError(Error, PermissionError):
    """The access key is valid on this server but does not permit this. Nothing was done."""

    code: str = "role"


class WitnessError(Error, RuntimeError):
    """Database and witness do not match, and not because the database was restored: the witness is
    missing or belongs to another database. Nothing was done.
    """

    code: str = "store"


class LedgerError(Error, RuntimeError):
    """The counts of a session do not add up: a record was counted twice or would be released twice.
    Nothing was released.

    No call repairs this. Give the session up, or continue from an older saved copy.
    """

    code: str = "ledger"


class DamagedSessionError(Error, ValueError):
    """A saved session or estimator cannot be loaded. The message names the part, never the value,
    which may be private.
    """


# The user's device


class MessageError(Error, ValueError):
    """Text is not a message of the local protocol. The error does not repeat it: a broken client
    may have put a reward into it.
    """

    code: str = "message"


class BudgetError(Error, ValueError):
    """A device's budget does not cover a report, is unknown, or is being spent by another call. No
    report was made.
    """


# Environments, data and sweeps


class EnvironmentExhausted(Error):
    """A finite environment has no further round."""


class DataError(Error, ValueError):
    """A data file is not what its loader expects. The message names the place, never a value."""


class ConfigError(Error, ValueError):
    """A sweep file cannot be used. The message names the file and the field, and says what to
    write.
    """


class MissingDataError(ConfigError):
    """A file of real data that a sweep names does not exist."""


class DamagedCellError(Error, ValueError):
    """A stored cell cannot be trusted. The message names the file."""


class WorkerError(Error, ConnectionError):
    """The workers of a sweep cannot be reached, were lost, or run other code. Finished cells are
    kept.
    """


# Checks


class CheckFailed(Error, AssertionError):
    """A policy, mechanism or environment breaks its contract. The message says where."""


class RequestsDiffer(CheckFailed):
    """With other rewards, a policy requests other noise. If its mechanism hides how often it draws,
    that alone proves no leak.
    """


class OracleCheckFailed(Error, AssertionError):
    """A decision set breaks its contract. The message says where."""


class Diverged(Error, AssertionError):
    """A replay requested another action than the recording: a decision depends on a reward."""


# Internal to an audit. No caller sees them.


class Leak(Error):
    """A replay diverged.

    Args:
        certain: True if nothing was drawn until then: the decisions are a function of the rewards,
            and no ε holds.
    """

    def __init__(self, message: str, certain: bool = False) -> None:
        super().__init__(message)
        self.certain = certain


class Foreign(Error):
    """Replays of this subject prove nothing: a run is not a function of rewards, noise and coins,
    or its input cannot be replaced.
    """


class Unclear(Foreign):
    """Replays of this neighbour prove nothing; replays of others may."""


class Undecided(Error):
    """A linear program took too long."""


class Parting(Error):
    """The runs of a group diverge at this draw, which takes a noise source."""

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        super().__init__()
        self.draw = draw


class Tossed(Error):
    """A group's policy uses public randomness, which each run has for itself."""


class MixedRuns(Error):
    """Runs that were played together differ from the same runs alone; they are then played one by
    one.
    """


class NotSteps(Error):
    """The report is not a function of few coins with few switches, so its law is not computed."""
