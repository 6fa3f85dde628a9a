"""Plain data are read as a type by any number of threads."""

import subprocess
import sys

MEANWHILE = """
import threading
from typing import NamedTuple
from dpbandits.core.inputs import converted

half, done = threading.Event(), threading.Event()

def number():
    half.set()
    done.wait(0.3)
    return int

class Inner(NamedTuple):
    number: "number()"

class Outer(NamedTuple):
    inner: Inner
    last: int

found = []

def read():
    found.append(converted([[1], 2], Outer, "it"))

def meanwhile():
    half.wait()
    read()
    done.set()

other = threading.Thread(target=meanwhile)
other.start()
read()
other.join()
print(found)
"""
"""While one thread finds out what the class is, which takes a while, another one needs it."""


def test_a_class_that_two_threads_meet_at_once() -> None:
    ran = subprocess.run([sys.executable, "-c", MEANWHILE], capture_output=True, text=True)
    one = "Outer(inner=Inner(number=1), last=2)"
    assert (ran.returncode, ran.stdout) == (0, f"[{one}, {one}]\n")
