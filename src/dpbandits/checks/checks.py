"""The checks of a policy, one function each; they raise `CheckFailed`. They use its declared
capabilities only.
"""

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from dpbandits.checks.tape import Recorder, Tape, random_tape
from dpbandits.core.errors import CheckFailed, Diverged, RequestsDiffer
from dpbandits.core.inputs import Floats
from dpbandits.core.plan import EVERY
from dpbandits.core.privacy import spent
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.contract import Policy
from dpbandits.session.session import Session
from dpbandits.simulation.plain import Path, play_events, play_rounds

HORIZONS = (*range(1, 41), 64, 100, 3000)


def require(condition: bool, message: str, kind: type[CheckFailed] = CheckFailed) -> None:
    if not condition:
        raise kind(message)


def play_tape(
    host: Any, policy: Policy, tape: Tape, rounds: int, noise: Any, every: int = 1
) -> Path:
    marks = np.arange(every, rounds + 1, every) if rounds >= every else np.array([rounds])
    path: Path = host(
        policy, tape, rounds, marks, noise=noise, seed=11, rng=np.random.default_rng(5)
    )
    return path


def hosts_agree(policy: Policy) -> None:
    """On one tape of rewards and noise, session and simulator make equal decisions, releases,
    ledgers and states, at every horizon.
    """
    tape = random_tape(policy.arms, max(HORIZONS), seed=1)
    horizons = [rounds for rounds in HORIZONS if rounds <= horizon_of(policy)]
    seen: dict[int, tuple[Any, Any]] = {}

    def keep(t: int, session: Session) -> None:
        """Keep ledger and state after round t. A session has no horizon: one run serves all."""
        if t in HORIZONS:
            seen[t] = session.ledger, session.state

    slow = play_tape(
        partial(play_rounds, each=keep), policy, tape, max(horizons), SimulatedNoise(2)
    )
    for rounds in horizons:
        fast, (ledger, state) = (
            play_tape(play_events, policy, tape, rounds, SimulatedNoise(2)),
            seen[rounds],
        )
        where = f"at horizon {rounds}"
        require(
            np.array_equal(slow.plays[:rounds], fast.plays),
            f"Session and event simulator decide differently {where}.",
        )
        require(ledger == fast.ledger, f"Session and event simulator release differently {where}.")
        require(state == fast.state, f"Session and event simulator reach different states {where}.")


def replay_is_blind(policy: Policy, rounds: int = 2000, *, swapped: bool = True) -> None:
    """Swap every reward but keep the releases: every decision must be the same, because rewards
    reach decisions only through releases.

    Args:
        policy: the policy.
        rounds: number of rounds.
        swapped: False keeps the rewards; a policy that fails even then draws other randomness.
    """
    if policy.guarantee is None or policy.randomizer() is not None or policy.reader.ahead:
        # a non-private policy may see rewards, and a local one gets reports (`only_reports_enter`);
        # `audit` finds the noise drawn ahead that keeps the releases
        return
    rounds = min(rounds, horizon_of(policy))
    tape, first = random_tape(policy.arms, rounds, seed=3), Recorder(4)
    recorded = play_tape(play_rounds, policy, tape, rounds, first)
    other, second = Tape(1.0 - tape.rewards if swapped else tape.rewards), Recorder(4, first.draws)
    try:
        replayed = play_tape(play_rounds, policy, other, rounds, second)
    except Diverged as error:
        raise RequestsDiffer(
            f"With swapped rewards and the same releases the requests change: {error}"
        ) from None
    require(
        np.array_equal(recorded.plays, replayed.plays),
        "With swapped rewards and the same releases a decision changes.",
    )
    require(
        recorded.state == replayed.state,
        "With swapped rewards and the same releases the public state changes.",
    )
    require(
        len(first.draws) == len(second.draws),
        "With swapped rewards and the same releases noise is drawn less often.",
        RequestsDiffer,
    )


