"""Nothing that an error, a repr or a note shows is a reward or an exact sum."""

import contextlib
import json
import math
import secrets
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from types import FrameType
from typing import Any

import numpy as np
import pytest
from rich.pretty import pretty_repr

import dpbandits as dpb
from dpbandits.checks.examples import examples
from dpbandits.local import messages
from dpbandits.local.client import Client
from dpbandits.mechanisms import Block, LocalLaplace
from dpbandits.mechanisms.randomizers import Report
from dpbandits.mechanisms.rewards import checked_reward, checked_rewards, scaled_value
from dpbandits.session.saving import private_part, sealed, unsealed
from dpbandits.session.storing import ChangeRecorder, rows_in
from dpbandits.vault import checked_report
from tests.session.small import Exact, begun, changed, content, first, parts, reward_of, session
from tests.session.test_interruption import PACKAGE

DIGITS = "7314"
GRID = 10_000
SECRET = 0.7314
"""7314 steps of the grid."""


def told(error: BaseException) -> str:
    """Everything an error and those it came from say."""
    chain, words = [error], list[str]()
    while chain:
        one = chain.pop()
        words += [str(one), repr(one), repr(one.args), *getattr(one, "__notes__", [])]
        words.append(repr(getattr(one, "doc", "")))
        chain += [other for other in (one.__cause__, one.__context__) if other is not None]
        chain += list(getattr(one, "exceptions", ()))
    return " ".join(words)


def frames_of(error: BaseException) -> Iterator[FrameType]:
    """The frames of the package that an error, and those it came from, keep."""
    chain: list[BaseException | None] = [error]
    while chain:
        one = chain.pop()
        if one is None:
            continue
        chain += [one.__cause__, one.__context__]
        step = one.__traceback__
        while step is not None:
            if step.tb_frame.f_code.co_filename.startswith(PACKAGE):
                yield step.tb_frame
            step = step.tb_next


def plain(value: Any) -> Iterator[str]:
    """The texts and numbers in data, and how everything else shows itself. Trackers of errors go
    through named tuples, too, whatever their `repr` is.
    """
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if type(value) is dict:
        value = [*value.keys(), *value.values()]
    if isinstance(value, (tuple, set, frozenset)) or type(value) is list:
        for each in value:
            yield from plain(each)
    elif not callable(value):
        yield repr(value)
        yield pretty_repr(value)  # by a struct's fields, whatever its repr is


def require_nothing_of_it(error: BaseException, inside: tuple[str, ...] = ()) -> None:
    """No text of an error tells the secret, nor does a variable of our frames that it keeps.

    Args:
        inside: files of which it may keep no frame but that of `frameless`.
    """
    assert DIGITS not in told(error)
    for frame in frames_of(error):
        where = frame.f_code.co_filename.removeprefix(PACKAGE)
        is_kept = frame.f_code.co_name == "frameless"
        assert is_kept or not where.startswith(inside or ("nowhere",)), where
        for name, value in frame.f_locals.items():
            assert not any(DIGITS in text for text in plain(value)), f"{name} in {where}"


# Errors of a noise source, a mechanism, a policy and an oracle


class Faulty(dpb.DPKLUCB):
    """Fails as it learns."""

    failing = False

    def update(self, state: Any, plan: Any, release: Any) -> Any:
        if Faulty.failing:
            raise LookupError("no such page")
        return super().update(state, plan, release)


def heaviest(weights: Any) -> Any:
    if Faulty.failing:
        raise LookupError("no such page")
    return weights.argsort()[-2:]


