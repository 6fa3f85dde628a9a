"""Measures on made-up runs whose truth is known."""

from __future__ import annotations

from typing import Any

from papers.evidence import Evidence
from papers.paper import Claim, judge


def word(given: Evidence, measure: str, needs: str = "", **arguments: Any) -> str:
    """The verdict on a claim of this measure."""
    claim = Claim(
        id="c",
        statement="s",
        where="w",
        measure=measure,
        arguments=arguments,
        differs="because",
        needs=needs,
    )
    return judge(claim, given).word
