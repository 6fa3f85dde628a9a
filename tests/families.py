"""What `make test` takes of each family of tests. A family is one test with many cases: a law of
every policy, a mutant of every mechanism. Its representatives are named here, all its other cases
are marked `long` and left to `make test-all`.

A test that is long as a whole says so itself, by `@pytest.mark.long`. A family that takes less than
some five seconds needs no entry. Where runs are compiled, cases of a policy in `COMPILED` are best:
to compile another player takes as long as many tests.

Of long tests of laws (`LAWS`) and of others with four long cases or more `make test-all` takes a
third a day: the rest are marked `hours` until their day. All cases that name a policy have one
third, so that its player is compiled once; any other case's is fixed by its own name. The day's is
the number of days that have passed, modulo 3, in UTC. `THIRD=0` (1, 2) takes that of another day,
`THIRD=all` all cases.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from zlib import crc32

from dpbandits.policies.named import EVERY_POLICY

LAWS = "auditing/", "checks/", "forecasting/", "papers/", "policies/", "simulation/", "theory/"
"""Where each long case is played on one day of three."""

MANY = 4
"""So many long cases of one test elsewhere are played by thirds."""

NEAR = (
    "DPJointMAT",
    "DPKLUCB",
    "DPNAS",
    "DPRateIMED",
    "DPSE",
    "HybridUCB",
    "LDPKLUCB",
    "LazyDPTS",
    "RNMFTNL",
    "UCB1",
)
"""One policy of each kind of mechanism."""

COMPILED = ("DPKLUCB", "DPRateIMED", "RNMFTNL", "UCB1")
"""Those of them whose players `make test` compiles for the laws of runs."""

OF_NEAR, OF_COMPILED = (rf"\b({'|'.join(names)})\b" for names in (NEAR, COMPILED))

RECORDS = "simulation/test_compiled_records.py"
COMMANDS = "terminal/commands"

KEPT = {
    "auditing/test_budget.py::test_a_moment_is_too_short_to_pass_but_not_to_fail": "^made0",
    "auditing/test_budget.py::test_what_was_skipped_was_not_tried": "^20",
    "auditing/test_controls.py::test_what_is_wrong_is_caught": (
        "^(first pull not noised-|half noise: LazyForgetful, black box|stopping decided on raw)"
    ),
    "auditing/test_evidence.py::test_every_kind_of_claim_is_verified": "^subject1",
    "auditing/test_replays.py::test_exact_sums_out_of_sight_do_not_pass": "nan|array|type|order",
    "auditing/test_replays.py::test_what_passed_and_leaks_is_failed": "^(Lap|Begins)",
    "auditing/test_statistical.py::test_nine_tenths_of_a_tight_mechanism": "^2-",
    "auditing/test_transcript.py::test_a_record_of_one_arm_costs_what_a_whole_record_does": "0",
    "auditing/test_transcript.py::test_broken_twins_are_caught": "level|variance",
    "auditing/test_transcript.py::test_mutants_are_caught": "Lazy",
    "auditing/test_transcript.py::test_the_claim_is_what_is_lost": (
        "^(RootFTRL|SquareRoot.*leaves=8|LazyForgetful)"
    ),
    "checks/test_checks.py::test_one_arm": OF_COMPILED,
    "checks/test_mutants.py::test_mutant_is_caught": r"^(?!tree|hybrid)",
    "docs/test_tutorials.py::test_tutorial": "options|trial",
    "environments/test_order_of_arms.py::test_the_order_of_the_data_changes_no_number": OF_COMPILED,
    "forecasting/test_trials.py::test_plays_are_those_of_sessions": "min_share=0.1.*silent=0.2",
    "local/test_file_budget.py::test_alarms_hold_no_lock_and_buy_no_report": "memory",
    "mechanisms/test_joint.py::test_the_draw_has_its_law": "-[13]$",
    "noise/test_noise.py::test_gaussian": "rho0",
    "noise/test_selection.py::test_sources_have_the_exact_law": "permute-and-flip",
    "noise/test_selection.py::test_three_rounds_exactly": "laplace",
    "policies/formulas/test_summed.py"
    "::test_a_short_good_super_arm_comes_back_after_a_poor_start": "^2",
    "policies/identification/test_runs.py::test_compiled_rounds_have_the_plain_law": OF_NEAR,
    "policies/identification/test_runs.py::test_wrong_arms_are_rare": "easy-DPSE",
    "policies/matroid/test_greedy.py::test_rank_one_is_the_policy_of_single_arms": "^DP",
    "policies/matroid/test_greedy.py::test_negative_indices_still_give_bases": "^DP(UCB|KL)MAT$",
    "policies/stopping/test_laws.py::test_a_question_has_the_law_of_its_noise": "Simulated",
    "policies/stopping/test_laws.py::test_stopping_time_has_its_exact_law": "^True.*cap=3",
    "policies/super_arms/test_contested.py::test_no_run_stays_with_a_wrong_list": "level",
    "policies/super_arms/test_joint.py"
    "::test_evidence_is_the_private_divergence_up_to_what_the_noise_takes": "^3-2|^1-8",
    "service/restored/test_losses.py::test_a_repeated_answer_tells_nothing_of_the_first": "lambda",
    "service/test_looking.py::test_a_role_without_rights_to_private_tables_is_enough": "segments",
    "service/test_operations.py::test_operations_keep_their_promises": (
        "^(windowed people in segments|windowed guardrail|contexts of windowed people)"
    ),
    "service/test_seen_in_files.py::test_nobody_sees_who_answered": "harm|windows|contexts|super",
    "service/test_trail.py::test_with_an_arm_that_was_added_and_after_a_fence": "^DPKLUCB",
    "session/test_evidence.py::test_evidence_at_the_true_mean_is_one_in_the_mean": (
        "laplace$|True-gaussian"
    ),
    "session/test_intervals.py::test_a_few_campaigns": "^(DPKLUCB|DPJointMAT)$",
    "session/test_intervals.py"
    "::test_noise_widens_intervals_by_what_it_adds_to_the_variance": r"DPKLUCB-(1|0\.5)$",
    "session/test_closing.py::test_every_record_is_behind_the_last_estimates": OF_NEAR,
    "session/test_contexts.py"
    "::test_the_transcript_costs_rho_and_the_farthest_context_nearly_all_of_it": "^1500$",
    "session/test_options_together.py::test_two_options_together_cost_what_is_printed": "^users",
    "session/test_releases_only.py::test_broken_twins_are_caught": "OneStream|HalfTheNoise",
    "session/test_saving.py::test_nothing_private_is_shown": OF_NEAR,
    "simulation/test_rounds.py::test_the_player_plays_what_all_scores_say": (
        "KLUCB, c = 3-4|DPUCB-4"
    ),
    "simulation/test_batches.py::test_same_decisions_on_one_tape": (
        r"^DPKLUCB\(arms=60, epsilon=Fraction\(1, 1\).*-near 1$"
    ),
    f"{RECORDS}::test_rows_are_played_by_one_law": "FollowTheLeader.*True",
    f"{RECORDS}::test_winners_have_the_law_of_all_sums": "^2",
    "simulation/test_super_arms.py::test_super_arms_are_played_by_one_law": "^people-DPKLMAT$",
    "simulation/test_delays.py::test_a_delay_costs_no_more_than_itself": "DPKLUCB-law0",
    "simulation/test_simulate.py::test_reference": OF_COMPILED,
    "simulation/test_seeds.py::test_a_compiled_player_plays_what_it_played": OF_COMPILED,
    "simulation/test_simulate.py::test_runs_of_a_policy": OF_COMPILED,
    "simulation/test_simulate.py::test_certain_rewards_and_ties": OF_COMPILED,
    "simulation/test_simulate.py::test_third_decision_has_its_exact_law": "True-policy0",
    "simulation/test_simulate.py::test_other_rewards_have_one_law_in_both_hosts": ("^RNMFTNL$"),
    f"{COMMANDS}/test_audit_command.py::test_errors_of_the_users_code_are_one_line_and_no_leak": (
        "closed"
    ),
    "sweeps/test_sweep.py::test_a_sweep_names_the_cell": "^1$",
    f"{COMMANDS}/test_commands.py::test_without_its_extra_a_command_says_what_to_install": "polars",
}
"""By test, a regular expression that the names of the cases which `make test` takes match."""


def is_long(test: str, case: str) -> bool:
    """Whether a case of a test is left to `make test-all`. test: as in `KEPT`.

    What needs a database server is tried on others before, and many machines have none.
    """
    if test in KEPT and not re.search(KEPT[test], case):
        return True
    return test.startswith("service/") and "postgresql" in case


def resting(long: Iterable[str], third: str) -> set[str]:
    """Of cases that are long those that wait for another day. third: "0", "1", "2" or "all"."""
    families = defaultdict[str, list[str]](list)
    for case in long:
        families[case.partition("[")[0]].append(case)
    return {
        case
        for test, cases in families.items()
        if third != "all" and (len(cases) >= MANY or test.removeprefix("tests/").startswith(LAWS))
        for case in cases
        if third_of(case) != int(third)
    }


def third_of(case: str) -> int:
    names = sorted(EVERY_POLICY)
    named = [names.index(word) for word in re.findall(r"\w+", case) if word in EVERY_POLICY]
    return (named or [crc32(case.encode())])[0] % 3
