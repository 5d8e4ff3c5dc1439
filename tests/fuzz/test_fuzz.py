"""What is kept of damaged inputs is taken or refused in words, and so are a few thousand new ones."""

from __future__ import annotations

import pytest

from tests.fuzz.borders import BORDERS, seeds
from tests.fuzz.runner import ACCEPTED, described, input_of, outcome, prepare

KEPT = [(border, name) for border in BORDERS for name, _ in seeds(border)]
SHORT = 300
SEED = 20261120


@pytest.fixture(scope="module", autouse=True)
def _prepared():
    prepare()


@pytest.mark.parametrize(("border", "name"), KEPT, ids=[f"{border}/{name}" for border, name in KEPT])
def test_what_is_kept_is_taken_or_refused(border, name, tmp_path):
    found = outcome(border, name, dict(seeds(border))[name], tmp_path)
    is_whole = "~" not in name and name != "error.json"
    assert not is_whole or found == ACCEPTED, "a seed that is whole is taken"


@pytest.mark.parametrize("border", BORDERS)
def test_a_few_hundred_new_ones_of_each_border(border, tmp_path):
    failed = []
    for number in range(SHORT):
        try:
            outcome(border, *input_of(border, number, SEED), tmp_path)
        except Exception as error:
            failed.append(f"number {number}: {described(error)}")
    assert not failed, f"run python -m tests.fuzz --border {border} --seed {SEED} --keep"


def test_the_same_number_is_the_same_input():
    assert input_of("snapshot", 17, SEED) == input_of("snapshot", 17, SEED)
    assert len({input_of("requests", number, SEED)[1] for number in range(50)}) > 40