OWN = dpb.UserDecisionSet(arms=4, size=2, oracle=heaviest)
DAY = timedelta(days=1)
ROOMY = {"epsilon": 4, "grid": GRID}
PLACED: dict[str, Any] = {"arms": 2, "features": 1, "public_contexts": [[0.5], [-0.5]]}
COINS = dpb.LazyDPTS(arms=2, epsilon=4)
SETUPS: dict[str, tuple[Any, dict[str, Any]]] = {
    "batches": (Faulty(arms=2, first=4, **ROOMY), {}),
    "guardrail": (
        Faulty(arms=2, first=4, epsilon=4, grid=10 * GRID),
        {"guardrail": dpb.Guardrail("refunds", limit=0.5)},
    ),
    "window": (Faulty(arms=2, first=4, **ROOMY), {"attribution_window": DAY}),
    "segments": (Faulty(arms=2, first=4, **ROOMY), {"segments": ["x", "y"]}),
    "late segments": (
        Faulty(arms=2, first=4, **ROOMY),
        {"segments": ["x", "y"], "attribution_window": DAY},
    ),
    "range": (Faulty(arms=2, first=4, **ROOMY), {"rewards": dpb.Range(0, 2)}),
    "joint": (dpb.DPJointCUCB(problem=OWN, **ROOMY), {}),
    "super arms": (dpb.DPKLCUCB(problem=OWN, **ROOMY), {}),
    "full": (dpb.RNMFTNL(actions=2, **ROOMY), {}),
    "tree": (dpb.HybridUCB(arms=2, **ROOMY), {}),
    "contexts": (dpb.DPLinTS(**PLACED, first=2, **ROOMY), {}),
    "coins": (COINS, {}),
    "late coins": (COINS, {"attribution_window": DAY}),
}


class Work:
    """A session, whose next rewards complete a release that fails."""

    def __init__(self, setup: str, noise: Any) -> None:
        policy, options = SETUPS[setup]
        self.now, self.setup = 0.0, setup
        clock: Any = {"clock": lambda: self.now} if "attribution_window" in options else {}
        self.session = begun(policy, noise=noise, seed=1, **options, **clock)

    def asked(self, count: int) -> list[dpb.Decision]:
        how: dict[str, Any] = {}
        if not isinstance(self.session, dpb.Session):
            how["segment"] = "x"
        if self.setup == "contexts":
            how["context"] = [[0.5]] * count
        return list(self.session.ask(count, **how))

    def pairs(self) -> list[Any]:
        """Every decision of a plan, the first with the secret as its reward. With a window so have
        the one that completes the release, and others that are held when it fails.
        """
        count = 4 if self.setup == "contexts" else first(self.session).plan.rounds
        made = self.asked(count + 2 * ("attribution_window" in SETUPS[self.setup][1]))
        return [
            (d, self.reward(d, SECRET * (at == 0 or (at >= count - 1 and len(made) > count))))
            for at, d in enumerate(made)
        ]

    def reward(self, decision: dpb.Decision, value: float) -> Any:
        in_units = 2 * value if self.setup == "range" else value
        return reward_of(first(self.session), decision, in_units)

    def tell(self) -> None:
        """The secret comes last."""
        for decision, reward in self.pairs()[::-1]:
            self.session.tell(decision, reward)

    def tell_many(self) -> None:
        self.session.tell_many(self.pairs())

    def settle(self) -> None:
        """What was held is counted."""
        self.tell_many()
        self.now += 1e6
        self.session.settle()

    def save(self) -> None:
        self.tell_many()
        self.now += 1e6
        self.session.to_json(unsealed=True)

    def ask(self) -> None:
        self.tell()
        self.now += 1e6
        self.asked(1)

    def record(self) -> None:
        how: Any = {} if isinstance(self.session, dpb.Session) else {"segment": "x"}
        outcomes = [self.reward(dpb.Decision(1, 0, 1), SECRET)] * 9
        self.session.record(0, outcomes, key="a week", **how)


OURS = "full", "tree", "contexts"
"""They have no code of the user's own."""

VERBS = ["tell", "tell_many", "settle", "save", "ask"]
CASES = [
    (setup, verb)
    for setup, (policy, options) in SETUPS.items()
    if policy is not COINS
    for verb in (VERBS if "attribution_window" not in options else VERBS[2:])
]
RECORDING = ["batches", "guardrail", "segments", "range", "tree"]
CASES += [(setup, "record") for setup in RECORDING]


def error_of(work: Work, verb: str) -> Exception:
    with pytest.raises((OSError, LookupError, dpb.NotRecordedError)) as raised:
        getattr(work, verb)()
    return raised.value


