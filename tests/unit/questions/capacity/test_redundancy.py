"""What cannot be lost whatever the hardware: single replicas, of today, of an option and of topics to come."""

import dataclasses

import pytest

from kafka_capacity.demand.outlook import AddedTopic
from kafka_capacity.hardware.limits import FailureTolerance, Limits
from kafka_capacity.hardware.shapes import observed_shape
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.questions.capacity.choice import advise_size
from kafka_capacity.questions.capacity.options import SizingInputs, SizingRequest
from kafka_capacity.questions.capacity.redundancy import SingleReplicas, single_replicas
from kafka_capacity.questions.capacity.simulate import simulate_sizing
from tests.asking import run_sizes
from tests.builders import cluster, topic
from tests.unit.questions.capacity.workloads import MIB, workload

NONE, ONE_BROKER, ONE_RACK = FailureTolerance.NONE, FailureTolerance.ONE_BROKER, FailureTolerance.ONE_RACK


def added(name, factor):
    return AddedTopic(
        name=name,
        from_date="2026-12-01",
        partitions=5,
        replication_factor=factor,
        bytes_in_peak_bytes_per_second=MIB,
        bytes_in_mean_bytes_per_second=MIB,
        bytes_out_peak_bytes_per_second=MIB,
        bytes_out_mean_bytes_per_second=MIB,
        retention_seconds=3600.0,
    )


def world(*topics, extra=(), racks=3):
    raw = cluster(topics=topics, racks=racks)
    snapshot = build_snapshot(raw)
    load = partition_load(raw, snapshot)
    names = [snapshot.partitions.topics[place] for place in snapshot.partitions.topic.tolist()]
    return snapshot, workload(load.bytes_in_mean_bytes_per_second, size=2**20, names=names, added=extra)


def sized(factors, tolerance, *topics, **made):
    """Return the constraints of each option by its id."""
    snapshot, work = world(*topics, **made)
    request = SizingRequest(
        today=observed_shape(snapshot.brokers, vcpu=16.0),
        broker_counts=(6,),
        replication_factors=factors,
        limits=Limits(tolerance=tolerance),
    )
    return {
        result.option_id: result
        for result in simulate_sizing(SizingInputs.of(snapshot, work, request), run_sizes).results
    }


def single(snapshot, work, tolerance):
    request = SizingRequest(today=observed_shape(snapshot.brokers), limits=Limits(tolerance=tolerance))
    return single_replicas(SizingInputs.of(snapshot, work, request))


ORDERS, AUDIT = topic("orders", partitions=12, min_insync_replicas=1), topic("audit", partitions=4, rf=2)
TRACE = topic("trace", rf=1)


@pytest.mark.parametrize("tolerance", [ONE_BROKER, ONE_RACK])
def test_an_option_that_leaves_single_replicas_does_not_stand_a_loss(tolerance):
    found = sized((1, 2, None), tolerance, AUDIT, ORDERS, TRACE)
    (excuse,) = found["006-brokers.today.rf1"].excuses
    assert excuse.as_dict() == {
        "reason": "16 partitions would be left with a single replica (topics audit, orders), which is lost with its "
        "broker; keep 2 or more",
        "constraint": "replication_factor",
        "where": "topics audit, orders",
        "needed": 2.0,
        "available": 1.0,
        "unit": "replicas",
    }
    assert found["006-brokers.today.rf1"].fits_until is None
    assert found["006-brokers.today.rf2"].fits
    assert found["do-nothing"].fits  # one replica of trace is nothing that an option brings: see below


def test_where_nothing_may_fail_one_replica_is_enough():
    assert sized((1,), NONE, ORDERS)["006-brokers.today.rf1"].fits


def test_topics_that_have_one_replica_already_are_not_the_fault_of_an_option():
    assert sized((1,), ONE_BROKER, TRACE)["006-brokers.today"].fits  # which have it today
    mixed = topic("other", min_insync_replicas=1), TRACE
    assert not sized((1,), ONE_BROKER, *mixed)["006-brokers.today.rf1"].fits


def test_an_option_that_leaves_as_many_replicas_as_must_be_in_sync_stands_no_loss_either():
    strict = topic("orders", partitions=12)
    found = sized((2, 3), ONE_BROKER, AUDIT, strict)
    (excuse,) = found["006-brokers.today.rf2"].excuses
    assert excuse.reason == (
        "12 partitions would have as many replicas as min.insync.replicas (topic orders): any broker lost, any rolling "
        "restart, makes writes with acks=all fail; keep 3 or more, or lower min.insync.replicas"
    )
    assert (excuse.constraint, excuse.needed, excuse.available) == ("replication_factor", 3.0, 2.0)
    assert found["006-brokers.today.rf3"].fits
    assert sized((2,), NONE, strict)["006-brokers.today.rf2"].fits


