"""What users read of the examples changes on purpose only; ``python -m tests.frozen`` writes it down again."""

import pytest

from tests.frozen.examples import write_examples
from tests.frozen.requests import ANSWERS, REQUESTS, answer


@pytest.fixture(scope="session")
def snapshots(tmp_path_factory):
    return write_examples(tmp_path_factory.mktemp("examples"))


@pytest.mark.parametrize("name", REQUESTS)
def test_the_answer_is_the_one_that_was_read(name, snapshots, tmp_path):
    assert answer(name, snapshots, tmp_path / "out") == (ANSWERS / f"{name}.txt").read_text(encoding="utf-8")


def test_every_answer_has_its_request():
    assert {path.stem for path in ANSWERS.iterdir()} == set(REQUESTS)