def loss_within_claim(policy: Policy) -> None:
    """Change one reward: the exact privacy loss of all releases together never exceeds the
    guarantee.
    """
    guarantee = policy.guarantee
    if guarantee is None or policy.randomizer() is not None or policy.reader.ahead:
        return  # the randomizer's law is tested exactly, noise drawn ahead by `audit`
    for rounds in (300, 6000):  # the longer run for policies whose first release comes late
        rounds = min(rounds, horizon_of(policy))
        tape, first = random_tape(policy.arms, rounds, seed=6), Recorder(7)
        recorded = play_tape(play_rounds, policy, tape, rounds, first)
        if first.draws:
            break
    tapes = map(Tape, neighbouring_tapes(policy, tape, recorded, max(1, rounds // 100)))
    worst = largest_loss(
        first,
        (partial(play_tape, play_events, policy, near, rounds, every=rounds) for near in tapes),
    )
    require(worst <= guarantee.cost, f"One reward can cost {worst}, the claim is {guarantee.cost}.")
    require(worst > 0, "No change of a reward changes any release: the check saw nothing.")


def largest_loss(
    recording: Recorder, neighbours: Iterable[Callable[[Recorder], object]]
) -> Fraction:
    """Return the largest exact privacy loss between a recording and its neighbours, each played
    with the recorded noise.
    """
    worst = Fraction(0)
    for play in neighbours:
        other = Recorder(recording.seed, script=recording.draws)
        try:
            play(other)
        except Diverged as error:
            raise CheckFailed(
                f"One changed reward changes the requests to the noise source: {error}"
            ) from None
        worst = max(worst, other.loss())
    return worst


def neighbouring_tapes(policy: Policy, tape: Tape, recorded: Path, every: int) -> Iterator[Floats]:
    """Yield tapes that differ in one recorded record, for one in `every` records. A record is a
    reward, or all rewards of one round.
    """
    if policy.about.feedback == "bandit":
        records = [
            [(arm, j)]
            for arm, plays in enumerate(recorded.plays[-1])
            for j in range(0, int(plays), every)
        ]
    else:
        records = tape.records[: recorded.rounds : every]
    for record in records:
        rewards = tape.rewards.copy()
        where = tuple(np.array(record).T)
        rewards[where] = 1.0 - rewards[where]
        yield rewards


def ledger_equals_claim(policy: Policy) -> None:
    """After any run with a release, the ledger's exact total is the guarantee. No reward is
    released twice, or before it is recorded.
    """
    claim = policy.guarantee
    for rounds in (min(policy.arms * 70, horizon_of(policy)), min(3000, horizon_of(policy))):
        path = play_tape(
            play_events, policy, random_tape(policy.arms, rounds, seed=8), rounds, SimulatedNoise(9)
        )
        total = spent(path.ledger)
        expected = claim.cost if claim is not None else None
        require(
            path.releases == sum(e.releases for e in path.ledger),
            "The ledger counts other releases than the vault.",
        )
        require(
            total == (expected if path.ledger else 0),
            f"The ledger spent {total}, the claim is {expected}.",
        )
        recorded = (
            {EVERY: path.rounds}
            if policy.about.feedback == "full" or policy.reader.together
            else dict(enumerate(path.plays[-1]))
        )
        require(
            {e.coordinate for e in path.ledger} <= set(recorded),
            "The ledger has a coordinate that does not exist.",
        )
        for at, rewards in recorded.items():
            spans = sorted((e.start, e.stop) for e in path.ledger if e.coordinate == at)
            require(
                all(a[1] <= b[0] for a, b in pairwise(spans)),
                f"A reward of coordinate {at} was released twice.",
            )
            require(
                not spans or spans[-1][1] <= rewards,
                f"The ledger has rewards of coordinate {at} that were never recorded.",
            )


def horizon_of(policy: Policy) -> int:
    """Return the longest run that the policy can play."""
    horizon = getattr(policy, "horizon", None)
    return int(horizon) if policy.about.needs_horizon and horizon is not None else 10**18
