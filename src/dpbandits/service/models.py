"""What campaigns show and reply, as models that server and client share. All of it is public."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from fractions import Fraction
from inspect import signature
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self, final, get_type_hints

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    Strict,
    create_model,
)

from dpbandits.core.inputs import converted
from dpbandits.core.privacy import Guarantee
from dpbandits.core.tables import NONE, Columns, Tabular, types_of
from dpbandits.forecasting.forecast import ExpectedLoss
from dpbandits.policies.contract import ArmLabel
from dpbandits.service.tables import ScopeRow
from dpbandits.session.beliefs import Belief, Beliefs, SideMean, Uplift
from dpbandits.session.contexts import Predictions
from dpbandits.session.guardrail import Guardrail
from dpbandits.session.lift import ArmLift, ArmPart, Lift, Shares
from dpbandits.session.ranges import Range
from dpbandits.session.saving import as_plain
from dpbandits.session.state import SessionEvent
from dpbandits.session.statement import time_words
from dpbandits.session.traffic import Answers, SampleRatio, Traffic

Exact = Annotated[
    Fraction, BeforeValidator(Fraction), PlainSerializer(str, return_type=str, when_used="json")
]
"""An exact fraction; in JSON a text such as "1/2"."""


class Body(BaseModel):
    """What a caller sends, or a part of it. A field that is not known is refused."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True, frozen=True)


class Record(BaseModel):
    """A reply, or a row of one."""

    model_config = ConfigDict(
        frozen=True,
        hide_input_in_errors=True,
        from_attributes=True,
        ser_json_timedelta="float",
    )


if TYPE_CHECKING:  # as for `Decision`, whatever is validated
    AnyAction = Any
    Observed = tuple[int, ...] | Any
    Named = str | Any
else:
    # weights of 0 and 1 are no super arm
    AnyAction = int | tuple[Annotated[int, Strict()], ...] | tuple[float, ...]
    Observed, Named = tuple[int, ...] | None, ArmLabel


class LedgerLine(Record):
    """A reading: rewards `start` to `stop` (exclusive) of a coordinate, in one release.

    Args:
        cost: what it cost a record, an exact fraction as text; None: read without noise.
        kind: "lost" for what a timeline that was lost may have read.
    """

    generation: int
    coordinate: int
    start: int
    stop: int
    cost: str | None
    kind: Literal["read", "lost"] = "read"


class StoredRelease(Record):
    """A release.

    Args:
        coordinates: of which arms. answers: as noised.
        asked: decisions until then.
        made_at: seconds since 1970.
    """

    step: int
    generation: int
    coordinates: tuple[int, ...]
    answers: tuple[Any, ...]
    asked: int
    made_at: float


class StoredDecision(Record):
    """A decision, for analysts.

    Args:
        id: the round that its ask said.
        propensity: how likely it was; None where it was drawn from a posterior.
        eligible: the arms it was chosen among; None: all.
        waiting: whether it has no answer yet; None where that is private.
    """

    id: int
    action: AnyAction
    label: Named
    propensity: float | None
    eligible: tuple[int | str, ...] | None
    learn: bool
    asked_at: float
    waiting: bool | None


@final
class DecisionPage(Record, Tabular):
    """Decisions in order; iterate over them. after: what to ask for next; None: these were the
    last.
    """

    decisions: tuple[StoredDecision, ...]
    after: int | None

    @property
    def rows(self) -> tuple[StoredDecision, ...]:
        return self.decisions

    def __iter__(self) -> Iterator[StoredDecision]:  # type: ignore[override]  # not of its fields
        return iter(self.decisions)

    def __len__(self) -> int:
        return len(self.decisions)

    def __repr__(self) -> str:
        more = "the last" if self.after is None else f"more after={self.after}"
        return f"{len(self.decisions):,} decisions ({more})"

    def cells(self) -> Iterator[list[str]]:
        """The decisions for a spreadsheet: of each its fields as text."""
        for row in zip(*self._columns().values(), strict=True):
            yield list(map(safe_cell, row))

    def _columns(self) -> dict[str, list[Any]]:
        columns = Columns(
            {
                name: [getattr(row, name) for row in self.decisions]
                for name in StoredDecision.model_fields
            }
        )
        columns["eligible"] = [
            None if arms is None else str(list(arms)) for arms in columns["eligible"]
        ]
        types = types_of(StoredDecision)
        columns.types = {**types, "action": (int,), "label": (str, NONE), "eligible": (str, NONE)}
        return columns


