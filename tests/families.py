"""What `make test` takes of each family of tests. A family is one test with many cases: a law of
every policy, a mutant of every mechanism. Its representatives are named here, all its other cases
are marked `long` and left to `make test-all`.

A test that is long as a whole says so itself, by `@pytest.mark.long`. A family that takes less than
some five seconds needs no entry. Where runs are compiled, cases of a policy in `COMPILED` are best:
to compile another player takes as long as many tests.
"""

from __future__ import annotations

import re

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
    "auditing/test_exact_law.py::test_loss_is_seen_and_never_above_the_claim": (
        r"^4-|^8-AnytimeLazyUCB"
    ),
    "auditing/test_budget.py"
    "::test_noise_that_is_redrawn_until_plausible_does_not_hang": "^plausible",
    "auditing/test_false_passes.py::test_what_passed_and_leaks_is_failed": "^(?!OneDrawForAll)",
    "auditing/test_hidden_answers.py::test_exact_sums_out_of_sight_do_not_pass": "nan|array|type",
    "auditing/test_hidden_plans.py"
    "::test_a_look_past_the_vault_is_seen_by_a_number_of_runs": r"^1\d\d$",
    "auditing/test_outside.py::test_a_generator_is_found_young_and_old": "[01]$",
    "auditing/test_together.py::test_a_record_of_one_arm_costs_what_a_whole_record_does": "0",
    "auditing/test_transcript.py::test_mutants_are_caught": "Lazy",
    "auditing/test_transcript.py::test_tight_mechanisms_cost_their_claim": "^LazyForgetful",
    "checks/test_checks.py::test_one_arm": OF_COMPILED,
    "checks/test_mutants.py::test_mutant_is_caught": r"^(?!tree|hybrid)",
    "docs/test_tutorials.py::test_tutorial": "full|options|trial",
    "environments/test_environment_laws.py::test_summed_draws_have_the_law_of_the_lattice": "-0$",
    "environments/test_order_of_arms.py::test_the_order_of_the_data_changes_no_number": OF_COMPILED,
    "mechanisms/test_joint.py::test_the_draw_has_its_law": "-[13]$",
    "noise/test_noise.py::test_gaussian": "rho0",
    "noise/test_selection.py::test_sources_have_the_exact_law": "permute-and-flip",
    "noise/test_selection.py::test_three_rounds_exactly": "laplace",
    "policies/formulas/test_summed.py"
    "::test_a_short_good_super_arm_comes_back_after_a_poor_start": "^2",
    "policies/identification/test_runs.py::test_compiled_rounds_have_the_plain_law": OF_NEAR,
    "policies/identification/test_runs.py::test_wrong_arms_are_rare": "easy",
    "policies/matroid/test_greedy.py::test_rank_one_is_the_policy_of_single_arms": "^DP",
    "policies/matroid/test_play.py::test_correlated_rewards": "DPKLMAT",
    "policies/matroid/test_play.py::test_loops_rank_and_ledger": "^(DPUCBMAT|DPKLMAT)$",
    "policies/matroid/test_play.py::test_negative_indices_still_give_bases": "^(DPUCBMAT|DPKLMAT)$",
    "policies/stopping/test_laws.py::test_stopping_time_has_its_exact_law": "^True.*cap=3",
    "policies/super_arms/test_joint.py"
    "::test_evidence_is_the_private_divergence_up_to_what_the_noise_takes": "^3-2|^1-8",
    "policies/super_arms/test_joint_oracles.py::test_every_oracle_is_played_by_every_host": (
        "coverage"
    ),
    "session/test_documents.py::test_no_damage_raises_anything_but_a_value_error": "DPKLUCB",
    "session/test_intervals.py::test_a_few_campaigns": "^(DPKLUCB|DPJointMAT)$",
    "session/test_intervals.py"
    "::test_noise_costs_less_than_half_the_width_where_it_does_not_rule": "DPKLUCB-0.1",
    "session/test_intervals.py"
    "::test_at_small_epsilon_that_begins_where_noise_is_no_larger_than_chance": "DPKLUCB",
    "session/test_intervals.py"
    "::test_where_noise_rules_no_other_interval_of_this_kind_is_much_narrower": "DPKLUCB-0.5",
    "session/test_traffic.py::test_false_alarms_at_all_times": "1000.0-turning",
    "session/test_saving.py"
    "::test_with_all_options_at_once_a_loaded_session_goes_on_as_it_would_have": (
        "DPKLUCB-refunds-segments|LazyDPTS--None"
    ),
    "simulation/test_rounds.py::test_the_player_plays_what_all_scores_say": (
        "KLUCB, c = 3-4|DPUCB-4"
    ),
    "simulation/test_batches.py::test_same_decisions_on_one_tape": (
        r"^DPKLUCB\(arms=60, epsilon=Fraction\(1, 1\).*-near 1$"
    ),
    f"{RECORDS}::test_rows_are_played_by_one_law": "FollowTheLeader",
    f"{RECORDS}::test_winners_have_the_law_of_all_sums": "^2",
    "simulation/test_identical.py::test_coins_are_played_by_one_law": ("^CUCBLDP2$"),
    "simulation/test_together.py::test_rows_are_played_by_one_law": "DPKLMAT",
    "simulation/test_delays.py::test_a_delay_costs_no_more_than_itself": "DPKLUCB",
    "simulation/test_simulate.py::test_reference": OF_COMPILED,
    "simulation/test_seeds.py::test_a_compiled_player_plays_what_it_played": OF_COMPILED,
    "simulation/test_seeds.py::test_a_seed_plays_what_it_played": OF_NEAR,
    "simulation/test_simulate.py::test_a_plain_run_depends_on_its_seed_only": OF_COMPILED,
    "simulation/test_simulate.py::test_runs_of_a_policy": OF_COMPILED,
    "simulation/test_simulate.py::test_bounded_rewards_have_one_law_in_both_hosts": (
        "^policy0-Categorical"
    ),
    "simulation/test_simulate.py::test_certain_rewards_and_ties": OF_COMPILED,
    "simulation/test_simulate.py::test_third_decision_has_its_exact_law": "True-policy0",
    "simulation/test_simulate.py::test_three_levels_have_one_law_in_both_hosts": (
        "^(DPKLUCB|RNMFTNL)$"
    ),
    f"{COMMANDS}/test_audit_command.py::test_errors_of_the_users_code_are_one_line_and_no_leak": (
        "boom|closed"
    ),
    f"{COMMANDS}/test_commands.py::test_an_audit_never_runs_a_file_that_shadows_a_library": "UCB1",
    f"{COMMANDS}/test_commands.py"
    "::test_the_folder_joins_the_path_for_ones_own_module_only_and_last": "own",
    f"{COMMANDS}/test_commands.py::test_without_its_extra_a_command_says_what_to_install": "polars",
    "theory/test_biting.py::test_regret_stays_below_a_bound_that_bites": OF_COMPILED,
    "theory/test_upper_bounds.py::test_regret_on_super_arms_stays_below_the_bound": "^OMM$",
    "theory/test_upper_bounds.py::test_regret_stays_below_the_bound": OF_COMPILED,
}
"""By test, a regular expression that the names of the cases which `make test` takes match."""


def is_long(test: str, case: str) -> bool:
    """Whether a case of a test is left to `make test-all`. test: as in `KEPT`.

    What needs a database server is tried on others before, and many machines have none.
    """
    if test in KEPT and not re.search(KEPT[test], case):
        return True
    return test.startswith("service/") and "postgresql" in case
