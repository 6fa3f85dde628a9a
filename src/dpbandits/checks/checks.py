"""The checks of a policy, one function each; they raise `CheckFailed`. They use its declared
capabilities only.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from dpbandits.checks.tape import Recorder, Tape, random_tape
from dpbandits.core.errors import CheckFailed, Diverged, Foreign, RequestsDiffer
from dpbandits.core.inputs import Integers
from dpbandits.core.plan import EVERY
from dpbandits.core.privacy import spent
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.contract import Policy
from dpbandits.session.session import Session
from dpbandits.simulation.plain import Path, play_events, play_rounds
from dpbandits.simulation.transcript import Entered, Transcript, transcript

SHORT = (*range(1, 41), 64, 100)
"""The rounds of short runs."""


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


def state_is_plain(policy: Policy) -> None:
    """The state consists of numbers, texts and tuples of them, which no later call changes, and
    which a saved session has as they are.
    """
    rounds = min(policy.arms * 70, horizon_of(policy))
    tape = random_tape(policy.arms, rounds, seed=8)
    for state in (
        policy.init(),
        play_tape(play_events, policy, tape, rounds, SimulatedNoise(9)).state,
    ):
        odd = odd_part(state)
        require(
            not odd,
            f"The state holds {odd}. Make it of finite numbers, texts, and tuples of them, such as "
            "a NamedTuple.",
        )


def odd_part(state: object) -> str:
    """Return what a state holds beside numbers, texts and tuples, in words; nothing if it is
    plain.
    """
    if isinstance(state, tuple):
        return next(filter(None, map(odd_part, state)), "")
    if isinstance(state, (float, np.floating)):
        return "" if math.isfinite(state) else str(state)
    is_plain = state is None or isinstance(state, (str, int, np.integer, np.bool_))
    return "" if is_plain else f"an object of type {type(state).__name__}"


def hosts_agree(policy: Policy) -> None:
    """On one tape of rewards and noise, session and simulator make equal decisions, releases,
    ledgers and states, at every horizon.
    """
    most = longest_of(policy)
    horizons = [*(rounds for rounds in SHORT if rounds < most), most]
    tape = random_tape(policy.arms, most, seed=1)
    seen: dict[int, tuple[Any, Any]] = {}

    def keep(t: int, session: Session) -> None:
        """Keep ledger and state after round t. A session has no horizon: one run serves all."""
        if t in horizons:
            seen[t] = session.ledger, session.state

    slow = play_tape(partial(play_rounds, each=keep), policy, tape, most, SimulatedNoise(2))
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
        try:
            run = transcript(policy, tape, rounds, noise=first, seed=11)
        except Foreign as why:
            raise CheckFailed(str(why)) from None
        if first.draws:
            break
    changes = one_record_changed(run, tape, max(1, rounds // 100))
    worst = largest_loss(first, (partial(replay_releases, run, change) for change in changes))
    require(worst <= guarantee.cost, f"One reward can cost {worst}, the claim is {guarantee.cost}.")
    require(worst > 0, "No change of a reward changes any release: the check saw nothing.")


def replay_releases(run: Transcript, change: dict[int, Integers], noise: Recorder) -> None:
    """Release the changed sums with the noise that gives the recorded values."""
    replay = run.replay(change, noise)
    require(replay.at is None, "A release changes with a reward, whatever the noise.")


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


def one_record_changed(run: Transcript, tape: Tape, every: int) -> Iterator[dict[int, Integers]]:
    """Yield, by event, the changes of its sums if one record is another: for one in `every`
    records of each arm. A record is a reward, or all rewards of one round. Records of one event
    that change its sums alike are one case.
    """
    places, unit = np.zeros(run.policy.arms, np.int64), run.policy.reader.grid.steps
    for at, event in enumerate(run.events):
        if not isinstance(event, Entered):
            continue
        full = run.policy.about.feedback == "full"
        arms = np.arange(len(places)) if full else np.array(event.where)
        first = places[arms]
        rewards = np.array([tape.rewards[arms, first + n] for n in range(event.rounds)], np.int64)
        taken = rewards[-int(first.flat[0]) % every :: every]
        for change in np.unique(unit * (1 - 2 * taken), axis=0):
            yield {at: change}
        places[arms] += event.rounds


def ledger_equals_claim(policy: Policy) -> None:
    """After any run with a release, the ledger's exact total is the guarantee. No reward is
    released twice, or before it is recorded.
    """
    claim = policy.guarantee
    for rounds in (min(policy.arms * 70, horizon_of(policy)), longest_of(policy)):
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


def longest_of(policy: Policy) -> int:
    """Return the rounds of a long run: fewer of a policy that releases every round, for it has done
    all it does sooner, and each round takes longer.
    """
    return min(1000 if policy.about.every_round else 3000, horizon_of(policy))