def safe_cell(value: object) -> str:
    """A cell as text; what a spreadsheet would compute is marked as such."""
    text = "" if value is None else str(value)
    return "'" + text if isinstance(value, str) and text[:1] in "=+-@\t\r" else text


class CampaignEvent(Record):
    """A public event of a campaign. about: an arm, say. asked: decisions until then; by: who."""

    at: float
    what: str
    about: str | None
    asked: int
    by: str | None


class ArmState(NamedTuple):
    """An arm, by its name or number, and where it stands: active, paused or retired."""

    arm: Any
    status: str


Arms = Annotated[
    tuple[ArmState, ...],
    PlainSerializer(
        lambda arms: [each._asdict() for each in arms], return_type=list[dict[str, Any]]
    ),
]
"""Arms; in JSON objects."""


class Summary(Record):
    """A campaign in a few numbers.

    Args:
        version, waiting, told: None where they are private, because they tell who answered. told:
            decisions that were answered, or expired.
        void: decisions that were never carried out, or given up.
        segments: the names of its parts, where these are counts over all of them.
        overdue: arms whose first block waits for requests that are overdue.
        winner: the arm that a campaign shows which is closed.
        closes_at: until when a campaign that was closed waits for answers, in seconds since 1970.
        features: numbers in a context; None where the policy decides without.
    """

    name: str
    policy: str
    guarantee: str | None
    epsilon: str | None
    generation: int
    version: int | None
    step: int
    asked: int
    waiting: int | None
    told: int | None
    closed: str | None
    arms: Arms
    created: float
    segments: tuple[str, ...] = ()
    overdue: int = 0
    winner: str | int | None = None
    closes_at: float | None = None
    features: int | None = None
    void: int = 0

    @property
    def resolved(self) -> int | None:
        """Decisions that are no longer pending; None where that is private."""
        return None if self.told is None else self.told + self.void

    def __str__(self) -> str:
        counts = {"asked": self.asked, "told": self.told, "waiting": self.waiting}
        counts |= {"void": self.void} if self.void else {}
        parts = [f"{number:,} {name}" for name, number in counts.items() if number is not None]
        lines = [
            f"{self.name}: {self.policy}, {', '.join(parts)}, {self.step:,} policy updates",
            self.guarantee or "no privacy",
            "arms: " + ", ".join(f"{arm} ({status})" for arm, status in self.arms),
        ]
        lines += [f"contexts of {self.features} numbers"] if self.features is not None else []
        lines += [f"segments: {', '.join(self.segments)}"] if self.segments else []
        lines += [f"over: {self.closed}"] if self.closed is not None else []
        lines += [f"winner: {self.winner}"] if self.winner is not None else []
        if self.closes_at is not None:
            lines.append(f"answers are waited for until {time_words(self.closes_at)}")
        return "\n".join(lines)


class Summaries(Record):
    """All campaigns. not_shown: names of those whose policy is user-defined: a database names no
    code.
    """

    campaigns: list[Summary]
    not_shown: list[str]


class SentArms(Record):
    """Every arm there ever was."""

    arms: Arms


class SentGuarantee(Record):
    """What a campaign promises. words: as printed; None: no privacy. epsilon: None: no epsilon."""

    words: str | None
    epsilon: Exact | None

    @classmethod
    def of(cls, guarantee: Guarantee | None) -> Self:
        if guarantee is None:
            return cls(words=None, epsilon=None)
        return cls(words=str(guarantee), epsilon=guarantee.epsilon)

    def made(self) -> Self | None:
        return None if self.words is None else self

    def __str__(self) -> str:
        return str(self.words)


def sent_as(kind: Any, words: str = "", /, **others: Any) -> Any:
    """Return the model in which a server sends a dataclass or a named tuple: its fields, by name.
    What has a default may lack in what an earlier server sent.

    Args:
        words: what is said of it to readers of JSON.
        others: the types of fields that are sent otherwise, or that are properties there.
    """
    hints, known = get_type_hints(kind), signature(kind).parameters
    made: dict[str, Any] = {
        name: (hints[name], ... if each.default is each.empty else each.default)
        for name, each in known.items()
    }
    made |= {name: (each, ...) for name, each in others.items()}
    said = f"See `{kind.__name__}`. {words}".strip()
    return create_model(f"Sent{kind.__name__}", __base__=Record, __doc__=said, **made)


def listed(kind: Any) -> Any:
    return list[kind]


