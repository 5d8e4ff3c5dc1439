"""Kafka's names for the timeouts of a quorum."""

import pytest

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.controller.quorum.settings import QuorumTimeouts, timeouts_of

NAMES = {
    "fetch.timeout.ms": "fetch_timeout_seconds",
    "election.timeout.ms": "election_timeout_seconds",
    "election.backoff.max.ms": "election_backoff_max_seconds",
    "request.timeout.ms": "request_timeout_seconds",
    "retry.backoff.ms": "retry_backoff_seconds",
}


@pytest.mark.parametrize("prefix", ["controller.quorum.", "quorum."])
@pytest.mark.parametrize(("name", "field"), NAMES.items())
def test_each_name_sets_its_own_field(prefix, name, field):
    timeouts = timeouts_of({prefix + name: "7000", "log.dirs": "/data"})

    assert timeouts == QuorumTimeouts(**{field: 7.0})


def test_without_properties_it_is_kafkas_defaults():
    assert timeouts_of({}) == QuorumTimeouts()


def test_the_idle_interval_may_be_off():
    assert timeouts_of({"metadata.max.idle.interval.ms": 0}).idle_interval_seconds == 0


@pytest.mark.parametrize("value", ["soon", "-1", 0, "1.5", 2**31])
def test_a_value_that_is_no_time_is_refused(value):
    with pytest.raises(RequestError, match=r"controller\.quorum\.fetch\.timeout\.ms must be a whole number"):
        timeouts_of({"controller.quorum.fetch.timeout.ms": value})


def test_old_and_new_name_must_agree():
    same = {"quorum.fetch.timeout.ms": 3000, "controller.quorum.fetch.timeout.ms": "3000"}
    assert timeouts_of(same).fetch_timeout_seconds == 3

    with pytest.raises(RequestError, match="contradict each other"):
        timeouts_of(same | {"quorum.fetch.timeout.ms": 1})
