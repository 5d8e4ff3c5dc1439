"""What brokers can do: each by its own figures where they are known."""

import dataclasses

import numpy as np

from kafka_capacity.hardware.limits import Resource
from kafka_capacity.hardware.shapes import TODAY, hardware, memory_bytes, observed_shape
from kafka_capacity.kafka.cluster.brokers import Brokers

BROKERS = Brokers.of(
    [1, 2, 3], disk_capacity_bytes=[4e12, None, 1e12], cpu_cores=[2, None, 16], memory_bytes=[None] * 3
)


def test_what_is_not_known_of_one_observed_broker_is_not_taken_from_the_others():
    has = hardware(observed_shape(BROKERS), BROKERS)
    assert np.array_equal(has[Resource.DISK], [4e12, np.nan, 1e12], equal_nan=True)
    assert np.array_equal(has[Resource.CPU], [2, np.nan, 16], equal_nan=True)
    assert np.isnan(memory_bytes(observed_shape(BROKERS), BROKERS)).all()


def test_a_broker_that_nobody_observed_is_like_the_middle_of_those_that_were():
    assert hardware(observed_shape(BROKERS), Brokers.of([9]))[Resource.DISK].tolist() == [2.5e12]


def test_a_shape_that_was_named_says_what_is_not_known():
    named = dataclasses.replace(observed_shape(BROKERS), provider="aws-ec2", disk_bytes=2e12)
    assert named.name == TODAY
    assert hardware(named, BROKERS)[Resource.DISK].tolist() == [4e12, 2e12, 1e12]
    assert hardware(dataclasses.replace(named, name="m7g.large"), BROKERS)[Resource.DISK].tolist() == [2e12] * 3


def test_cores_that_the_request_gives_are_those_of_every_broker():
    assert hardware(observed_shape(BROKERS, vcpu=8.0), BROKERS)[Resource.CPU].tolist() == [8.0] * 3


def test_quotas_stand_for_the_cores_of_every_broker():
    quotas = dataclasses.replace(observed_shape(BROKERS), has_quotas=True)
    assert np.isnan(hardware(quotas, BROKERS)[Resource.CPU]).all()
