"""The contract of a policy: a frozen record of hyper-parameters and three pure functions of
released values.

It also holds the labels of arms, the facts about an algorithm, the validation of
hyper-parameters, and the step from one plan to the next.
"""

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property, lru_cache, partial
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

from dpbandits.core.errors import coded
from dpbandits.core.inputs import (
    MOST,
    MOST_ARMS,
    as_int,
    real_number,
    require_one_of,
    shown,
    whole_number,
)
from dpbandits.core.plan import EVERY, Action, Cycle, Draw, Hold, Plan, Progress, PublicRng
from dpbandits.core.privacy import Grid, Guarantee
from dpbandits.mechanisms.base import Mechanism
from dpbandits.mechanisms.randomizers import Randomizer
from dpbandits.oracles.base import DecisionSet

# Names of arms.


ArmLabel = str | tuple[str, ...] | None
"""The name of an action."""


class ArmLabels(tuple[str, ...]):
    """The names of the arms by number; empty if the arms have no names.

    >>> ArmLabels(("blue", "green")).of(1)
    'green'
    """

    __slots__ = ()

    def of(self, action: Action) -> ArmLabel:
        """Return the name of an arm, or the names of a super arm's arms; None without names."""
        if not self or (isinstance(action, tuple) and any(type(arm) is float for arm in action)):
            return None
        if isinstance(action, tuple):
            return tuple(self[int(arm)] for arm in action)
        return self[action]


LONGEST_LABEL = 200
"""The most characters of a name."""


def refuse_unlisted_names(arms: object) -> None:
    """Refuse names in one text, such as "blue,green", an array or a set.

    Raises:
        ValueError: `arms` is such names.
    """
    if isinstance(arms, str) and not arms.strip().isdecimal():
        names = [part.strip() for part in arms.split(",")]
        instead = f"{names[:8]}" if len(names) > 1 else f"[{shown(arms)}, …], a name for each arm"
    elif (
        as_int(arms) is None
        and isinstance(arms, Iterable)
        and not isinstance(arms, (str, list, tuple))
    ):
        instead = "list(…)"
    else:
        return
    raise ValueError(
        f"Expected arms={shown(arms)} to be a whole number or a list of names; write "
        f"arms={instead}."
    )


def checked_arm_labels(labels: Sequence[object]) -> tuple[str, ...]:
    """Return the names of arms as printable, different texts.

    Raises:
        ValueError: a name is invalid or repeated.

    >>> checked_arm_labels(["blue", "blue"])
    Traceback (most recent call last):
    ValueError: Expected different names of arms; 'blue' is repeated.
    """
    for label in labels:
        if (
            not isinstance(label, str)
            or not label.isprintable()
            or not 1 <= len(label) <= LONGEST_LABEL
        ):
            raise coded(
                "arm_name",
                ValueError,
                f"Expected names of arms to be text of 1 to {LONGEST_LABEL} characters that can be "
                f"printed, got {shown(label)}.",
            )
    names = tuple(str(label) for label in labels)
    if len(set(names)) < len(names):
        repeated = next(name for name, times in Counter(names).items() if times > 1)
        raise coded(
            "arm_name",
            ValueError,
            f"Expected different names of arms; {shown(repeated)} is repeated.",
        )
    return names


# The public half of an algorithm.


Feedback = Literal["bandit", "semi", "full"]
"""What a round shows: the reward of the arm played ("bandit"), of every arm of a super arm
("semi"), or of all arms ("full").
"""