@pytest.mark.parametrize(("setup", "verb"), CASES)
def test_an_error_of_the_noise_keeps_no_frame_of_the_vault(
    setup: str, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    noise = Exact(1)
    with monkeypatch.context() as patch:
        patch.setattr(noise, "_works", interrupted)
        with pytest.raises(KeyboardInterrupt) as raised:
            getattr(Work(setup, noise), verb)()
    require_nothing_of_it(raised.value, ("/vault", "/mechanisms", "/noise"))
    noise.failing = True
    error = error_of(Work(setup, noise), verb)
    require_nothing_of_it(error, ("/vault", "/mechanisms", "/noise"))
    own = error if isinstance(error, OSError) else error.__cause__
    assert isinstance(own, OSError)
    assert (own.__cause__, own.__context__) == (None, None)


@pytest.mark.parametrize(("setup", "verb"), [c for c in CASES if c[0] not in OURS])
def test_an_error_of_a_policy_or_an_oracle_keeps_no_reward(
    setup: str, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Work(setup, dpb.SimulatedNoise(1))
    pairs = work.pairs()
    monkeypatch.setattr(work, "pairs", lambda: pairs)
    monkeypatch.setattr(Faulty, "failing", True)
    error = error_of(work, verb)
    require_nothing_of_it(error, ("/vault", "/mechanisms"))
    assert "no such page" in told(error)


def test_an_error_of_the_noise_keeps_no_value_of_an_estimator() -> None:
    noise = Exact(1)
    rule = dpb.DPNAS(alpha=0.5, beta=0.1, cap=40, epsilon=4)
    estimator, noise.failing = dpb.Estimator(rule, noise=noise), True
    for kind in (OSError, dpb.NotRecordedError):  # the second time it is due already
        with pytest.raises(kind) as error:
            list(map(estimator.add, [SECRET] * 40))
        require_nothing_of_it(error.value, ("/vault", "/mechanisms", "/noise"))
    fresh = dpb.Estimator(rule, noise=dpb.SimulatedNoise(1))
    calls: list[Callable[[], object]] = [
        lambda: fresh.add(7314.0),
        lambda: fresh.add("0.7314"),
        lambda: fresh.add(SECRET, at=7),
        lambda: dpb.estimate(rule, [SECRET, 7314.0], noise=noise),
        lambda: dpb.estimate(rule, [SECRET] * 40, noise=noise),
        lambda: dpb.estimate(rule, SECRET, noise=noise),  # type: ignore[arg-type]
    ]
    for call in calls:
        with pytest.raises((ValueError, TypeError, OSError)) as refused:
            call()
        require_nothing_of_it(refused.value)


@pytest.mark.parametrize("setup", [*RECORDING, "joint", "super arms", "full", "contexts"])
def test_an_error_of_a_release_that_was_due_keeps_no_reward(setup: str) -> None:
    noise = Exact(1)
    work = Work(setup, noise)
    pairs, (other,) = work.pairs(), work.asked(1)
    pair = other, work.reward(other, SECRET)
    noise.failing = True
    with pytest.raises(OSError, match="no randomness"):
        work.session.tell_many(pairs)
    calls = [lambda: work.session.tell(*pair), lambda: work.session.tell_many([pair])]
    for call in (*calls, work.record) if setup in RECORDING else calls:
        with pytest.raises(dpb.NotRecordedError) as error:
            call()
        require_nothing_of_it(error.value, ("/vault", "/mechanisms", "/noise"))


@pytest.mark.parametrize("setup", SETUPS)
def test_a_refused_call_keeps_no_reward(setup: str) -> None:
    """Nor does one whose rewards a coin could not round."""
    noise = Exact(1)
    work = Work(setup, noise)
    told, recording = work.session, setup in (*RECORDING, "coins")
    made = work.asked(4)
    pairs = [(each, work.reward(each, SECRET)) for each in made]
    wrong = pairs[0][0], 7314.0
    calls: list[Callable[[], Any]] = [
        lambda: told.tell(*wrong),
        lambda: told.tell_many([*pairs[1:], wrong]),
        lambda: told.tell_many([*pairs, (SECRET, None, 0)]),
        lambda: told.tell(*pairs[3]),
        lambda: told.tell_many(pairs),
    ]
    if recording:
        how: Any = {} if isinstance(told, dpb.Session) else {"segment": "x"}
        calls += [
            partial(told.record, 0, outcomes, key="a week", **how)
            for outcomes in ([SECRET, 7314.0], (7314, 7315), "0.7314")
        ]
    if "coins" in setup:
        noise.failing = True
        calls += [lambda: told.tell(*pairs[0]), lambda: told.tell_many(pairs[:3])]
    told.void(made[3])
    for call in calls:
        with pytest.raises((dpb.DecisionError, dpb.RewardError, TypeError, OSError)) as error:
            call()
        require_nothing_of_it(error.value, ("/vault", "/mechanisms", "/noise"))


@pytest.mark.parametrize("setup", ["batches", "segments"])
def test_an_error_of_the_callers_own_code_says_where_it_is(setup: str) -> None:
    def answers() -> Iterator[Any]:
        yield work.pairs()[0]
        raise LookupError("no such page")

    work = Work(setup, dpb.SimulatedNoise(1))
    with pytest.raises(LookupError) as error:
        work.session.tell_many(answers())
    assert error.traceback[-1].name == "answers"
    require_nothing_of_it(error.value)


def test_a_mechanism_that_remembers_sums_is_in_no_frame() -> None:
    noise = Exact(1)
    work = Work("tree", noise)
    work.tell()
    assert any(DIGITS in text for text in plain(work.session._log.state.books)), "the control"
    noise.failing = True
    pair = work.pairs()[0][0], 0.0
    for kind in (OSError, dpb.NotRecordedError):
        with pytest.raises(kind) as error:
            work.session.tell(*pair)
        require_nothing_of_it(error.value, ("/vault", "/mechanisms", "/noise"))


SEALED: list[tuple[str, Any]] = [
    ("private.memory", {"a": 1}),
    ("private.sums", [["x", 1]]),
    ("private.sums", "x"),
    ("private.noise", {"kind": "loud"}),
    ("public.counts", []),
    ("public.learned", []),
    ("public.asked", ...),
    ("policy.class", "Other"),
    ("policy", 5),
]


@pytest.mark.parametrize(("path", "value"), SEALED)
def test_a_document_that_is_refused_leaves_nothing_of_it_in_clear(
    path: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The part that a key had encrypted was in a variable of the frame that read it."""
    monkeypatch.setattr(secrets, "token_bytes", bytes)  # or a cipher might have these digits
    work, key = Work("batches", dpb.SimulatedNoise(1)), b"a key of at least sixteen bytes"
    work.session.tell_many(work.pairs()[:1])
    data = unsealed(json.loads(work.session.to_json(key=key)), key)
    assert DIGITS in json.dumps(data["private"]["sums"])
    text = sealed(changed(data, path, value), key)
    with pytest.raises(ValueError, match=r"\w{4}") as error:
        dpb.Session.from_json(text, policy=Faulty, key=key)
    require_nothing_of_it(error.value)
    kept = [each for frame in frames_of(error.value) for each in frame.f_locals.values()]
    assert not any(isinstance(each, Exception) for each in kept), "it leads to other frames"


@pytest.mark.parametrize("setup", SETUPS)
def test_a_document_that_cannot_be_written_leaves_nothing_of_it_in_clear(setup: str) -> None:
    work = Work(setup, dpb.SimulatedNoise(1))
    work.session.tell_many(work.pairs()[:1])
    with pytest.raises(ValueError, match="at least 16 bytes") as error:
        work.session.to_json(key=b"short")
    require_nothing_of_it(error.value)


def test_the_look_finds_what_is_told() -> None:
    """The control: a hidden context, a note and a variable are found."""

    def hidden() -> None:
        try:
            float(Wrong())
        except ValueError:
            raise KeyError from None

    with pytest.raises(KeyError) as error:
        hidden()
    assert error.value.__suppress_context__
    assert DIGITS in told(error.value)
    with pytest.raises(dpb.RewardError) as refused:
        checked_reward(7314.0)  # the frame that was called has it
    require_nothing_of_it(refused.value.with_traceback(None))
    with pytest.raises(dpb.RewardError) as refused:
        checked_reward(7314.0)
    with pytest.raises(AssertionError):
        require_nothing_of_it(refused.value)


# Reprs


def test_no_repr_shows_a_reward_or_a_sum() -> None:
    for setup in ("batches", "window", "joint", "super arms", "guardrail", "contexts"):
        work = Work(setup, dpb.SimulatedNoise(1))
        of = work.session
        watch = ChangeRecorder(of)
        of.tell_many(work.pairs()[:2])
        view, log = of._current, of._log
        state = view.folded()
        shown = [of, view, log, log.events, state, state.books, state.books.blocks, of._tables]
        shown += [view.context_records, of._vault, watch, watch.changes(), rows_in(of), *log.events]
        private = private_part(of, state)
        block = Block((0,), (7314,), (1,))  # what a mechanism reads
        text = "\n".join(map(repr, [*shown, private, block]))
        assert DIGITS not in text, setup
        assert DIGITS in json.dumps(content(of)["private"]), "the secret is in it"
        work.now += 1e6
        with contextlib.suppress(LookupError):
            of.settle()
        assert DIGITS not in repr(of._current.folded())


@pytest.mark.parametrize(
    "name", ["CUCBDP", "HybridUCB", "NAS", "RootFTRL", "SparseVectorSE", "TreeFTRL"]
)
def test_what_a_mechanism_remembers_shows_no_sum(name: str) -> None:
    """It stands in the frames that a failing noise source leaves."""
    of = dpb.Session(examples(name)[0], noise=dpb.SimulatedNoise(1), seed=1)
    decision = of.ask()
    of.tell(decision, reward_of(of, decision, 1.0))
    of.ask()  # what is due is released
    memory = of._log.state.books.memory
    kept = [each for each in [memory, *memory] if hasattr(each, "_fields")]
    assert kept
    assert [repr(each) for each in kept] == [f"{type(each).__name__}()" for each in kept]


# What came is not repeated


class Talkative:
    """A reward that tells itself wherever its code is run."""

    def _tell(self, *_: object) -> Any:
        raise RuntimeError(f"my value is 0.{DIGITS}")

    __float__ = __index__ = __len__ = __iter__ = __getitem__ = __eq__ = __lt__ = __array__ = (
        __hash__
    ) = _tell  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Talkative(0.{DIGITS})"

    __str__ = __repr__


def own(base: type, *verbs: str, error: type[Exception] = LookupError) -> Any:
    """A class of its own code, which fails and tells what it stands for."""

    def fails(*_: object) -> Any:
        raise error(f"my value is 0.{DIGITS}")

    return type(f"Own {base.__name__}", (base,), dict.fromkeys(verbs, fails))


Wrong = own(Talkative, "__float__", "__index__", error=ValueError)
OwnList, OwnTuple = own(list, "__iter__", "__len__"), own(tuple, "__iter__")


class Proxy:
    """Says what it stands for, which is not there."""

    @property
    def __class__(self) -> Any:
        raise RuntimeError(f"no request with the reward 0.{DIGITS}")

    @__class__.setter
    def __class__(self, _: Any) -> None: ...

    def __float__(self) -> float:
        return SECRET


def objects(*values: object) -> Any:
    array = np.empty(len(values), object)
    for at, value in enumerate(values):
        array[at] = value
    return array


REWARDS: list[Any] = [
    Talkative(),
    Wrong(),
    7314.0,
    -0.7314,
    "0.7314",
    b"0.7314",
    0.7314j,
    [7314.0],
    {"x": 0.7314},
    [0.7314, "x"],
    np.array(["0.7314"]),
    np.array([0.7314, 7314.0]),
    np.array("0.7314"),
    [Talkative()],
    [Wrong(), 1.0],
    objects(Talkative(), 1),
    (7314, 0),
    OwnList([7314.0, 0.0]),
    OwnTuple((7314.0, 0.0)),
    np.array([7314.0, 0.0]).view(own(np.ndarray, "__iter__")),
    Proxy(),
    range(7314),
    [range(7314)],
    *(math.nan, math.inf, -math.inf, -1e-9, 2.0000001, "high", None, 10**400),
]


def client() -> Client:
    randomizer = LocalLaplace(epsilon=1, width=3)  # type: ignore[arg-type]
    return Client(
        messages.randomizer_to_json(randomizer), most=1, noise=dpb.SimulatedNoise(1), simulated=True
    )


def refused_by(setup: str, verb: str) -> Callable[[Any], object]:
    def tell(reward: Any) -> None:
        work = Work(setup, dpb.SimulatedNoise(1))
        decision, other = work.asked(2)
        fine = work.reward(other, 0.5)
        before = [content(each) for each in parts(work.session)]
        try:
            if verb == "tell":
                work.session.tell(decision, reward)
            else:
                work.session.tell_many([(other, fine), (decision, reward)])
        finally:
            assert [content(each) for each in parts(work.session)] == before

    return tell


CHECKS: list[Callable[[Any], object]] = [
    checked_reward,
    lambda reward: scaled_value(reward, 0, 1),
    lambda reward: checked_rewards(reward, 3),
    lambda reward: LocalLaplace(epsilon=1).report(reward, dpb.SimulatedNoise(1)),  # type: ignore[arg-type]
    lambda reward: client().answer(messages.decision_to_json(1, 0, None), reward),
    lambda reward: client().answer(messages.decision_to_json(1, [0, 1, 2], None), reward),
    lambda reward: client().answer(
        messages.decision_to_json(1, [0, 1, 2], None), {0: reward, 1: 0.5, 2: 0.5}
    ),
    *(
        refused_by(setup, verb)
        for setup in ("batches", "guardrail", "window", "segments", "range", "joint", "full")
        for verb in ("tell", "tell_many")
    ),
]


@pytest.mark.parametrize("check", range(len(CHECKS)))
def test_no_reward_is_told(check: int) -> None:
    for reward in REWARDS:
        if type(reward) is Proxy and check in (4, 5):
            continue  # a device looks at what kind of thing it is
        with pytest.raises(dpb.RewardError, match=r"[Nn]othing was|Expected") as error:
            CHECKS[check](reward)
        assert DIGITS not in told(error.value)
        assert "0000001" not in told(error.value)


def said(call: Callable[[], Any]) -> str:
    with pytest.raises(Exception) as caught:  # noqa: PT011  # whatever it is
        call()
    return told(caught.value)


SWAPPED: list[Callable[[Any, Any, dpb.Decision], Any]] = [
    lambda s, secret, d: s.tell(secret, d),
    lambda s, secret, d: s.tell_many([(secret, d)]),
    lambda s, secret, d: s.tell_many([(s.ask(), (0.5, 0.5) if s.guardrail else 0.5), (secret, d)]),
]
OTHERWISE: list[Callable[[Any, Any, dpb.Decision], Any]] = [
    lambda s, secret, d: s.tell_many([secret]),
    lambda s, secret, d: s.tell_many(secret),
    lambda s, secret, d: s.tell_many([(d, 1.0, secret)]),
    lambda s, secret, d: s.tell(d, {"reward": secret}),
    lambda s, secret, d: s.tell(d, f"{secret}"),
    lambda s, secret, d: s.tell_message(f"{secret}"),
]


@pytest.mark.parametrize("call", [*SWAPPED, *OTHERWISE])
@pytest.mark.parametrize("setup", ["batches", "window", "range", "guardrail"])
def test_a_reward_in_a_wrong_place_cannot_be_told_from_its_error(call: Any, setup: str) -> None:
    """In that of a decision, 0 is no id, 1 one that is resolved, 2 one that waits."""

    def text(secret: Any) -> str:
        s = Work(setup, dpb.SimulatedNoise(1)).session
        gone, waiting = s.ask(), s.ask()
        s.void(gone)
        return said(lambda: call(s, secret, waiting))

    if call in SWAPPED:
        texts = {text(secret) for secret in (0, 1, 2, 0.7314, True, np.int64(1), None)}
        assert "The decision comes first" in "".join(texts)
    else:
        texts = {text(secret) for secret in (0.7314, 0.25, 1.0, 1e6)}
    assert len(texts) == 1


def test_code_that_comes_in_place_of_a_decision_a_pair_or_a_message_is_not_repeated() -> None:
    s, half = session(), own(int, "__int__", error=ValueError)(1)
    d = s.ask()
    for call, error, words in (
        (lambda: s.tell(half, d), dpb.DecisionError, "The decision comes first"),
        (lambda: s.expire(half), dpb.DecisionError, "Expected a decision"),
        (lambda: s.tell_many([(half, d)]), dpb.DecisionError, "The decision comes first"),
        (lambda: s.tell_many([OwnTuple((d, SECRET))]), TypeError, r"entry 0 .* that is none"),
        (lambda: s.tell_many(OwnList()), TypeError, "of type Own list that cannot be read"),
        (lambda: s.tell_many(Proxy()), TypeError, r"Expected \(decision, reward\) pairs"),  # type: ignore[arg-type]
        (lambda: s.tell_message(own(str, "__len__")("{}")), dpb.MessageError, "Expected a report"),
    ):
        with pytest.raises(error, match=words) as refused:
            call()
        assert DIGITS not in told(refused.value)
    assert s.pending == (d,)


# Reports and messages


class Hidden(Report):
    """A report with more in it."""

    def __repr__(self) -> str:
        return f"0.{DIGITS}"


NAME = LocalLaplace(epsilon=1).name  # type: ignore[arg-type]
REPORTS: list[Any] = [
    0.7314,
    Talkative(),
    "0.7314",
    Report(0.7314, NAME, "simulated"),
    Report(Talkative(), NAME, "simulated"),  # type: ignore[arg-type]
    Report(3, "0.7314", "simulated"),
    Report(3, Talkative(), "simulated"),
    Report(3, NAME, "0.7314"),  # type: ignore[arg-type]
    Report(3, NAME, Talkative()),
    Report((3, 0.7314), NAME, "simulated"),
    Report((Talkative(),), NAME, "simulated"),  # type: ignore[arg-type]
    Report((), NAME, "simulated"),
    Report(True, NAME, "simulated"),
    Report(7314 * 10**9, NAME, "simulated"),
    Hidden(3, NAME, "simulated"),
    Report([7314], NAME, "simulated"),
    Report(3, "LocalLaplace(epsilon=7314, grid=1024)", "simulated"),  # type: ignore[arg-type]
]


def test_no_report_is_told() -> None:
    with pytest.raises(dpb.RewardError, match="simulated"):  # where the noise of others is secure
        checked_report(Report(3, NAME, "simulated"), LocalLaplace(epsilon=1), "secure", 1)  # type: ignore[arg-type]
    central = session()
    decision = central.ask()
    with pytest.raises(dpb.RewardError):
        central.tell(decision, Report(3, NAME, "simulated"))
    local = begun(dpb.LDPKLUCB(arms=2, epsilon=1))
    with pytest.raises(TypeError, match="takes the Report"):  # and no reward as it is
        local.tell(local.ask(), 0.5)
    for at, report in enumerate(REPORTS):
        with pytest.raises((dpb.RewardError, TypeError), match="Nothing was recorded") as error:
            checked_report(report, LocalLaplace(epsilon=1), "simulated", 1)  # type: ignore[arg-type]
        assert DIGITS not in told(error.value)
        for given in ((1, report), (report, Report(3, NAME, "simulated"))):
            if at in (5, 13, 16) and given[0] == 1:
                continue  # another randomizer's, which can be sent
            with pytest.raises(messages.MessageError) as error:
                messages.report_to_json(*given)
            assert DIGITS not in told(error.value)
