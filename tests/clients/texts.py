"""Descriptions and decisions as a server sends them, and such as no server should."""

import json
from typing import Any

CAMPAIGN = 'films "é" \U0001f3ac'


def grid(steps: object, rounding: object = "nearest") -> dict[str, object]:
    return {"steps": steps, "rounding": rounding}


def description(kind: str, epsilon: str, steps: int, rounding: str, *, width: int = 1) -> str:
    return json.dumps(
        {"version": 1, "campaign": CAMPAIGN, "randomizer": kind, "epsilon": epsilon}
        | {"grid": grid(steps, rounding), "width": width}
    )


def changed(**fields: Any) -> str:
    """A description with other fields."""
    return json.dumps(json.loads(GOOD) | fields)


def decision(
    id: object, action: object, observe: object = None, *, campaign: str = CAMPAIGN
) -> str:
    return json.dumps(
        {"version": 1, "campaign": campaign, "id": id, "action": action, "observe": observe}
    )


GOOD = description("LocalLaplace", "1", 8, "nearest")
ASKED = decision(1, [0, 1])

BAD_DECISIONS = [
    "",
    "null",
    "[]",
    GOOD,
    ASKED + " 1",
    ASKED.replace("}", ",}"),
    ASKED.replace('"id": 1', '"id": 01'),
    ASKED.replace('"id": 1', '"id": +1'),
    ASKED.replace('"id": 1', '"id": 1, "__proto__": 1'),
    ASKED.replace('"id": 1', '"id": NaN'),
    ASKED.replace('"id": 1', '"id": ' + "1" * 4301),
    ASKED.replace('"version": 1', '"version": true'),
    ASKED.replace('"version": 1', '"version": 2'),
    ASKED.replace("films", "films\n"),
    ASKED.replace("films", "films\\x"),
    ASKED.replace("films", "films\\"),
    "\ufeff" + ASKED,
    "\u00a0" + ASKED,
    "[" * 2_000,
    '{"id": ' * 70 + "1" + "}" * 70,
    *(
        decision(*what)
        for what in [
            (0, 0),
            (-1, 0),
            ("1", 0),
            (None, 0),
            (True, 0),
            (1, "0"),
            (1, None),
            (1, True),
            (1, -1),
            (1, [0, -1]),
            (1, [0, [1]]),
            (1, [0, True]),
            (1, []),
            (1, [0, 0]),
            (1, [0, 1], []),
            (1, [0, 1], 1),
            (1, [0, 1], [2]),
            (1, [0, 1], [1, 1]),
            (1, [0, 1], "0"),
            (1, 0, [1]),
            (1, [0, 1], {}),
        ]
    ),
    decision(1, [0, 1], campaign="a" * 201),
]
"""Decisions that no device answers."""

LOOSE_DECISIONS = [
    ASKED.replace('"id": 1', '"id": 1.0'),
    ASKED.replace('"id": 1', '"id": 1e0'),
    ASKED.replace('"id": 1', '"id": 1, "id": 1'),
    ASKED.replace('"id": 1', '"id": 1, "\\u0069d": 1'),
    ASKED.replace('"version": 1', '"version": 1.0'),
    decision(1, [0, 1.0]),
]
"""Decisions that JavaScript alone answers: its JSON takes them for good ones."""

EPSILONS = [
    *("1", "0.1", "1/10", " 1/10\n", "1e-3", "1E+2", ".5", "5.", "+1", "007", "1_000", "10/20"),
    *(
        "",
        "0",
        "-1",
        "0/1",
        "1/0",
        "1/-2",
        "1//2",
        "1/2/3",
        "1.5/2",
        "1_",
        "_1",
        "0x1",
        "inf",
        "nan",
    ),
    *("1 / 2", "1e", "e1", ".", "1e99999", "1e-99999", "1e100", "1e101", "1e-100", "1e-20"),
    *(f"{10**100}/3", f"{10**100 + 1}/3", f"1/{10**100 + 1}", f"{10**150}/{10**149}", "1" * 4001),
    *("True", "one"),
]

DESCRIPTIONS = [
    *(description("RandomizedResponse", epsilon, 1, "nearest") for epsilon in EPSILONS),
    *(changed(epsilon=epsilon) for epsilon in (*EPSILONS, 1, 1.0, None, ["1"])),
    *(changed(randomizer=kind) for kind in ("Exact", "", "__proto__", "toString", None, 1)),
    *(changed(grid=grid(steps)) for steps in (0, -1, 1, True, "1", 2**20, 2**20 + 1)),
    *(changed(grid=grid(1, rounding)) for rounding in ("bernoulli", "up", "", "Nearest", None)),
    *(changed(grid=wrong) for wrong in (None, [], {"steps": 1}, 1, grid(1) | {"x": 1})),
    *(changed(width=width) for width in (0, 2, 10**7, 10**7 + 1, True, "1", None)),
    *(changed(campaign=name) for name in ("", 1, None, "\U0001f3ac" * 200, "\U0001f3ac" * 201)),
    *(changed(epsilon=f"1/{2**50 + more}") for more in (0, 1)),
    description("RandomizedResponse", f"1/{2**50 + 1}", 1, "nearest"),
    changed(more=1),
    GOOD.replace(", ", "\t,\r\n "),
    GOOD.replace("films", "\\ud83c"),
    GOOD.replace("films", "\\ud83c\\udfac\\/"),
    GOOD.replace("films", "\x7f\u2028"),
    GOOD.replace("films", "\x1f"),
]
"""Descriptions, of which a device takes some."""

LOOSE_DESCRIPTIONS = [
    changed(grid=grid(1.0)),
    changed(width=1.0),
    GOOD.replace('"width": 1', '"width": 1, "width": 1'),
]
"""Descriptions that JavaScript alone takes."""
