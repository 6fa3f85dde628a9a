"""Judgements that outlive an interrupted run: a line of JSON each, in a file of the code's hash.

Fifty repetitions of everything take hours. What was judged by the same code is not judged again:
the modules that a judgement imports, directly or through others, and what they run on (Python, the
lock file), and no more, so that a changed page or store keeps what was judged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.digest import digest_of

JUDGES = ("benchmarks.controls.repeated", "benchmarks.controls.listed")


class Judgement(NamedTuple):
    """One repetition of one control. key: its list, place, name and level. right: caught if it is
    broken, passed if not. bound: the largest certified.
    """

    key: str
    repetition: int
    right: bool
    bound: float
    seconds: float


class Kept:
    """What this code has judged so far. A line that was cut off when its run was stopped is judged
    again.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"{digest_of(JUDGES)}.jsonl"
        self.judgements: dict[tuple[str, int], Judgement] = {}
        for line in self._lines():
            self._remember(Judgement(*json.loads(line)))

    def add(self, judgement: Judgement) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(judgement) + "\n")
        self._remember(judgement)

    def of(self, key: str) -> list[Judgement]:
        """Every judgement of one control."""
        return [judgement for judgement in self.judgements.values() if judgement.key == key]

    def has(self, key: str, repetition: int) -> bool:
        return (key, repetition) in self.judgements

    def _remember(self, judgement: Judgement) -> None:
        self.judgements[judgement.key, judgement.repetition] = judgement

    def _lines(self) -> Iterator[str]:
        """Whole lines of the file; a rest without its end is cut off."""
        if not self.path.exists():
            return
        text = self.path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self.path.write_text(whole, encoding="utf-8")
        yield from whole.splitlines()