if TYPE_CHECKING:  # whose fields it has
    SentBelief = Belief
else:
    SentBelief = sent_as(Belief)
SentBeliefs = sent_as(Beliefs, rows=listed(SentBelief), advice=str)
SentMean = sent_as(SideMean)
SentUplift = sent_as(Uplift, policy=SentMean, holdout=SentMean)
SentLift = sent_as(Lift, rows=listed(sent_as(ArmLift)))
SentShares = sent_as(Shares, rows=listed(sent_as(ArmPart)))
SentEvents = listed(sent_as(SessionEvent))
SentLoss = sent_as(ExpectedLoss)
SentGuardrail = sent_as(Guardrail)

LISTED = BeforeValidator(lambda numbers: np.asarray(numbers).tolist())
SentPredictions = sent_as(
    Predictions,
    "Of an arm's weights θ and their covariance C follow its mean for a context x, x·θ, and its "
    "half-width, (normal + added)·√(x·C x); both are then cut to [0, 1] and put into units.",
    theta=Annotated[list[list[float]], LISTED],
    covariance=Annotated[list[list[list[float]]], LISTED],
    added=Annotated[list[float], LISTED],
    seen=Annotated[list[bool], LISTED],
    units=sent_as(Range, low=float, high=float),
)


def predictions_made(sent: Any) -> Predictions:
    """The predictions that a server sent."""
    arrays = {
        name: np.array(getattr(sent, name)) for name in ("theta", "covariance", "added", "seen")
    }
    return Predictions(**{**dict(sent), **arrays, "units": Range(**dict(sent.units))})


SentRatio = sent_as(
    SampleRatio,
    "words, evidence, alarm: what it says.",
    words=str,
    evidence=float,
    alarm=bool,
    traffic=dict[str, Any],
    answers=sent_as(Answers) | None,
)


def ratio_sent(ratio: SampleRatio) -> dict[str, Any]:
    """A sample ratio as it is sent."""
    said = {"words": str(ratio), "evidence": ratio.evidence, "alarm": ratio.alarm()}
    traffic = as_plain(ratio.traffic)
    return {**said, "labels": ratio.labels, "traffic": traffic, "answers": ratio.answers}


def ratio_made(sent: Any) -> SampleRatio:
    """The sample ratio that a server sent."""
    answers = None if sent.answers is None else Answers(**dict(sent.answers))
    return SampleRatio(sent.labels, converted(sent.traffic, Traffic, "traffic"), answers)


class Moment(Record):
    """What was believed after one release. asked: decisions until then; at: seconds since 1970."""

    step: int
    asked: int
    at: float
    arms: tuple[SentBelief, ...]


class ArmShare(Record):
    """How often an arm (or action) was shown among the newest decisions."""

    label: str
    decisions: int


class Recent(Record):
    """The newest decisions, after `after` up to `until`, by what was shown."""

    after: int
    until: int
    arms: tuple[ArmShare, ...]


class Rights(Record):
    """What the caller's access key may do. campaign: the only one; None: any."""

    name: str
    roles: tuple[str, ...]
    campaign: str | None


class Scope(Record):
    """A budget over campaigns, and how much of it campaigns have taken.

    Args:
        taken: what each campaign took of it. Less than `spent` altogether if campaigns were lost
            with a restored database.
        unit, window, trust, noise: what the epsilons of its campaigns are about, fixed by the first
            campaign; None before it. unit: "round" or "user". window: of contributions, None where
            a cap is for ever. trust: "central" or "local". noise: "secure" or "simulated".
    """

    name: str
    epsilon: Exact
    spent: Exact
    unit: str | None = None
    window: timedelta | None = None
    trust: str | None = None
    noise: str | None = None
    taken: dict[str, Exact] = Field(default_factory=dict)

    @property
    def left(self) -> Fraction:
        """What further campaigns may take."""
        return self.epsilon - self.spent

    @classmethod
    def of(cls, row: ScopeRow, taken: Mapping[str, str]) -> Self:
        window = None if row.window is None else timedelta(seconds=row.window)
        return cls(**{**row._asdict(), "window": window, "taken": dict(taken)})


class Problem(BaseModel):
    """What went wrong (RFC 9457). code: for programs. errors: of a body of another shape, where and
    what.
    """

    type: str = "about:blank"
    title: str
    status: int
    code: str
    detail: str
    errors: list[dict[str, str]] = Field(default_factory=list)
