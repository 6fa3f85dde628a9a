"""What a policy is: a frozen record of hyper-parameters and three pure functions of released
values.

With it, how a policy names its arms and itself, and how it checks its hyper-parameters.
"""

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import (
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Self,
    TypeVar,
    dataclass_transform,
    final,
    overload,
)

from dpbandits.core.inputs import MOST, MOST_ARMS, real_number, shown, whole_number
from dpbandits.core.plan import Action, Plan, PublicRng
from dpbandits.core.privacy import Grid, Guarantee
from dpbandits.mechanisms.base import Mechanism
from dpbandits.mechanisms.randomizers import Randomizer
from dpbandits.oracles.base import DecisionSet

# Names of arms: what a user calls them.


ArmLabel = str | tuple[str, ...] | None
"""What a user calls an action."""


class ArmLabels(tuple[str, ...]):
    """The names of the arms, by their numbers; none where arms have no names.

    >>> ArmLabels(("blue", "green")).of(1)
    'green'
    """

    __slots__ = ()

    def of(self, action: Action) -> ArmLabel:
        """What an action is called: an arm's name, or those of a super arm's arms."""
        if not self or (isinstance(action, tuple) and any(type(arm) is float for arm in action)):
            return None
        if isinstance(action, tuple):
            return tuple(self[int(arm)] for arm in action)
        return self[action]


LONGEST_LABEL = 200
"""Characters of a name."""


def refuse_one_text(arms: object) -> None:
    """Refuse names that are given as one text, such as "blue,green".

    Raises:
        ValueError: it is one.
    """
    if isinstance(arms, str) and not arms.strip().isdecimal():
        names = [part.strip() for part in arms.split(",")]
        raise ValueError(
            f"Expected arms={shown(arms)} to be a whole number or a list of names; write "
            f"arms={shown(names)}."
        )


def checked_arm_labels(labels: Sequence[object]) -> tuple[str, ...]:
    """Names of arms: text that can be printed, each once.

    Raises:
        ValueError: another thing, or one twice.

    >>> checked_arm_labels(["blue", "blue"])
    Traceback (most recent call last):
    ValueError: Expected each arm to have a name of its own; 'blue' stands there twice.
    """
    for label in labels:
        if (
            not isinstance(label, str)
            or not label.isprintable()
            or not 1 <= len(label) <= LONGEST_LABEL
        ):
            raise ValueError(
                f"Expected names of arms to be text of 1 to {LONGEST_LABEL} characters that can be "
                f"printed, got {shown(label)}."
            )
    names = tuple(str(label) for label in labels)
    if len(set(names)) < len(names):
        twice = next(name for name, times in Counter(names).items() if times > 1)
        raise ValueError(
            f"Expected each arm to have a name of its own; {shown(twice)} stands there twice."
        )
    return names


# The public half of an algorithm: a frozen record of hyper-parameters and three pure functions of
# released values.


Feedback = Literal["bandit", "semi", "full"]
"""What a round shows: the reward of the arm that was played; of every arm of a super arm; of all
arms, whatever was played.
"""


