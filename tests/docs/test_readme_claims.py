"""What the README and the page of policies say of the measured tables is what the tables say."""

import re

from benchmarks.joint.headline import returns
from benchmarks.table import read

from dpbandits import recommend
from tests.places import REPOSITORY

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
POLICIES = (REPOSITORY / "docs/reference/which_policy.md").read_text(encoding="utf-8")
TABLES = REPOSITORY / "benchmarks" / "results"


def lines(name: str) -> str:
    """What, measured, wanted and met, between bars: a line for each row."""
    rows = read(TABLES / f"{name}.csv")
    return "\n".join("| " + " | ".join(list(row.values())[1:]) + " |" for row in rows)


INSTANCES = lines("instances")


def test_who_loses_least_is_counted_in_the_table() -> None:
    lowest = [set(names.split(" or ")) for names in re.findall(r"\*\*lowest: (.*?)\*\*", INSTANCES)]
    first, second = ({"DPIMED"}, {"DPRateIMED mean"})
    alone = lowest.count(first), lowest.count(second)
    assert (
        f"of [{len(lowest)} settings][instances] `DPIMED` is lowest in "
        f'{alone[0]}, preset "mean" in {alone[1]}, and in the other {len(lowest) - sum(alone)} one '
        "of them is lowest or within three standard errors of it"
    ) in POLICIES
    assert all(names & (first | second) for names in lowest)
    played = {"DPKLUCB", "DPIMED", "DPRateIMED", "DPRateIMED mean", "DPRateIMED safe"}
    rows = [line for line in INSTANCES.splitlines() if "**lowest: " in line]
    assert all(all(f"{name} " in row for name in played) for row in rows)


def test_where_the_default_has_a_fat_tail_is_in_the_table() -> None:
    """The page's numbers, and that no row it leaves out is worse than what it says."""
    rows = re.findall(
        r"DPKLUCB, (\.(?:9|0)[\d .]*), ε = ([\d.]+) .* 99\.9 % is ([\d.]+) means", INSTANCES
    )
    tails = {(means, epsilon): float(tail) for means, epsilon, tail in rows}
    said = [(".036 .03", "1"), (".036 .03", "0.1"), (".99 .98 .97", "1")]
    said += [(".999 .998 .997", "1"), (".999 .998 .997", "0.1")]
    assert [tails[row] for row in said[:3]] == [3.1, 4.3, 4.0]
    assert [round(tails[said[3]]), tails[said[4]]] == [18, 3.7]
    text = " ".join(POLICIES.split())
    assert (
        "at means .036 .03 that quantile is 3.1 means (4.3 at ε = 0.1), at .99 .98 .97 and ε = 1 "
        "it is 4.0, at .999 .998 .997 it is 18 means (3.7 at ε = 0.1)"
    ) in text
    assert max(tails.values()) == tails[".999 .998 .997", "1"]


def test_what_the_default_gains_is_in_its_table() -> None:
    """Here and in the docstring of `recommend`, on average over settings at T = 10⁵."""
    rate = lines("rate")
    found = re.findall(
        r"balanced against DPKLUCB, ε = (1|0\.1) \| T = 10\^5: "
        r"mean ×([\d.]+) \(.*?99\.9 % ×([\d.]+)",
        rate,
    )
    gains = {epsilon: round(100 * (1 - float(mean))) for epsilon, mean, _ in found}
    assert f"{gains['1']} % below `DPKLUCB`'s at ε = 1, {gains['0.1']} % at ε = 0.1" in POLICIES
    told = " ".join((recommend.__doc__ or "").split())
    assert f"{gains['1']} % (epsilon = 1) and {gains['0.1']} % (.1) below DPKLUCB's" in told
    tails = {epsilon: round(100 * (1 - float(tail))) for epsilon, _, tail in found}
    assert f"99.9 % quantiles {tails['1']} % and {tails['0.1']} % below" in POLICIES
    assert f"99.9 % quantiles {tails['1']} % and {tails['0.1']} % below" in told


def test_what_the_thin_tail_is_is_in_the_table() -> None:
    """As asked; and the page says that constants were chosen on other instances."""
    rate = lines("rate")
    row = re.search(
        r"safe, all cells \| worst at T = 10⁶: ([\d.]+) means at most.* 99\.9 %: ([\d.]+) means at "
        r"most; mean at most ×([\d.]+) balanced's \| worst ≤ 4 means, mean ≤ ×2 \| yes \|",
        rate,
    )
    runs = re.search(r"--safe-runs (\d+)", (TABLES / "rate.csv").read_text(encoding="utf-8"))
    assert row
    assert runs
    worst, tail, cost = row.groups()
    cells = re.findall(r"T = 10\^6 \|.* balanced (\d+) / (\d+) / \d+; safe", rate)
    default = max(int(quantile) / int(mean) for mean, quantile in cells)
    assert (
        f"at T = 10⁶ 99.9 % of its runs lost at most {tail} means (the default's: {default:.1f}), "
        f"and the worst of {int(runs[1]):,} lost {worst}, for at most {cost} times the default's "
        "mean"
    ) in POLICIES
    assert int(runs[1]) == 20_000
    assert float(worst) <= 4
    assert float(cost) <= 2
    assert "chosen on other instances than those that are reported" in " ".join(
        (TABLES / "rate.csv").read_text(encoding="utf-8").replace("# ", "").split()
    )


def test_what_the_preset_for_long_horizons_costs_is_in_its_table() -> None:
    """The docstring of `recommend`: mean regret of "level" over that of "sharp", all instances."""
    rows = re.findall(r"^\| (.*): DPJointMAT(\[level\])? \| (\d+) /", lines("joint"), re.MULTILINE)
    means = {(instance, bool(level)): int(mean) for instance, level, mean in rows}
    ratios = [means[name, True] / means[name, False] for name, level in means if not level]
    assert len(ratios) >= 8
    told = " ".join((recommend.__doc__ or "").split())
    assert f'"level", {min(ratios):.1f} to {max(ratios):.1f} times that there' in told


def test_the_papers_settings_are_where_the_tail_is_thin() -> None:
    tails = lines("tails")
    assert tails.count("| yes |") == 54
    assert "| NO |" not in tails


def test_what_the_first_picture_says_is_in_its_table() -> None:
    found = returns(read(TABLES / "joint.csv"))
    assert len(found) == 3 * 7  # budgets; the optimum, two private policies and four others
    assert found["1", "DPJointMAT"] > found["1", "KLOSM"]
    assert found["0.5", "DPJointMAT"] < found["0.5", "KLOSM"]
    text = " ".join(README.split())
    assert "at ε = 1 earns more than KL-OSM does without privacy; CTS-Beta, without privacy" in text


def test_it_links_to_what_is_there_and_is_short() -> None:
    links = re.findall(r"\]\(([^)#:]+)[)#]", README)
    assert not [link for link in links if not (REPOSITORY / link).exists()]
    assert README.count("\n") < 120
    assert "docs/index.md" in links