class Release(NamedTuple):
    """The answers of a mechanism at the end of a plan. Public.

    Args:
        coordinates: the released arms; empty for a plan that releases nothing.
        answers: an `Answer` for each coordinate; for whole records, the answers of their mechanism.
        round: number of rewards recorded so far.
        told: (action, rewards recorded since the plan began), by action; by the observed arms,
            where a plan names them.
        harm: with a guardrail, an `Answer` about the harm of each coordinate's newest block.
    """

    coordinates: tuple[int, ...]
    answers: tuple[Any, ...]
    round: int
    told: tuple[tuple[Any, int], ...]
    harm: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Facts about an algorithm: for `dpbandits explain`, the table of policies and the checks.

    Args:
        paper: authors and year.
        algorithm: name and number of the algorithm in the paper.
        bound: the bound, as a formula.
        proof: page in proofs/; empty for a policy without privacy.
        baseline: name of its baseline without privacy.
        privacy: "none", "pure" (ε-DP), "zCDP", "local" (ε-LDP) or "joint" (ε-joint DP: decisions
            and contexts are protected, too).
        feedback: see `Feedback`.
        needs_horizon: True if the number of rounds must be known.
        randomised: True if plans draw public randomness each round (`Draw`).
        every_round: True if it releases after every round.
        drops: True if it discards blocks without a release (`Hold.drop`): after every release at
            most once, or, where records are released together, for as long as it releases nothing.
        narrow: True if it uses one reward of a super arm, that of the arm with the fewest released
            rewards.
        matroid: True if it plays matroids only.
        theory: True if the bound is proved.
        goal: what `bound` bounds: "regret", or "estimate" for the number of samples of a stopping
            rule.
    """

    paper: str
    algorithm: str
    bound: str
    proof: str = ""
    baseline: str = ""
    privacy: Literal["none", "pure", "zCDP", "local", "joint"] = "pure"
    feedback: Feedback = "bandit"
    needs_horizon: bool = False
    randomised: bool = False
    every_round: bool = False
    drops: bool = False
    narrow: bool = False
    matroid: bool = False
    theory: bool = True
    goal: Literal["regret", "estimate"] = "regret"


Made = TypeVar("Made")


@final
class NamedArms(int):
    """A number of arms that have names, so that a copy of their policy has them, too."""

    labels: tuple[str, ...]

    def __new__(cls, arms: int, labels: tuple[str, ...]) -> Self:
        made = super().__new__(cls, arms)
        made.labels = labels
        return made

    def __getnewargs__(self) -> tuple[int, tuple[str, ...]]:  # type: ignore[override]
        return int(self), self.labels


class ArmsField:
    """The field `arms`: a number or names at construction, kept as a number by `Policy`. Type
    checkers read both types here.
    """

    @overload
    def __get__(self, policy: None, cls: type[Any]) -> Self: ...
    @overload
    def __get__(self, policy: object, cls: type[Any]) -> int: ...
    def __get__(self, policy: object | None, cls: type[Any]) -> Any:
        if policy is None:
            raise AttributeError("arms")  # so that the field has no default
        return policy.__dict__["arms"]

    def __set__(self, policy: object, arms: int | Sequence[str]) -> None:
        policy.__dict__["arms"] = arms


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
def policy_dataclass(cls: type[Made]) -> type[Made]:
    """Make a class a frozen dataclass with keyword-only arguments, as every policy is.

    Type checkers are not told that it is frozen: in frozen classes they reject a field such as
    `arms`, which is set as one type and read as another.
    """
    return dataclass(frozen=True, kw_only=True)(cls)


@policy_dataclass
class Policy(ABC):
    """Base class of policies over `arms` arms: an algorithm defines its plans, and how a release
    changes its state.

    The state is a NamedTuple of plain numbers and tuples, a fold over releases. It can be printed,
    stored as JSON and rebuilt. Whole numbers may be of any integer type (NumPy's, say) and are kept
    as ints.

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
    # True if it can choose among a subset of its arms, by the largest index or by a draw
    chooses: ClassVar[bool] = False

    def __post_init__(self) -> None:
        arms: object = self.arms
        refuse_unlisted_names(arms)
        if isinstance(arms, NamedArms):  # from `dataclasses.replace`
            object.__setattr__(self, "labels", arms.labels)
        elif isinstance(arms, (list, tuple)):
            object.__setattr__(self, "labels", checked_arm_labels(arms))
            object.__setattr__(self, "arms", len(arms))
        self._whole("arms", high=MOST_ARMS)
        if self.labels is not None:
            object.__setattr__(self, "arms", NamedArms(self.arms, self.labels))
        if hasattr(self, "grid"):
            object.__setattr__(self, "grid", Grid(steps=self.grid).steps)
        self.validate()
        if not isinstance(getattr(self, "about", None), About):
            raise TypeError(
                f"Expected {type(self).__name__} to have facts about its algorithm: write about: "
                "ClassVar[About] = About(paper=…, algorithm=…, bound=…) in the class."
            )

    def validate(self) -> None:  # noqa: B027  # there may be nothing to check
        """Check and normalise further hyper-parameters. Called once, on construction."""

    @final
    @property
    def name(self) -> str:
        """The class name, with the preset if it is not the default."""
        preset = getattr(self, "preset", None)
        default = next((f.default for f in fields(self) if f.name == "preset"), None)
        return type(self).__name__ + (f"[{preset}]" if preset != default else "")

    @abstractmethod
    def mechanism(self) -> Mechanism:
        """Return the mechanism that releases the rewards."""

    @abstractmethod
    def init(self) -> Any:
        """Return the state before any release."""

    @abstractmethod
    def plan(self, state: Any, rng: PublicRng) -> Plan:
        """Return what to play until the next release.

        Args:
            state: the state.
            rng: public randomness of this step.

        Returns:
            A `Hold` of one action, a `Cycle` through several arms, or a `Draw` of an arm a round;
            each names the blocks that are released at its end.
        """

    @abstractmethod
    def update(self, state: Any, plan: Plan, release: Release) -> Any:
        """Return the state after a release that ended `plan`. A plan without a release still
        advances the round.

        Args:
            state: the state from which the plan was made.
            plan: the plan, as `plan` or `ahead` returned it.
            release: what was released, and how many rewards were recorded.
        """

    def room(self, state: Any, arm: int) -> int | None:
        """Return the rewards that an arm's open batch still needs; None if only the end of the plan
        closes it.

        Args:
            state: the state; of the open batch it includes what was recorded until the last plan
                ended.
            arm: its number.
        """
        return None

    def ahead(
        self,
        state: Any,
        asked: Mapping[Action, int],
        rng: PublicRng,
        eligible: Sequence[int] | None = None,
    ) -> Plan | None:
        """Return the plan for requests while rewards are pending. None continues the current plan.

        Args:
            state: the state.
            asked: by action, the number of rounds that were requested and that `state` does not
                include, whether pending or recorded. A public count. Where records are released
                together: by open block, its number and the arms that will be released.
            rng: public randomness of this step.
            eligible: the arms that may be played; None for all. Given only to policies with
                `chooses`.
        """
        return None

    def worth_reading(self, plan: Plan) -> int:
        """Return the number of rounds from which the block of an abandoned plan is released
        nevertheless, where records are released together.

        Args:
            plan: the abandoned plan.
        """
        return 1

    def dropped(self, state: Any, release: Release, arms: Collection[int] | None = None) -> Any:
        """Return the state after an unplanned drop of open blocks; the plan starts again.

        Args:
            state: the state.
            release: a release of nothing, which has the recorded counts.
            arms: arms whose blocks were dropped; None for all.
        """
        return state

    @final
    def at(self, budget: Fraction) -> Self:
        """Return the same policy with another budget: ε, or ρ under zCDP. Defaults are computed for
        the new budget.

        Raises:
            ValueError: it has no budget, or the new one is too small for its grid.
        """
        budgets = (n for n in ("epsilon", "rho") if getattr(self, n, None) is not None)
        name = next(budgets, None)
        if name is None:
            raise ValueError(f"{self.name} is not private, so it has no budget to share out.")
        settings = [f for f in fields(self) if f.init]
        needed = {f.name: getattr(self, f.name) for f in settings if f.default is MISSING}
        plain = type(self)(**(needed | {name: getattr(self, name)}))
        changed = {
            f.name: getattr(self, f.name)
            for f in settings
            if getattr(self, f.name) != getattr(plain, f.name)
        }
        arms = {"arms": self.labels} if self.labels is not None else {}
        return type(self)(**(needed | changed | arms | {name: budget}))

    @final
    def with_arms(self, arms: int | tuple[str, ...]) -> Self:
        """Return the same policy for more arms, or for arms of these names, to continue with.

        Raises:
            ValueError: its privacy cost depends on the number of arms.
        """
        more = replace(self, arms=arms)
        if more.mechanism() != self.mechanism() or more.randomizer() != self.randomizer():
            raise ValueError(
                f"{self.name} divides its budget among its arms, so no arm can be added once it "
                "is in use."
            )
        return more

    def among(self, state: Any, arms: Collection[int] | None) -> Any:
        """Return the state to plan from while only some arms are in play. A batch rule that
        compares arms compares no others.

        Args:
            state: the state.
            arms: the numbers of these arms; None for all.
        """
        return state

    def widened(self, state: Any, arms: int) -> Any:
        """Return the state once arms were added, which were never played.

        Args:
            state: the state before.
            arms: number of arms from now on; the new ones have the last numbers.
        """
        return state

    def regret_bound(self, means: Sequence[float], rounds: int) -> float:
        """Return an upper bound of the expected pseudo-regret of `rounds` rounds, with all
        constants.

        It holds at every horizon: it is the sum in which the proof ends. Rounds are independent,
        rewards lie in [0, 1], and no reward is late.

        Args:
            means: mean rewards, shape (arms,), after rounding to the grid (0/1 rewards are
                unchanged).
            rounds: number of rounds.

        Returns:
            The bound; NaN if none is known.
        """
        return math.nan

    def regret_order(self, means: Sequence[float], rounds: int) -> float:
        """Return the order of the regret bound, without constants; NaN if none is proved. It is not
        a bound.

        Args:
            means: mean rewards, shape (arms,).
            rounds: number of rounds.
        """
        return math.nan

    @final
    @cached_property
    def reader(self) -> Mechanism:
        """The result of `mechanism`, created once for all runs of a simulation."""
        return self.mechanism()

    def randomizer(self) -> Randomizer | None:
        """Return the user's side of a policy that is private in the local model; None for
        others.
        """
        return None

    @final
    @property
    def guarantee(self) -> Guarantee | None:
        """The guarantee of the decisions; None for a policy without privacy. A session adds the
        kind of noise.
        """
        source = self.randomizer() or self.mechanism()
        return source.guarantee

    @property
    def weighted(self) -> bool:
        """True if it plays weights over the actions (and earns their average) instead of one
        action.
        """
        return False

    # Checks of hyper-parameters, for `validate`

    @final
    def _whole(self, field: str, *, high: int = MOST, of: str = "") -> None:
        """Require a whole number from 1 to `high`, and keep it as an int."""
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
        require_one_of(getattr(self, field), field, *allowed)

    @final
    def _growing(self, default: Fraction) -> None:
        """Check the fields of growing batches: `alpha`, and `first`, the rounds in the first batch
        (None: the default, rounded up).
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


# The decisions of a policy.


def problem_of(policy: Policy) -> DecisionSet | None:
    """Return the decision set of a policy (its field `problem`); None for a policy that plays
    single arms.
    """
    return getattr(policy, "problem", None)


def size_argument(cls: type[Policy]) -> str | None:
    """Return the argument by which a constructor learns the number of arms: problem, actions or
    arms; None if it is fixed.
    """
    takes = {field.name for field in fields(cls) if field.init}
    return next((name for name in ("problem", "actions", "arms") if name in takes), None)


# A step: the period between two releases. Simulations begin steps here, and end them in
# `simulation.plain.next_step`; sessions in `session.state.opened` and, in two commits, in
# `Session._advance`.


Public = Callable[[int], PublicRng]
"""Creates the public randomness of a step."""


class Step(NamedTuple):
    """The period between two releases, an immutable value. Public.

    Args:
        state: the policy's state.
        number: number of steps before this one.
        rng: public randomness of this step.
        plan: the policy's plan.
        progress: recorded decisions of the plan.
    """

    state: Any
    number: int
    rng: PublicRng
    plan: Plan
    progress: Progress


def checked_plan(policy: Policy, state: Any, rng: PublicRng) -> Plan:
    """Return what a policy plans from this state.

    Raises:
        TypeError, ValueError: it cannot be played (see `require_plan`).
    """
    return require_plan(policy, policy.plan(state, rng), "plan")


def require_plan(policy: Policy, plan: object, method: str) -> Plan:
    """Return the plan that a policy's method returned, if it can be played and ended.

    Raises:
        TypeError: it is not a plan, or not of tuples and Python's own whole numbers.
        ValueError: it plays no arm, one that there is not, no round, or what is not of the policy's
            kind; or it ends with what is no coordinate, or with one twice.
    """
    arms, feedback = policy.arms, policy.about.feedback
    if not isinstance(plan, (Hold, Cycle, Draw)):
        raise TypeError(
            f"Expected {policy.name}.{method}() to return a Hold, Cycle or Draw of "
            f"dpbandits.core.plan, got an object of type {type(plan).__name__}."
        )
    played, counts, ends = parts_of_plan(plan)
    are_tuples = {type(each) for each in (played, counts, *ends)} == {tuple}
    whole = (*counts, *(() if policy.weighted else played)) if are_tuples else ()
    if set(map(type, whole)) != {int}:
        raise TypeError(
            f"Expected {policy.name}.{method}() to plan tuples of arms and whole numbers of "
            f"rounds, got {shown(plan)}: write int(arm), int(rounds) and tuple(arms)."
        )
    if isinstance(plan, Draw) and len(plan.limits) != arms:
        raise ValueError(
            f"Expected {policy.name}.{method}() to plan a Draw with a limit for each of its {arms} "
            f"arms, got {len(plan.limits)}."
        )
    known, left = arms_up_to(arms), sum(ends, ())
    if not (
        are_different(left, RECORD if feedback == "full" else known)
        and (policy.weighted or are_different(played, known))
        and bool(played)
        and min(counts) >= 1
        and is_of_kind(plan, feedback)
    ):
        what = {"bandit": "one arm at a time", "semi": "tuples of arms"}.get(feedback, "actions")
        last = "records, as (EVERY,)" if feedback == "full" else f"arms from 0 to {arms - 1}"
        raise ValueError(
            f"Expected {policy.name}.{method}() to play {what}, from 0 to {arms - 1}, for one "
            f"round or more, and then to release or drop {last}, each once; got {shown(plan)}."
        )
    return plan


def parts_of_plan(plan: Plan) -> tuple[Any, Any, tuple[Any, ...]]:
    """Return the arms that a plan names to be played, its numbers of rounds, and what it ends
    with.
    """
    if isinstance(plan, Hold):
        action = plan.action if isinstance(plan.action, tuple) else (plan.action,)
        return action, (plan.rounds,), (plan.release, plan.drop)
    if isinstance(plan, Cycle):
        return plan.actions, (plan.each,), (plan.release,)
    has_total = plan.total is not None and isinstance(plan.limits, tuple)
    return (0,), (*plan.limits, plan.total) if has_total else plan.limits, (plan.waiting,)


RECORD = frozenset((EVERY,))


@lru_cache(maxsize=4)
def arms_up_to(arms: int) -> frozenset[int]:
    return frozenset(range(arms))


def are_different(values: tuple[Any, ...], among: frozenset[int]) -> bool:
    return len(among.intersection(values)) == len(values)


def is_of_kind(plan: Plan, feedback: Feedback) -> bool:
    """Return whether a `Hold` plays what a policy of this feedback plays."""
    if not isinstance(plan, Hold) or feedback == "full":
        return True
    if not isinstance(plan.action, tuple):
        return feedback == "bandit" and plan.observe is None
    return feedback == "semi" and set(plan.observe or ()).issubset(plan.action)


def begin_step(policy: Policy, state: Any, number: int, public: Public) -> Step:
    """Return the step that a policy plans from this state.

    Args:
        policy: the policy.
        state: its state.
        number: number of steps before this one.
        public: creates the public randomness of a step. It is only passed on, so that a caller can
            see whether a policy uses it.
    """
    rng = public(number)
    plan = checked_plan(policy, state, rng)
    return Step(state, number, rng, plan, Progress(plan, partial(policy.room, state)))


def step_after(policy: Policy, current: Step, release: Release, public: Public) -> Step:
    """Return the step after a release: update, then plan."""
    state = policy.update(current.state, current.plan, release)
    return begin_step(policy, state, current.number + 1, public)


@final
class PlanReplay:
    """Replays a policy's plans along given releases."""

    def __init__(self, policy: Policy, seed: int) -> None:
        self.policy, self.public = policy, partial(PublicRng, seed)
        self.current = begin_step(policy, policy.init(), 0, self.public)

    def after(self, release: Release) -> str:
        """Return the repr of the plan after one more release."""
        self.current = step_after(self.policy, self.current, release, self.public)
        return repr(self.current.plan)