def test_a_rack_with_most_of_the_replicas_of_partitions_cannot_be_lost():
    """Of two racks one has two of three replicas: with it gone fewer are left than must be in sync."""
    strict = topic("orders", partitions=12)
    found = sized((None,), ONE_RACK, strict, AUDIT, racks=2)
    for name in ("do-nothing", "006-brokers.today"):
        (excuse,) = found[name].excuses
        assert excuse.reason == (
            "12 partitions would fall under min.insync.replicas with a rack lost (topic orders), where writes with "
            "acks=all fail; spread them over more racks, or lower min.insync.replicas"
        )
        assert (excuse.constraint, excuse.needed, found[name].fits) == ("racks", 12.0, False)
    assert sized((None,), ONE_BROKER, strict, racks=2)["do-nothing"].fits
    assert sized((None,), ONE_RACK, strict, racks=3)["do-nothing"].fits
    assert sized((None,), ONE_RACK, ORDERS, racks=2)["do-nothing"].fits  # one replica is enough for writes


def test_todays_factor_is_no_other_option():
    plain, asked = (sized(factors, ONE_BROKER, topic("orders")) for factors in ((None,), (3,)))
    assert list(plain) == list(asked)
    assert "006-brokers.today.rf3" in sized((3,), ONE_BROKER, topic("orders"), AUDIT)


def test_topics_to_come_count_with_the_factor_that_the_option_gives_them():
    found = sized((1, 3), ONE_BROKER, TRACE, extra=(added("fraud", 3),))
    (excuse,) = found["006-brokers.today.rf1"].excuses
    assert excuse.reason.startswith("5 partitions would be left with a single replica (topic fraud), ")
    assert found["006-brokers.today.rf3"].fits


def test_a_topic_to_come_takes_as_many_brokers_as_it_has_replicas():
    found = sized((None, 2), ONE_BROKER, ORDERS, extra=(added("fraud", 7),))
    for name in ("do-nothing", "006-brokers.today"):
        (excuse,) = found[name].excuses
        assert excuse.reason == (
            "topic fraud, planned from 2026-12-01 on, takes 7 brokers for its 7 replicas, and there are 6; keep 7 or "
            "more"
        )
        assert (excuse.when, excuse.needed, excuse.available) == ("2026-12-01", 7.0, 6.0)
        # The last day on which it does not exist yet.
        assert (found[name].fits, found[name].fits_until) == (False, "2026-11-30")
    assert found["006-brokers.today.rf2"].fits  # given two replicas as all others
    advice = advise_size(tuple(found.values()), ("2026-11-20", "2026-12-20"))
    assert advice.reason.endswith(f"doing nothing does not fit: {found['do-nothing'].excuses[0].reason}")


def test_single_replicas_of_today_and_to_come_are_counted_and_named():
    snapshot, work = world(ORDERS, TRACE, extra=(added("fraud", 1), added("kept", 3)))
    found = single(snapshot, work, ONE_BROKER)
    assert found == SingleReplicas(partitions=11, topics=("fraud", "trace"), wanted_factor=3, stored_bytes=None)
    assert found.reason == (
        "11 partitions have a single replica (topics fraud, trace): with any number of brokers, losing the one that "
        "holds it stops them; raise their replication factor to 3, which takes at least 3 brokers and room for 2 more "
        "copies"
    )
    # Without planned topics it is known how much more there is to hold: twice a MiB each.
    today = single(*world(ORDERS, TRACE), ONE_BROKER)
    assert today.reason.endswith(f" and room for 2 more copies ({2 * today.partitions:.1f} MiB today)")
    assert single(snapshot, work, NONE) is None
    assert single(*world(ORDERS), ONE_RACK) is None


def test_of_many_topics_a_few_are_named():
    found = SingleReplicas(partitions=1, topics=("a",), wanted_factor=2, stored_bytes=None)
    assert found.reason.startswith("1 partition has a single replica (topic a): ")
    assert found.reason.endswith(
        "stops it; raise its replication factor to 2, which takes at least 2 brokers and room for 1 more copy"
    )
    many = dataclasses.replace(found, partitions=5, topics=tuple("abcde"))
    assert many.where == "topics a, b, c and 2 more"
