"""Every promise of docs/guides/operating.md has tests, and each of them exists."""

import ast
import re

from tests.places import REPOSITORY

GUIDE = REPOSITORY / "docs" / "guides" / "operating.md"
TESTS = {
    1: [
        "crashes/test_kills.py::test_twenty_kills",
        "crashes/test_faults.py::test_no_block_is_drawn_for_twice",
        "crashes/test_failures.py::test_a_disk_that_is_full",
        "crashes/test_failures.py::test_a_server_that_goes_away",
        "rows/test_append_only.py::test_every_connection_to_a_file_waits_for_the_disk",
        "rows/test_append_only.py::test_a_file_that_could_lose_a_commit_is_refused",
        "rows/test_append_only.py::test_a_server_that_could_lose_a_commit_is_refused",
        "rows/test_refused_stores.py::test_a_server_that_forgets_is_refused",
    ],
    2: [
        "test_operations.py::test_operations_keep_their_promises",
        "test_machine.py::test_in_memory",
        "test_machine.py::test_in_a_file",
        "test_machine.py::test_on_a_server",
        "test_machine.py::test_over_http_where_replies_are_lost",
        "crashes/test_failures.py::test_eight_processes_at_once",
        "rows/test_append_only.py::test_the_database_refuses_a_reading_that_overlaps_another",
        "rows/test_refused_stores.py::test_a_store_that_was_not_restored_whole_is_refused",
    ],
    3: [
        "rows/test_append_only.py::test_the_database_alters_no_line_and_no_release",
        "crashes/test_kills.py::test_twenty_kills",
        "crashes/test_interrupted_calls.py"
        "::test_every_reward_is_in_one_sum_and_one_release_and_every_ask_is_made_once",
        "restored/test_fence.py::test_a_crash_between_commit_and_witness_is_made_good_before_a_fence",
        "test_operations.py::test_operations_keep_their_promises",
        "test_refused_calls.py::test_noise_that_fails_undoes_no_release",
        "crashes/test_faults.py::test_no_block_is_drawn_for_twice",
    ],
    4: [
        "test_looking.py::test_what_is_not_witnessed_is_not_shown",
        "restored/test_fence.py::test_two_clones_at_once",
        "crashes/test_faults.py::test_no_block_is_drawn_for_twice",
        "restored/test_fence.py::test_a_release_that_was_never_witnessed_stays_unseen",
    ],
    5: [
        "restored/test_two_timelines.py::test_exact_loss",
        "restored/test_losses.py::test_no_noise_lies_in_a_copy",
        "restored/test_names.py::test_a_late_answer_counts_for_nobody_else",
        "restored/test_fence.py::test_two_clones_never_show_two_readings",
        "test_parts.py::test_a_copy_put_back_fences_every_part_though_one_alone_was_read",
        "test_recorded.py::test_a_batch_of_a_lost_timeline_is_not_read_again",
    ],
    6: ["restored/test_losses.py::test_a_repeated_answer_tells_nothing_of_the_first"],
    7: [
        "test_seen_in_files.py::test_nobody_sees_who_answered",
        "test_seen_in_files.py::test_no_length_tells_a_reward",
        "rows/test_refused_stores.py::test_no_reward_is_seen_in_files_logs_or_errors",
        "browsing/test_page.py::test_every_number_is_the_api_s",
        "http/test_served.py::test_what_is_said_follows_from_releases",
        "test_operations.py::test_operations_keep_their_promises",
        "test_looking.py::test_a_role_without_rights_to_private_tables_is_enough",
    ],
    8: [
        "test_edited_rows.py::test_no_attack_has_a_reward_read_twice",
        "test_edited_rows.py::test_a_larger_epsilon_is_never_drawn_with",
    ],
}
"""The tests of each promise, in tests/service."""


def test_each_promise_has_tests() -> None:
    part = GUIDE.read_text(encoding="utf-8").partition("## What is promised\n")[2]
    promised = re.findall(r"^(\d+)\. \*\*", part, re.MULTILINE)
    assert [int(number) for number in promised] == list(TESTS)


def test_every_test_that_is_named_exists() -> None:
    for file, _, name in (each.partition("::") for some in TESTS.values() for each in some):
        text = (REPOSITORY / "tests" / "service" / file).read_text(encoding="utf-8")
        assert name in {n.name for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)}
