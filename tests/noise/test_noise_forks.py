"""No draw twice in forked processes, even if they share an id: OpenDP keeps a state in memory."""

import copy
import itertools
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction

import pytest

from dpbandits.noise import Process, SecureNoise, noise_from_state
from dpbandits.noise import sources as noise_module

PRICE = Fraction(1, 10)

TWINS = """
import ctypes, os, sys
from functools import partial
options, isolated = eval(sys.argv[1]), sys.argv[2] == "namespaces"

def unshare(flags):
    if isolated and ctypes.CDLL(None).unshare(flags):
        os._exit(77)  # not allowed here

def fork():
    child = os.fork()
    if child:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

def draws(noise):
    told = [noise.laplace(0, sensitivity=1024, epsilon=Fraction(1, 10)) for _ in range(100)]
    select = partial(noise.select, [0] * 1000, sensitivity=1024, epsilon=Fraction(1))
    return told + [select(law=law) for law in ("laplace", "exponential")]

unshare(0x30000000)  # a user and a process namespace: the next child has process id 1
if isolated:
    fork()
else:
    os.getpid = lambda: 1

from fractions import Fraction
from dpbandits.noise import SecureNoise

noise = SecureNoise(**options)
draws(noise)
unshare(0x20000000)  # and so has the next one
read, write = os.pipe()
child = os.fork()
if not child:
    os.write(write, repr((os.getpid(), draws(noise))).encode())
    os._exit(0)
os.waitpid(child, 0)
print([(os.getpid(), draws(noise)), eval(os.read(read, 65536))])
sys.stdout.flush()
os._exit(0)
"""


def twins(options: dict[str, bool], how: str) -> list[tuple[int, list[int]]]:
    """What a process and its fork, both with process id 1, draw from one source."""
    done = subprocess.run(
        [sys.executable, "-c", TWINS, repr(options), how],
        capture_output=True,
        text=True,
        timeout=300,
    )
    if done.returncode == 77:
        pytest.skip("this system does not let us make process namespaces")
    assert done.returncode == 0, done.stderr
    return eval(done.stdout)  # type: ignore[no-any-return]  # what the script above printed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("how", ["namespaces", "patched"])
@pytest.mark.parametrize("options", [{}, {"fresh": True}], ids=["OpenDP", "fresh"])
def test_a_fork_with_the_parents_process_id_draws_for_itself(
    options: dict[str, bool], how: str
) -> None:
    """Of 100 draws of scale 10,000 two are equal at one place with probability 1/40,000; at three
    places with less than 1e-8.

    In namespaces OpenDP's own generator repeats: it looks at the process id alone.
    """
    (one, ours), (other, theirs) = twins(options, how)
    assert one == other == 1
    assert sum(a == b for a, b in zip(ours[:100], theirs[:100], strict=True)) < 3
    # two places among 1,000 actions each: equal by chance with probability 1e-6
    assert ours[100:] != theirs[100:]


@pytest.fixture
def process() -> Iterator[type[Process]]:
    """The record of this process's forks, which a test may change."""
    before = (Process.generator_is_a_copy, Process.id)
    yield Process
    Process.generator_is_a_copy, Process.id = before


@pytest.fixture
def numbered(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[int]]:
    """OpenDP replaced by 0, 1, 2, …: so that the same draw twice is seen."""
    numbers = itertools.count()

    def draws(family: str, sensitivity: int, cost: Fraction, count: int) -> list[int]:
        return [next(numbers) for _ in range(count)]

    monkeypatch.setattr(noise_module, "secure_draws", draws)
    return draws


def test_a_child_of_a_process_with_opendp_draws_afresh(
    process: type[Process], numbered: Callable[..., list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(noise_module, "fresh_draw", lambda *scale: -1)
    noise = SecureNoise()
    monkeypatch.delitem(sys.modules, "opendp", raising=False)
    monkeypatch.setattr(os, "getpid", lambda: -5)
    process.forked()
    # OpenDP is not there yet: the child makes a generator of its own
    monkeypatch.setitem(sys.modules, "opendp", noise_module)
    assert noise.laplace(0, sensitivity=1, epsilon=PRICE) >= 0
    process.forked()
    assert noise.laplace(0, sensitivity=1, epsilon=PRICE) == -1


def test_a_fork_that_goes_round_python(
    process: type[Process], numbered: Callable[..., list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No handler is called; another process id is enough."""
    monkeypatch.setattr(noise_module, "fresh_draw", lambda *scale: -1)
    monkeypatch.setitem(sys.modules, "opendp", noise_module)
    noise = SecureNoise()
    assert noise.laplace(0, sensitivity=1, epsilon=PRICE) >= 0
    monkeypatch.setattr(os, "getpid", lambda: -5)
    assert noise.laplace(0, sensitivity=1, epsilon=PRICE) == -1
    assert noise.select([0, 0], sensitivity=1, epsilon=PRICE, law="laplace") in (0, 1)


def test_fresh_noise_keeps_no_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call asks the operating system, and OpenDP is not asked at all."""
    asked = list[int]()
    honest = os.urandom

    def counted(size: int) -> bytes:
        asked.append(size)
        return honest(size)

    monkeypatch.setattr(os, "urandom", counted)
    monkeypatch.setattr(noise_module, "secure_draws", None)
    monkeypatch.setattr(noise_module, "secure_choice", None)
    noise = SecureNoise(fresh=True)
    for call in (
        lambda: noise.laplace(0, sensitivity=8, epsilon=PRICE),
        lambda: noise.gaussian(0, sensitivity=8, rho=PRICE),
        lambda: noise.threshold(sensitivity=8, epsilon=PRICE),
        lambda: noise.exceeds(0, 0, 0, sensitivity=8, epsilon=PRICE),
        lambda: noise.joint([1, 2], sensitivity=8, epsilon=PRICE),
        *(
            lambda law=law: noise.select([1, 2], sensitivity=8, epsilon=PRICE, law=law)
            for law in ("laplace", "exponential", "permute-and-flip")
        ),
    ):
        before = len(asked)
        call()
        assert len(asked) > before


# A copied or pickled secure source draws for itself: one draw on two sums would give away their
# exact difference


def draws(noise: SecureNoise) -> list[int]:
    return [noise.laplace(0, sensitivity=1024, epsilon=Fraction(1, 10)) for _ in range(8)]


COPIES: list[Callable[[SecureNoise], SecureNoise]] = [
    copy.copy,
    copy.deepcopy,
    lambda noise: pickle.loads(pickle.dumps(noise)),
    lambda noise: pickle.loads(pickle.dumps(noise, 0)),
    lambda noise: noise_from_state(noise.state()),
]


@pytest.mark.parametrize("copied", COPIES)
def test_a_copy_draws_for_itself_and_stays_fresh(
    copied: Callable[[SecureNoise], SecureNoise],
) -> None:
    for fresh in (False, True):
        noise = SecureNoise(fresh=fresh)
        draws(noise)
        again = copied(noise)
        assert (type(again), again.fresh) == (SecureNoise, fresh)
        assert draws(noise) != draws(again)  # equal by chance with probability below 1e-30
    assert repr(noise) == "SecureNoise(fresh=True)"
    assert SecureNoise().state() == {"kind": "secure"}
    with pytest.raises(TypeError, match="fresh=True"):
        SecureNoise(fresh=1)  # type: ignore[arg-type]