class Release(NamedTuple):
    """Public: what a mechanism answered at a plan's end (nothing, for a plan that releases
    nothing).

    answers: an `Answer` for each coordinate; of a whole record, what its mechanism says of it (see
        there).
    round: rewards recorded so far. told: (action, rewards recorded since the plan began), by
        action; by the arms observed, where a plan names them.
    harm: with a guardrail, an `Answer` about the harm of each coordinate's newest block.
    """

    coordinates: tuple[int, ...]
    answers: tuple[Any, ...]
    round: int
    told: tuple[tuple[Any, int], ...]
    harm: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What is known of an algorithm: for `dpbandits explain`, the table of policies and the
    checks.
    """

    paper: str
    algorithm: str
    bound: str
    proof: str = ""  # page in proofs/; empty for a policy without privacy
    twin: str = ""  # its non-private counterpart, for the price of privacy
    privacy: Literal["none", "pure", "zCDP", "local"] = "pure"
    feedback: Feedback = "bandit"
    needs_horizon: bool = False
    randomised: bool = False  # plans draw public randomness each round (`Draw`)
    every_round: bool = False  # releases after every round
    # throws blocks away unread (`Hold.drop`): after every reading once at most, or, where records
    # are read together, for as long as it releases nothing
    drops: bool = False
    narrow: bool = False  # of a super arm it reads one reward, that of the least-read arm
    matroid: bool = False  # of the problems for super arms it plays matroids only
    theory: bool = True  # the bound is proved
    # what `bound` is a bound of: regret, or the samples a stopping rule takes
    goal: Literal["regret", "estimate"] = "regret"


Made = TypeVar("Made")


class ArmsField:
    """The field `arms`: given as a number or as the names of the arms, of which `Policy` keeps the
    number. Type checkers read both from here.
    """

    @overload
    def __get__(self, policy: None, cls: type[Any]) -> Self: ...
    @overload
    def __get__(self, policy: object, cls: type[Any]) -> int: ...
    def __get__(self, policy: object | None, cls: type[Any]) -> Any:
        if policy is None:
            raise AttributeError("arms")  # so the field has no default
        return policy.__dict__["arms"]

    def __set__(self, policy: object, arms: int | Sequence[str]) -> None:
        policy.__dict__["arms"] = arms


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
def policy_dataclass(cls: type[Made]) -> type[Made]:
    """Make a class a frozen dataclass whose arguments are given by name, as every policy is.

    Type checkers are not told that it is frozen: of frozen classes they do not understand a field
    like `arms`, which is given as one type and read as another.
    """
    return dataclass(frozen=True, kw_only=True)(cls)


@policy_dataclass
class Policy(ABC):
    """A bandit policy over `arms` arms; an algorithm says what it plans and how a release changes
    its state.

    State is a NamedTuple of plain numbers and tuples: a fold of releases that can be printed,
    stored as JSON, rebuilt.

    Whole numbers may come as any kind (numpy's, say) and are kept as plain ints.

    Args:
        arms: number of arms; or their names, ["blue", "green"].
        grid: public steps per unit of reward; 1 for 0/1 rewards.

    Raises:
        ValueError: fewer than one arm, or more than `MOST_ARMS`.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]
    arms: ArmsField = ArmsField()
    labels: tuple[str, ...] | None = field(default=None, init=False, repr=False)
    about: ClassVar[About]
    # whether it can choose among some of its arms: by the largest index, or a draw, of those
    chooses: ClassVar[bool] = False

    def __post_init__(self) -> None:
        arms: object = self.arms
        refuse_one_text(arms)
        if isinstance(arms, (list, tuple)):
            object.__setattr__(self, "labels", checked_arm_labels(arms))
            object.__setattr__(self, "arms", len(arms))
        self._whole("arms", high=MOST_ARMS)
        if hasattr(self, "grid"):
            object.__setattr__(self, "grid", Grid(steps=self.grid).steps)
        self.validate()

    def validate(self) -> None:  # noqa: B027  # there may be nothing to check
        """Check and normalise further hyper-parameters. Called once, on construction."""

    @final
    @property
    def name(self) -> str:
        preset = getattr(self, "preset", None)
        default = next((f.default for f in fields(self) if f.name == "preset"), None)
        return type(self).__name__ + (f"[{preset}]" if preset != default else "")

    @abstractmethod
    def mechanism(self) -> Mechanism:
        """What reads the rewards."""

    @abstractmethod
    def init(self) -> Any:
        """The state before anything was released."""

    @abstractmethod
    def plan(self, state: Any, rng: PublicRng) -> Plan:
        """What to play until the next release."""

    @abstractmethod
    def update(self, state: Any, plan: Plan, release: Release) -> Any:
        """The state after a release that ended `plan`. A plan without release still moves the
        clock.
        """

    def room(self, state: Any, arm: int) -> int | None:
        """The rounds that an arm's open block still takes, where it closes by its own count of
        answers, whatever is played meanwhile; None where nothing but a plan closes it.
        """
        return None

    def ahead(
        self,
        state: Any,
        asked: Mapping[Action, int],
        rng: PublicRng,
        eligible: Sequence[int] | None = None,
    ) -> Plan | None:
        """What to ask for while answers are awaited. None: the plan goes on.

        asked: by action, the rounds asked for that `state` does not know of: waiting, or told since
            it was made. A public count. Where records are read together: by block that is open, its
            number and the arms that will be read of it.
        eligible: the arms that may be played; None: all. Only policies with `chooses` are asked.
        """
        return None

    def worth_reading(self, plan: Plan) -> int:
        """Where records are read together: from how many rounds on the block of a plan that is left
        for another one is read all the same.
        """
        return 1

    def dropped(self, state: Any, release: Release, arms: Collection[int] | None = None) -> Any:
        """The state once open blocks were dropped unread, though no plan said so: the plan is begun
        anew.

        release: of nothing; it says what was told. arms: whose blocks; None: all of them.
        """
        return state

    @final
    def at(self, budget: Fraction) -> Self:
        """The same policy at another budget: epsilon, or rho under zCDP. What was left to its
        defaults is worked out anew for it.

        Raises:
            ValueError: it has no budget, or the new one is too small for its grid.
        """
        budgets = (n for n in ("epsilon", "rho") if getattr(self, n, None) is not None)
        name = next(budgets, None)
        if name is None:
            raise ValueError(f"{self.name} is not private, so it has no budget to share out.")
        asked = [f for f in fields(self) if f.init]
        needed = {f.name: getattr(self, f.name) for f in asked if f.default is MISSING}
        plain = type(self)(**(needed | {name: getattr(self, name)}))
        own = {
            f.name: getattr(self, f.name)
            for f in asked
            if getattr(self, f.name) != getattr(plain, f.name)
        }
        arms = {"arms": self.labels} if self.labels is not None else {}
        return type(self)(**(needed | own | arms | {name: budget}))

    @final
    def with_arms(self, arms: int | tuple[str, ...]) -> Self:
        """The same policy for so many arms, or for arms of these names, to go on with.

        Raises:
            ValueError: its price depends on the number of arms.
        """
        more = replace(self, arms=arms)
        if more.mechanism() != self.mechanism() or more.randomizer() != self.randomizer():
            raise ValueError(
                f"{self.name} shares its budget out over its arms, so none can be added while it "
                "is at work."
            )
        return more

    def widened(self, state: Any, arms: int) -> Any:
        """The state for so many arms, of which the last were never played."""
        return state

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        """No less than the expected pseudo-regret of `rounds` rounds, at every horizon, with all
        constants: the sum its proof ends in. NaN where none is known.

        means: of the arms' rewards as the grid holds them (0/1 rewards are unchanged); rounds are
            independent, rewards in [0, 1], and none is told late.
        """
        return math.nan

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        """The order of the regret bound, without constants; no bound. NaN where none is proved."""
        return math.nan

    @final
    @cached_property
    def reader(self) -> Mechanism:
        """What `mechanism` makes, made once: for all runs of a simulation, and whoever asks for the
        grid.
        """
        return self.mechanism()

    def randomizer(self) -> Randomizer | None:
        """The user's side, for policies that are private in the local model."""
        return None

    @final
    @property
    def guarantee(self) -> Guarantee | None:
        """What the decisions promise; None for a policy without privacy. A host fills in the kind
        of noise.
        """
        source = self.randomizer() or self.mechanism()
        return source.promise()

    @property
    def weighted(self) -> bool:
        """Whether it plays weights over the actions (and earns their average) instead of one
        action.
        """
        return False

    # Checks of hyper-parameters, for `validate`: each says what was expected and what came

    @final
    def _whole(self, field: str, *, high: int = MOST, of: str = "") -> None:
        """Require a whole number from 1 to `high`, and keep it as a plain int."""
        object.__setattr__(self, field, whole_number(getattr(self, field), field, 1, high, of=of))

    @final
    def _number(self, field: str, low: float, high: float = math.inf) -> None:
        """Require low < field < high, and keep it as a plain number."""
        number = real_number(getattr(self, field))
        if number is None or not low < number < high:
            raise ValueError(
                f"Expected {field}={shown(getattr(self, field))} to be a number with {low:g} < "
                f"{field} < {high:g}."
            )
        object.__setattr__(self, field, number)

    @final
    def _one_of(self, field: str, *allowed: str) -> None:
        value = getattr(self, field)
        if not isinstance(value, str) or value not in allowed:
            raise ValueError(
                f"Expected {field}={shown(value)} to be one of {', '.join(map(repr, allowed))}."
            )

    @final
    def _growing(self, default: Fraction) -> None:
        """Check what batches that grow need: `alpha`, and `first`, the rounds in the first one (if
        it was not given the default, rounded up).
        """
        self._number("alpha", 1.001, 1000)
        if getattr(self, "first", None) is None:
            object.__setattr__(self, "first", math.ceil(default))
        self._whole("first", of="rounds")

    @final
    def _horizon(self, required: bool) -> None:
        given = getattr(self, "horizon", None)
        if required and given is None:
            raise ValueError(
                f"{self.name} needs to know the horizon, the rounds it will be played for: "
                "horizon=10_000, say."
            )
        if given is not None:
            self._whole("horizon", of="rounds")


# How a policy knows over what it decides.


def problem_of(policy: Policy) -> DecisionSet | None:
    """Which super arms it may play (its field `problem`); None for a policy that plays single
    arms.
    """
    problem: DecisionSet | None = getattr(policy, "problem", None)
    return problem


def size_argument(cls: type[Policy]) -> str | None:
    """By which argument a constructor learns the number of arms: problem, actions or arms; None
    where it is always one.
    """
    takes = {field.name for field in fields(cls) if field.init}
    return next((name for name in ("problem", "actions", "arms") if name in takes), None)
