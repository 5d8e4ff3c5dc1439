"""What a process that does one command arranges for itself."""

from __future__ import annotations

import gc
import weakref

import pytest

from kafka_capacity.cli import startup
from kafka_capacity.cli.plan_input import run_step_by_step


class Knot:
    """Something that only a collector of garbage frees."""

    def __init__(self):
        self.itself = self


@pytest.fixture
def own_process(monkeypatch):
    monkeypatch.setattr(startup, "_own_process", True)
    monkeypatch.setattr(startup, "_is_frozen", False)
    gc.disable()
    yield
    gc.enable()
    gc.unfreeze()


def test_pieces_leave_no_garbage_behind(own_process):
    left = []

    def piece(shared, number):
        assert not any(one() for one in left), "what an earlier piece made is still there"
        left.append(weakref.ref(Knot()))
        return {}

    run_step_by_step(lambda *told, **more: None, begun=0)(piece, None, range(3), what="pieces")
    assert len(left) == 3
