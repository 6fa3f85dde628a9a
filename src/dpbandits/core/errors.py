"""Every exception of the package, under one base: `except dpb.Error` catches them all."""

from collections.abc import Callable
from typing import Any

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
    "NotForThisKeyError",
    "NotRecordedError",
    "OracleCheckFailed",
    "RequestsDiffer",
    "RewardError",
    "SharedError",
    "StoreError",
    "UnknownCampaignError",
    "UnlearnedError",
    "WitnessError",
    "WorkerError",
]


class Error(Exception):
    """The base of every exception that this package defines.

    Each of them also keeps the built-in base that fits it, so `except ValueError` still catches a
    `RewardError`. Arguments that no call accepts are not among them: they raise a plain ValueError
    or TypeError, and a file that is not there a FileNotFoundError.
    """


# Sessions


class RewardError(Error, ValueError):
    """A reward that is not a number in [0, 1]. Nothing was recorded."""


class DecisionError(Error, LookupError):
    """A tell or expiry for a decision that is unknown or already resolved. Nothing was recorded."""


class NotRecordedError(Error, RuntimeError):
    """An earlier call left a release or a plan to be done, and it failed again, so this call did
    nothing. Its cause is that failure.

    After the failure itself, in contrast, the reward of the call is recorded.
    """


class HorizonError(Error, ValueError):
    """A policy is played for longer than it was made for. Nothing was released, nor ever will be;
    what was released before stands.
    """


class SharedError(Error, RuntimeError):
    """A session was used by two threads at once, in a forked child, or from within one of its own
    calls. Nothing was done.
    """


class ClosedError(Error, RuntimeError):
    """A session or campaign that was closed makes no further decision, and its arms stay as they
    are. Nothing was done.
    """


# Campaigns


class StoreError(Error, RuntimeError):
    """A store that cannot be used: no such database, of a newer version, gone for the moment, or
    one that would forget what it committed. Whatever was under way can be done again.
    """


class EditedRowsError(StoreError):
    """Rows of a campaign are not those that were written: they were edited, deleted or put back one
    by one. Nothing was done, and nothing is released from them.

    fenced: whether the campaign goes on by itself, once all that was open is given up; else a copy
        of the whole database has to be put back.
    """

    fenced: bool = False


class UnlearnedError(StoreError):
    """A release was made, and what the policy should have learned from it failed. The release is
    given up: how it failed may depend on the noise, so its block is not read again. The next call
    fences the campaign.
    """


class NameTakenError(Error, ValueError):
    """A campaign, or an access key, of this name is there already. Nothing was created."""


class UnknownCampaignError(Error, KeyError):
    """There is no campaign of this name."""

    def __str__(self) -> str:  # a KeyError shows its text in quotes
        return str(self.args[0]) if self.args else ""


class NotForThisKeyError(Error, PermissionError):
    """The key is one of this server, and opens something else. Nothing was done."""


class WitnessError(Error, RuntimeError):
    """Database and witness do not belong together, and not because the database was restored: the
    witness is missing, or is another one. Nothing was done.
    """


class LedgerError(Error, RuntimeError):
    """The counts of a run do not add up: something was counted twice, or would be read twice.
    Nothing was released.

    No call mends it. The run can only be given up, or continued from an older saved copy.
    """


class DamagedSessionError(Error, ValueError):
    """A saved session or estimator that cannot be loaded. The message names the part, never the
    value, which may be private.
    """


# The user's device


class MessageError(Error, ValueError):
    """Text that is not a message of the local protocol. The error does not repeat it: a broken
    client may have put a reward into it.
    """


class BudgetError(Error, ValueError):
    """A device's budget has less left than a report costs, or nobody knows what is left, or another
    call is spending it already. No report was made.
    """


# Environments, data and sweeps


class EnvironmentExhausted(Error):
    """A finite environment has no further round."""


class DataError(Error, ValueError):
    """A data file that is not what its loader expects. Messages name the place, never a value."""


class ConfigError(Error, ValueError):
    """A sweep file that cannot be used; the message names the file, the field and what to write
    there.
    """


class MissingDataError(ConfigError):
    """A file of real data that a sweep names is not there."""


class DamagedCellError(Error, ValueError):
    """A stored cell that cannot be trusted; the message names the file."""


class WorkerError(Error, ConnectionError):
    """The workers that should play a sweep cannot be reached, were lost, or run other code. What
    was finished is kept.
    """


# Checks


class CheckFailed(Error, AssertionError):
    """A policy broke a promise; the message says which."""


class RequestsDiffer(CheckFailed):
    """Other rewards make a policy ask the noise for something else. If its mechanism hides how
    often it draws, that alone proves no leak.
    """


class OracleCheckFailed(Error, AssertionError):
    """A decision set broke a promise; the message says which, and shows where."""


class Diverged(Error, AssertionError):
    """A replay asked for something else than the recording: a decision depends on a reward."""


# Inside an audit: one part raises these and another catches them. No caller meets them.


class Leak(Error):
    """A replay diverged. certain: it drew nothing until then, so its answers are a function of the
    rewards and no epsilon holds.
    """

    def __init__(self, message: str, certain: bool = False) -> None:
        super().__init__(message)
        self.certain = certain


class Foreign(Error):
    """Replays of this subject prove nothing: the same rewards, noise and coins do not give the same
    run, or nobody can say what other rewards would need.
    """


class Unclear(Foreign):
    """Replays of this neighbour prove nothing; replays of others may."""


class Undecided(Error):
    """A programme took too long."""


class DrawsExhausted(Error):
    """Scripted noise was asked for more draws than its script has."""


class Parting(Error):
    """The runs of a group part at this draw, which takes a noise source."""

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        super().__init__()
        self.draw = draw


class Tossed(Error):
    """A group's policy uses public randomness, which each run has for itself."""


class MixedRuns(Error):
    """Runs played at once are not what each of them is alone: they are played one by one then."""


class Unfit(Error):
    """The exact law of this subject cannot be computed; the message says why."""


class NotSteps(Error):
    """The report is no function of few coins with few switches: its law is not computed."""


class Changed(Error):
    """No noise was found that makes the same report of another reward; there may be some."""
