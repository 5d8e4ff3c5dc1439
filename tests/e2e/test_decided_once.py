"""The large example is decided alike by the scheduled plan and the command line; tests/unit tries the small one."""

import pytest

from tests.unit.plan import test_decision as decided

pytestmark = pytest.mark.e2e


def test_the_large_example_is_decided_once(tmp_path):
    both = decided.plan_both_ways("shop-eu", tmp_path)
    decided.test_the_scheduled_plan_and_the_command_line_decide_the_same(both)
    decided.test_page_and_released_files_show_what_was_decided(both)
    decided.test_a_page_has_one_recommendation_and_one_date_for_it(both)
