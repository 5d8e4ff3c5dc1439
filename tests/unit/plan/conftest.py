"""What tests of the states of problems share."""

import pytest

from kafka_capacity.plan.lifecycle import observed
from tests.unit.plan.kept_problems import BEHIND, FULL, HAVE, NOTE, decided


@pytest.fixture
def first():
    """The decision of a first report."""
    return decided("2026-11-01", [FULL, BEHIND, NOTE], [HAVE])


@pytest.fixture
def document(first):
    """What is kept after it."""
    return observed(None, first, None)
