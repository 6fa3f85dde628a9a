"""The checks of a policy, one function each; they raise `CheckFailed`. They use its declared
capabilities only.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np

from dpbandits.checks.tape import Recorder, Tape, random_tape
from dpbandits.core.errors import CheckFailed, Diverged, Foreign, RequestsDiffer
from dpbandits.core.inputs import Floats, Integers
from dpbandits.core.plan import EVERY
from dpbandits.core.privacy import Entry, Guarantee, spent
from dpbandits.environments.base import Environment
from dpbandits.environments.laws import Bernoulli
from dpbandits.mechanisms.randomizers import Randomizer
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.contract import Policy, problem_of
from dpbandits.session.session import Session
from dpbandits.simulation.plain import Path, UniformDelay, play_events, play_rounds
from dpbandits.simulation.simulate import choose_player, play_plain, simulate
from dpbandits.simulation.transcript import Entered, Transcript, transcript

SHORT = (*range(1, 41), 64, 100)
"""The rounds of short runs."""

MOST_REPLACED = 4
"""Rewards of a report that are replaced together."""


def require(condition: bool, message: str, kind: type[CheckFailed] = CheckFailed) -> None:
    if not condition:
        raise kind(message)


def play_tape(
    host: Any, policy: Policy, tape: Tape, rounds: int, noise: Any, **options: Any
) -> Path:
    marks, rng = np.arange(1, rounds + 1), np.random.default_rng(5)
    return host(policy, tape, rounds, marks, noise=noise, seed=11, rng=rng, **options)


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
        require_plain(state)


def require_plain(state: object) -> None:
    odd = odd_part(state)
    require(
        not odd,
        f"The state holds {odd}. Make it of finite numbers, texts, and tuples of them, such as a "
        "NamedTuple.",
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
        fast = play_tape(play_events, policy, tape, rounds, SimulatedNoise(2))
        ledger, state = seen[rounds]
        where = f"at horizon {rounds}. Expected plan() and update() to use their arguments alone"
        require(
            np.array_equal(slow.plays[:rounds], fast.plays),
            f"Session and event simulator decide differently {where}.",
        )
        require(ledger == fast.ledger, f"Session and event simulator release differently {where}.")
        require(state == fast.state, f"Session and event simulator reach different states {where}.")


def replay_is_blind(policy: Policy, rounds: int = 2000, *, swapped: bool = True) -> None:
    """Swap every reward but keep the releases: every decision must be the same, because rewards
    reach decisions only through releases. Rewards come at once, and then late.

    Args:
        policy: the policy.
        rounds: number of rounds.
        swapped: False keeps the rewards; a policy that fails even then draws other randomness.
    """
    if policy.guarantee is None or policy.randomizer() is not None or policy.reader.ahead:
        # a non-private policy may see rewards, and a local one gets reports (`only_reports_enter`);
        # `audit` finds the noise drawn ahead that keeps the releases
        return
    # with late rewards a policy decides ahead of them
    for delay, most in ((None, rounds), (UniformDelay(0, 9), min(rounds, 500))):
        most = min(most, horizon_of(policy))
        play = partial(play_tape, play_rounds, policy, rounds=most, delay=delay)
        tape, first = random_tape(policy.arms, most, seed=3), Recorder(4)
        recorded = play(tape, noise=first)
        other = Tape(1.0 - tape.rewards if swapped else tape.rewards)
        second = Recorder(4, first.draws)
        try:
            replayed = play(other, noise=second)
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
    """Change one reward: the exact privacy loss of all releases together, or of a report in the
    local model, never exceeds the guarantee. A report made of coins and noise drawn ahead are left
    to `audit`.
    """
    guarantee, randomizer = policy.guarantee, policy.randomizer()
    if randomizer is not None:
        return report_within_claim(randomizer)
    if guarantee is None or policy.reader.ahead:
        return None
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
    return require_loss(worst, guarantee)


def require_loss(worst: Fraction, guarantee: Guarantee) -> None:
    require(worst <= guarantee.cost, f"One reward can cost {worst}, the claim is {guarantee.cost}.")
    require(worst > 0, "No change of a reward changes any release: the check saw nothing.")


def report_within_claim(randomizer: Randomizer) -> None:
    """Replace all rewards of a report: with the noise that gives the same values it is the same, at
    a loss within the guarantee.
    """
    worst, most = Fraction(0), min(randomizer.width, MOST_REPLACED)
    for rewards in product((0.0, 0.5, 1.0), repeat=most):
        first = Recorder(7)
        report = randomizer.report(rewards, first)
        if first.coins:
            return

        def replay(others: tuple[float, ...], noise: Recorder, report: object = report) -> None:
            is_same = randomizer.report(others, noise) == report
            require(is_same, "A report changes with a reward, whatever the noise.")

        others = product((0.0, 1.0), repeat=most)
        worst = max(worst, largest_loss(first, (partial(replay, each) for each in others)))
    require_loss(worst, randomizer.guarantee)


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
    for rounds in (min(policy.arms * 70, horizon_of(policy)), longest_of(policy)):
        path = play_tape(
            play_events, policy, random_tape(policy.arms, rounds, seed=8), rounds, SimulatedNoise(9)
        )
        require(
            path.releases == sum(e.releases for e in path.ledger),
            "The ledger counts other releases than the vault.",
        )
        require_ledger(policy, path.ledger)
        recorded = (
            {EVERY: path.rounds}
            if policy.about.feedback == "full" or policy.reader.together
            else dict(enumerate(path.plays[-1]))
        )
        require(
            all(e.stop <= recorded.get(e.coordinate, 0) for e in path.ledger),
            "The ledger has rewards that were never recorded.",
        )


def require_ledger(policy: Policy, ledger: Sequence[Entry]) -> None:
    """Require that each reward left its block at most once, at the guaranteed cost."""
    claim, total = policy.guarantee, spent(ledger)
    expected = 0 if not ledger else None if claim is None else claim.cost
    require(total == expected, f"The ledger spent {total}, the claim is {expected}.")
    for a, b in pairwise(sorted(ledger, key=lambda line: (line.coordinate, line.start))):
        require(
            a.coordinate != b.coordinate or a.stop <= b.start,
            f"A reward of coordinate {a.coordinate} was released twice.",
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


# Statistical checks: compiled runs have the law of plain runs, and the policy learns.

FALSE_ALARM = 1e-6
"""Probability that one call of `compiled_law` fails although the laws are equal."""

BY_ROUNDS = ((12, 800, 3200), (120, 200, 800), (1200, 21, 252))
"""(rounds, plain runs, compiled runs) for policies that are played round by round. Where plain runs
take long there are more compiled ones for each: 21 and 252 tell as much as 24 and 96.
"""

BY_BATCHES = ((12, 800, 3200), (120, 400, 1600), (20_000, 200, 800))
"""The same for policies that are played block by block."""

MOST_EVENTS = 200
"""Events in the first thousand rounds from which on a plain run is a short one."""

MANY = 100
"""From this number of runs on, the tests use limiting laws."""


def compiled_law(policy: Policy) -> None:
    """Compare compiled runs with runs of the event simulation at several horizons. What a `Session`
    decides and releases is that simulation's, to the last digit (`hosts_agree`).
    """
    # rounds of vectors and oracles take several times as long
    share = 1 if policy.about.feedback == "bandit" else 2
    single = policy.about.every_round or policy.about.randomised or policy.randomizer() is not None
    for rounds, plain, compiled in BY_ROUNDS if single else BY_BATCHES:
        compare_law(policy, rounds, plain // share, compiled // share)


def compare_law(policy: Policy, rounds: int, plain: int, compiled: int) -> None:
    """Raise `CheckFailed` if so many compiled runs of `rounds` rounds differ in law from so many
    plain ones.
    """
    rounds = min(rounds, horizon_of(policy))
    environment = Bernoulli(np.linspace(0.85, 0.35, policy.arms) if policy.arms > 1 else [0.5])
    player, is_compiled = choose_player(policy, environment, rounds, 31, compiled=True)
    if not is_compiled:
        return  # a user-defined policy has no compiled runs
    marks = np.array([rounds])
    play = partial(play_plain, policy, environment, rounds, 32, marks, host=play_events)
    # if arms are drawn each round, a compiled run counts a streak as one event
    figures = partial(figures_of, gaps=environment.gaps, events=not policy.about.randomised)
    fast = np.stack([figures(player(marks, run)) for run in range(compiled)])
    slow = np.stack([figures(play(run)) for run in range(plain)])
    p = smallest_p(slow, fast)
    require(
        p > FALSE_ALARM / len(BY_ROUNDS),
        f"Compiled and plain runs differ in law at {rounds} rounds (p = {p:.1g}).",
    )


def figures_of(path: Path, gaps: Floats, events: bool) -> Floats:
    """Return play counts, regret (without the last digits, which depend on the order of a sum) and
    releases.
    """
    plays = path.plays[0]
    regret = np.round(plays @ gaps, 6)
    return np.array([*plays, regret, path.releases, *([path.events] if events else [])])


def smallest_p(a: Integers | Floats, b: Integers | Floats) -> float:
    """Return the Bonferroni p-value for equal laws.

    Each column has a Kolmogorov–Smirnov test, which is conservative on integers, and, with many
    runs, a rank test, which detects shifts.
    """
    from scipy.stats import ks_2samp, mannwhitneyu

    many = min(len(a), len(b)) >= MANY
    values = [
        float(ks_2samp(x, y, method="asymp" if many else "exact").pvalue)
        for x, y in zip(a.T, b.T, strict=True)
    ]
    if many:
        values += [
            float(mannwhitneyu(x, y, method="asymptotic").pvalue)
            for x, y in zip(a.T, b.T, strict=True)
            if np.ptp([*x, *y])
        ]
    return min(1.0, min(values) * len(values))


def beats_uniform(policy: Policy) -> None:
    """On an easy instance, whose best arm is the last one, the regret is below that of uniform
    play.
    """
    if policy.arms == 1:
        return
    environment = Bernoulli([0.05] * (policy.arms - 1) + [0.95])
    _, fast = choose_player(policy, environment, 1000, 22, compiled=True)
    if not fast:
        short = simulate(policy, environment, min(1000, horizon_of(policy)), seed=22, at=[])
        fast = short.events[0] < MOST_EVENTS
    rounds = min(100_000 if fast else 3_000, horizon_of(policy))
    runs = simulate(policy, environment, rounds, runs=10 if fast else 3, seed=22, at=[rounds])
    uniform = rounds * blind_regret(policy, environment)
    require(
        runs.regret().mean() < uniform,
        (
            f"Mean regret {runs.regret().mean():.0f} in {rounds} rounds; uniform play has "
            f"{uniform:.0f}."
        ),
    )


def blind_regret(policy: Policy, environment: Environment) -> float:
    """Return the regret per round of uninformed play: a random arm, or the best super arm for
    random weights.
    """
    problem = problem_of(policy)
    if problem is None:
        return float(environment.gaps.mean())
    rng = np.random.default_rng(23)
    values = [
        problem.value(problem.best(rng.random(problem.arms)), environment.means) for _ in range(100)
    ]
    return problem.alpha * problem.beta * problem.optimum(environment.means) - float(
        np.mean(values)
    )
