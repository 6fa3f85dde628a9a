"""The recommended policy for a problem. Figures come from docs/measured/regret.md."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal, overload

from dpbandits.core.inputs import require_one_of, shown, whole_number
from dpbandits.oracles.base import DecisionSet
from dpbandits.oracles.matroids import Matroid
from dpbandits.policies.base import PrivatePolicy
from dpbandits.policies.contextual import DPLinTS
from dpbandits.policies.cumulative import DPRateIMED
from dpbandits.policies.every_round import LDPKLUCB
from dpbandits.policies.experts import RNMFTNL
from dpbandits.policies.identification import CTBTT, AdaPTT
from dpbandits.policies.joint import DPJointCUCB, DPJointMAT
from dpbandits.policies.joint_contexts import JointDPLinTS
from dpbandits.policies.super_arms import CUCBLDP2

MEASURED = 20_000
"""Rounds for which docs/measured/regret.md measures the preset "sharp" of joint releases."""

RECOMMENDED = (
    "DPRateIMED",
    "DPJointMAT",
    "DPJointCUCB",
    "RNMFTNL",
    "LDPKLUCB",
    "CUCBLDP2",
    "AdaPTT",
    "CTBTT",
    "DPLinTS",
    "JointDPLinTS",
)
"""Names of all policies that `recommend` returns."""


@overload
def recommend(
    *,
    epsilon: Fraction | float | str,
    arms: int | Sequence[str],
    features: int | Sequence[str],
    model: str = "central",
    feedback: str = "bandit",
    grid: int | None = None,
    goal: str = "reward",
) -> DPLinTS: ...
@overload
def recommend(
    *,
    epsilon: Fraction | float | str,
    problem: DecisionSet,
    horizon: int | None = None,
    model: Literal["central"] = "central",
    feedback: str = "bandit",
    grid: int | None = None,
    goal: str = "reward",
) -> DPJointMAT | DPJointCUCB: ...
@overload
def recommend(
    *,
    epsilon: Fraction | float | str,
    arms: int | Sequence[str] | None = None,
    problem: DecisionSet | None = None,
    horizon: int | None = None,
    model: str = "central",
    feedback: str = "bandit",
    grid: int | None = None,
    goal: str = "reward",
) -> PrivatePolicy: ...
def recommend(
    *,
    epsilon: Fraction | float | str,
    arms: int | Sequence[str] | None = None,
    problem: DecisionSet | None = None,
    horizon: int | None = None,
    model: str = "central",
    feedback: str = "bandit",
    grid: int | None = None,
    goal: str = "reward",
    features: int | Sequence[str] | None = None,
    private: str = "rewards",
    public_contexts: Any = None,
) -> PrivatePolicy | DPLinTS | JointDPLinTS:
    """Return the recommended policy, ready for `Session` or `simulate`.

    One arm a round: `DPRateIMED`, whose regret is proved asymptotically optimal. Its regret, on
    average over settings, is 20 % (epsilon = 1) and 5 % (.1) below DPKLUCB's, its 99.9 % quantiles
    9 % and 4 % below.

    Several arms a round: `DPJointMAT` on a matroid, else `DPJointCUCB`. Both cost epsilon once for
    a whole super arm. For at most 20,000 rounds they get the preset "sharp", which had the least
    regret among private policies on the measured matroids. For more rounds, or an unknown horizon,
    they get "level", 1.9 to 2.6 times that there; its level is ln t. (On small super arms its mean
    regret is above `DPKLMAT`'s, whose single runs may settle on a wrong super arm.) Neither preset
    is proved. Give bases as a matroid: other super arms are treated as sums.

    One arm a round, by what is known of each visitor: `DPLinTS`. With the defaults it earns 93 to
    97 % of what it earns without privacy at epsilon = 1 on the measured tables. Where contexts and
    decisions are to be private, too: `JointDPLinTS`, for a `JointDPSession`.

    Args:
        epsilon: ε for one round's reward, or rewards.
        arms: number of arms, or their names, for problems with one arm a round; with
            feedback="full" their number.
        problem: the feasible super arms, for problems with several arms a round.
        horizon: number of rounds, if known.
        model: "central"; or "local", where users do not trust the server (`LDPKLUCB`, `CUCBLDP2`).
        feedback: "bandit"; or "full", where all arms' rewards are seen (`RNMFTNL`).
        grid: grid steps of rewards; 1 for 0/1 rewards. By default the policy's.
        goal: "reward"; or "winner" to name the best arm soon, wrongly with probability at most .05,
            and to play it from then on (`AdaPTT`; in the local model `CTBTT`). Until then fewer
            people get the best arm.
        features: numbers that are known of each visitor, how many or their names, for a policy that
            decides by them. They are public, and must not carry recorded outcomes; with
            private="everything" they are protected.
        private: "rewards"; or "everything", with features: contexts and decisions, too.
        public_contexts: with features, contexts like those to come, of nobody who is to be
            protected; needed with private="everything".

    Returns:
        The policy.

    Raises:
        TypeError, ValueError: no policy takes these arguments; the message says which are valid.

    Example:
        >>> recommend(arms=5, epsilon=1).name
        'DPRateIMED'
        >>> recommend(arms=5, epsilon=1, feedback="full").name
        'RNMFTNL'
        >>> public = [[0.5, -0.5], [0.1, 0.6], [0.3, 0.2], [-0.2, 0.4]]
        >>> everything = {"features": 2, "private": "everything", "public_contexts": public}
        >>> recommend(arms=5, epsilon=1, **everything).name
        'JointDPLinTS'
    """
    _check(arms, problem, horizon, model, feedback, goal)
    several: Any = arms  # where there is no problem
    steps: dict[str, Any] = {} if grid is None else {"grid": grid}
    if private != "rewards":
        fits = private == "everything" and features is not None and public_contexts is not None
        if not fits or (problem, model, feedback, goal) != (None, "central", "bandit", "reward"):
            raise ValueError(
                f"Expected private={shown(private)} to be 'rewards', or 'everything' with arms=, "
                "features= and public_contexts=, and nothing else."
            )
        if grid is not None:
            raise ValueError(
                "Expected no grid= with private='everything': rewards are counted as 0 or 1, and "
                "rounded at random in between."
            )
        return JointDPLinTS(
            arms=several,
            features=features,
            epsilon=epsilon,
            public_contexts=public_contexts,
        )
    if public_contexts is not None:
        if features is None:
            raise ValueError("Expected features= with public_contexts=.")
        steps["public_contexts"] = public_contexts
    if features is not None:
        if problem is not None or (model, feedback, goal) != ("central", "bandit", "reward"):
            raise ValueError(
                "Expected features= with arms=, model='central', feedback='bandit' and "
                "goal='reward': nothing else here decides by what is known of each visitor."
            )
        return DPLinTS(arms=several, features=features, epsilon=epsilon, **steps)
    if feedback == "full":
        return RNMFTNL(actions=several, epsilon=epsilon, selection="permute-and-flip", **steps)
    if problem is not None:
        if model == "local":
            return CUCBLDP2(problem=problem, epsilon=epsilon, **steps)
        preset = "sharp" if horizon is not None and horizon <= MEASURED else "level"
        together = DPJointMAT if isinstance(problem, Matroid) else DPJointCUCB
        return together(problem=problem, epsilon=epsilon, preset=preset, **steps)
    if goal == "winner":
        names = CTBTT if model == "local" else AdaPTT
        return names(arms=several, epsilon=epsilon, **steps)
    kind = LDPKLUCB if model == "local" else DPRateIMED
    return kind(arms=several, epsilon=epsilon, **steps)


def _check(
    arms: object, problem: object, horizon: object, model: object, feedback: object, goal: object
) -> None:
    if horizon is not None:
        whole_number(horizon, "horizon", 1, of="rounds")
    for name, value, allowed in (
        ("model", model, ("central", "local")),
        ("feedback", feedback, ("bandit", "full")),
        ("goal", goal, ("reward", "winner")),
    ):
        require_one_of(value, name, *allowed)
    if (arms is None) == (problem is None):
        raise ValueError(
            "Expected one of arms= (how many; one is played a round) and problem= (which super "
            f"arms are feasible), got {'neither' if arms is None else 'both'}."
        )
    if goal == "winner" and (problem is not None or feedback == "full"):
        raise ValueError(
            "Expected goal='winner' with arms= and feedback='bandit': a winner is one of some arms "
            "that are played one at a time."
        )
    if feedback == "full" and (isinstance(arms, (list, tuple)) or arms is None or model == "local"):
        raise ValueError(
            "Expected feedback='full' with arms=, a number of arms, and model='central': nothing "
            "here plays it with names, with super arms or in the local model."
        )
