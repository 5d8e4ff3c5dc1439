"""What a process on another machine refuses: the same class and sentence at both ends."""

from __future__ import annotations

import pytest

from kafka_capacity import errors
from kafka_capacity.objects.keys import refusal_key
from kafka_capacity.objects.refusal import take_refusal, tell_refusal
from kafka_capacity.objects.store import LocalStore

KINDS = [one for one in vars(errors).values() if isinstance(one, type)]
KEY = refusal_key("a run/1")


@pytest.fixture
def store(tmp_path):
    return LocalStore(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_comes_back_as_it_was_and_is_taken_away(store, kind):
    more = {"kafka_type": "NotEnoughReplicas"} if kind in (errors.PlacementError, errors.AssignmentError) else {}
    tell_refusal(store, KEY, kind("broker_counts: „ö“ is refused", **more))
    found = take_refusal(store, KEY)
    assert type(found) is kind
    assert str(found) == "broker_counts: „ö“ is refused"
    assert getattr(found, "kafka_type", None) == more.get("kafka_type")
    assert take_refusal(store, KEY) is None


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b'{"type": "KeyError", "message": "x", "kafka_type": null}', b'{"type": "RequestError"}', b"\xff"],
)
def test_anything_else_is_no_refusal(store, body):
    store.write_bytes(KEY, body, content_type="application/json")
    assert take_refusal(store, KEY) is None
