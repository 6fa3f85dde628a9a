"""The page "Which policy?": what `dpbandits.recommend` returns for each kind of problem."""

import re
from typing import Any

import dpbandits as dpb
from dpbandits.policies.contract import Policy

CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("one of a few arms a round", "arms=5, epsilon=1", {"arms": 5}),
    (
        "the same, and users do not trust the server",
        'arms=5, epsilon=1, model="local"',
        {"arms": 5, "model": "local"},
    ),
    (
        "every arm's reward is seen after each round",
        'arms=5, epsilon=1, feedback="full"',
        {"arms": 5, "feedback": "full"},
    ),
    (
        "two arms of five at a time (any matroid)",
        "problem=dpb.UniformMatroid(arms=5, rank=2), epsilon=1",
        {"problem": dpb.UniformMatroid(arms=5, rank=2)},
    ),
    (
        "the same, for at most 20,000 rounds",
        "problem=dpb.UniformMatroid(arms=5, rank=2), epsilon=1, horizon=20_000",
        {"problem": dpb.UniformMatroid(arms=5, rank=2), "horizon": 20_000},
    ),
    (
        "a path through a network (any set of super arms)",
        'problem=dpb.Paths([("a", "b"), ("b", "c"), ("a", "c")], "a", "c"), epsilon=1',
        {"problem": dpb.Paths([("a", "b"), ("b", "c"), ("a", "c")], "a", "c")},
    ),
    (
        "the same, and users do not trust the server",
        'problem=…, epsilon=1, model="local"',
        {
            "problem": dpb.Paths([("a", "b"), ("b", "c"), ("a", "c")], "a", "c"),
            "model": "local",
        },
    ),
]

HEAD = """# Which policy?

Written by `python -m docs.generator` from `dpbandits.recommend`; do not edit. `dpbandits list
--recommended` shows the same policies on the terminal, `dpbandits explain NAME` what is known of
each.

| the problem | `dpb.recommend(…)` | takes | its regret |
|---|---|---|---|
"""

TAIL = """
For super arms, preset "sharp" has the least mean regret on what was [measured][joint] for 20,000
rounds, and some of its runs stay with a wrong basis. Preset "level" explores for as long as it
plays: it is for longer horizons, and for those nobody knows. It costs 1.9 to 2.6 times as much
there. On small super arms it also costs more than `DPKLMAT`, which shares ε out and explores less
(uniform 10 × 3: 444 against 248; but the 99 % quantiles are 598 and 2,025, for runs of `DPKLMAT`
stay, too). So say `horizon=` where you can.

## What `recommend` does not choose

| you want | take |
|---|---|
| the default with a thin tail ([measured]) | `DPRateIMED(preset="safe")` |
| a published proof, and a bound with all constants | `DPKLUCB` |
| to name the best arm and stop | `dpb.identify` with `AdaPTT` or `DPSE` ([how to name]) |
| a mean to within a factor | `dpb.estimate` with `DPExponentialNAS` ([how to stop]) |
| zero-concentrated privacy | `AdaCUCB` |

[joint]: ../measured/regret/joint.md
[measured]: ../measured/regret/rate.md
[how to name]: ../guides/best_arm.md
[how to stop]: ../guides/stopping.md
"""


def which_policy_page() -> str:
    """The page as Markdown."""
    rows = []
    for problem, call, arguments in CASES:
        policy = dpb.recommend(epsilon=1, **arguments)
        preset = getattr(policy, "preset", None)
        own = f'(preset="{preset}")' if preset in ("sharp", "level") else ""
        name = f"`{type(policy).__name__}{own}`"
        rows.append(f"| {problem} | `{call}` | {name} | {bound_of(policy)} |\n")
    return HEAD + "".join(rows) + TAIL


def bound_of(policy: Policy) -> str:
    """What its regret is, in a table's cell. A bound of one preset is not shown for another."""
    about = policy.about
    preset = re.search(r"preset (\w+)", about.bound)
    if preset and getattr(policy, "preset", None) != preset[1]:
        return "none proved"
    proved = about.theory or "proved" in about.bound
    return about.bound.replace("|", "∣") + ("" if proved else " (not proved)")
