"""Share groups: members that are needed, and what locks, crashes and stuck records cost."""

import dataclasses
import json

import numpy as np
import pytest

from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.questions.consumers.scenario import Verdict
from kafka_capacity.questions.consumers.section.groups import build
from kafka_capacity.questions.consumers.share_groups import share_group, share_sentences
from tests.builders import topic
from tests.report.decided import decision_of, render_all, view_plan
from tests.report.plans import make_inputs
from tests.unit.inventory.inventories_with_groups import found, group, member

TOPICS = (topic("orders", partitions=4, bytes_in=50_000.0), topic("audit", partitions=2, bytes_in=500.0))


def shared(count=3, *, topics=TOPICS, hours=168, subscribed=("orders",), is_offline=None, **asked):
    """Return what a share group of some members is told, which reads 200 records/s of 1,000 bytes, 50 a partition."""
    members = [member(f"m-{number}", ("orders", number % 4), subscribed=subscribed) for number in range(count)]
    shares = [group(group_type="share", protocol_type="share", assignor="simple")]
    (facts,) = found(groups=shares, members=members, topics=topics, hours=hours).shared
    facts = dataclasses.replace(facts, **({} if is_offline is None else {"is_offline": is_offline}))
    request = parse_plan_request({"cluster": "payments", **asked})
    return share_group(facts, request.group_grid(seed=0))


def test_members_are_needed_for_the_rate_and_for_those_that_fail():
    row = shared(record_processing_seconds=0.05)
    assert (row["peak_records_per_second"], row["busiest_records_per_second"]) == (200.0, 50.0)
    assert (row["needed_members"], row["member_count"], row["useful_members"]) == (11, 3, 16)
    assert row["verdict"] is Verdict.DOES_NOT_FIT
    assert row["reasons"] == [
        "11 members are needed for 200 records/s at peak, 1 of them in case of failures, but there are 3"
    ]
    assert shared(11, record_processing_seconds=0.05)["verdict"] is Verdict.FITS
    assert shared(10, record_processing_seconds=0.05, consumer_failures=0)["verdict"] is Verdict.FITS


def test_counts_that_are_asked_for_are_held_against_the_members_needed():
    row = shared(record_processing_seconds=0.05, consumer_counts=[4, 8, 12])
    assert row["known"][-1] == "of the member counts given, 4 and 8 would be too few and 12 would be enough"
    # Where locks end too soon no count will do, which is said already.
    assert "counts to try" not in str(shared(record_processing_seconds=45.0, consumer_counts=[12])["known"])
    assert "counts to try" not in str(shared(consumer_counts=[12])["known"])
    # Where fewer records a poll mend it, the counts are told as well.
    late = shared(record_processing_seconds=0.1, consumer_counts=[12, 30])
    assert "with max.poll.records" in late["reasons"][0]
    assert late["known"][-1] == (
        "of the member counts given, 12 would be too few and 30 would be enough once that is fixed"
    )
    # What is needed is more than locks let work at once: nobody is to hire so many before that is fixed.
    assert late["needed_members"] > late["useful_members"] == 16
    assert late["reasons"][-1].endswith("but there are 3, and more than 16 do not help until locks let more through")


def test_with_rates_of_some_partitions_only_no_count_is_enough():
    part_known = (*TOPICS[:1], topic("audit", partitions=2, bytes_in=None))
    row = shared(11, topics=part_known, subscribed=("orders", "audit"), record_processing_seconds=0.05)
    assert (row["verdict"], row["needed_members"]) == (Verdict.NOT_JUDGED, None)
    assert row["reasons"] == [
        "the produce rate of 2 of its 6 partitions is unknown: the inventory has no metrics of them"
    ]
    tried = {"consumer_counts": [4, 12], "record_processing_seconds": 0.05}
    row = shared(11, topics=part_known, subscribed=("orders", "audit"), **tried)
    assert row["known"][-1] == "of the member counts given, 4 would be too few"
    # At least so many are needed, and there are fewer.
    row = shared(3, topics=part_known, subscribed=("orders", "audit"), record_processing_seconds=0.05)
    assert (row["verdict"], row["needed_members"]) == (Verdict.DOES_NOT_FIT, 11)


def test_a_share_group_cannot_read_what_nobody_leads():
    whole = shared(11, record_processing_seconds=0.05)
    part = shared(11, record_processing_seconds=0.05, is_offline=np.arange(4) == 2)
    assert (whole["verdict"], part["verdict"]) == (Verdict.FITS, Verdict.DOES_NOT_FIT)
    assert part["reasons"] == ["1 of its 4 partitions has no leader: nobody can read it"]


def test_no_poll_is_short_enough_where_a_record_outlives_its_lock():
    # 50 records/s of 40 s each hold the 2,000 locks of their partition: one record a poll would do, were it in time.
    late = shared(record_processing_seconds=39.0)["reasons"]
    assert late[0].startswith("every lock expires before its record is processed")
    assert not any("it is enough" in reason for reason in late)
    assert any(reason.endswith("it needs faster members or longer locks") for reason in late)
    inside = shared(record_processing_seconds=20.0)
    assert inside["records_in_time"] == 1
    assert any(reason.endswith("with max.poll.records 1 it is enough") for reason in inside["reasons"])


def test_a_capacity_in_bytes_does_as_well():
    row = shared(member_capacity_bytes_per_second=20_000)
    assert (row["record_processing_seconds"], row["needed_members"]) == (0.05, 11)


def test_what_is_not_known_is_not_judged():
    row = shared()
    assert (row["verdict"], row["needed_members"], row["batch_seconds"]) == (Verdict.NOT_JUDGED, None, None)
    assert row["reasons"] == [
        "the time per record is unknown; give record_processing_seconds or member_capacity_bytes_per_second"
    ]
    assert shared(hours=0, record_processing_seconds=0.05)["reasons"] == [
        "the produce rate of its partitions is unknown: there is no rate history"
    ]


def test_members_beyond_partitions_help_until_locks_are_used_up():
    assert (
        shared(8, record_processing_seconds=0.01)["known"][0]
        == "8 members share 4 partitions: more than 16 do not help"
    )
    row = shared(20, record_processing_seconds=0.05)
    assert row["known"][0] == "16 of 20 members can have records at once: the others wait for locks"
    slow = shared(40, record_processing_seconds=0.1, max_poll_records=250, share_record_locks=1000)
    # 40 a second pass a partition that gets 50.
    assert slow["reasons"] == [
        "orders-0 gets 50 records/s at peak, but its 1,000 locks let 40 through, with any number of members: with "
        "max.poll.records 200 it is enough"
    ]


def test_locks_that_end_before_their_records_are_processed():
    row = shared(40, record_processing_seconds=0.1)
    assert row["processed_again_records"] == 200
    assert row["reasons"][0] == (
        "a full poll takes 50 s but its locks last 30 s: 200 records of it are processed again by others; with "
        "max.poll.records 300 none are"
    )
    never = shared(400, record_processing_seconds=31.0)
    assert never["reasons"][0] == (
        "every lock expires before its record is processed, which takes 31 s: each is delivered 5 times and then "
        "dropped"
    )


def test_crashes_and_stuck_records():
    known = shared(4, record_processing_seconds=0.01)["known"]
    assert known[0] == (
        "when a member is killed, up to 500 records are delivered again at once; if its host vanishes, they wait "
        "for their locks, 30 s at most"
    )
    assert known[1] == (
        "a record whose lock always expires is delivered 5 times, over 2 min 30 s, and then dropped; orders-0 is "
        "stuck for 1 min 50 s of that at peak"
    )


def test_what_is_so_of_several_is_said_once():
    rows = [shared(4, record_processing_seconds=0.01) | {"group_id": name} for name in ("a", "b")]
    sentences = share_sentences(rows)
    assert len(sentences) == len(rows[0]["known"]) + len(rows[0]["reasons"])
    assert all(sentence.startswith("a, b: ") for sentence in sentences)


@pytest.mark.parametrize("is_stored", [False, True])
def test_a_report_shows_them(is_stored):
    row = shared(record_processing_seconds=0.05)
    row = json.loads(json.dumps(row)) if is_stored else row
    inputs = make_inputs()
    inputs = dataclasses.replace(inputs, snapshot_facts={**inputs.snapshot_facts, "share_groups": [row]})
    (problem,) = [one for one in decision_of(inputs)["problems"] if one["code"] == "share-groups-at-risk"]
    assert problem["severity"] == "serious"
    assert problem["text"].startswith("1 of 1 share group at risk: g (11 members are needed for 200 records/s at peak")
    section = build(view_plan(inputs))
    (shown,) = section["shared"]["table"]["rows"]
    assert (shown["group_id"], shown["needed_members"], shown["verdict"]) == ("g", 11, "no")
    page = render_all(inputs).index_html.decode()
    assert "11 members are needed for 200 records/s at peak" in page


def test_a_topic_that_nothing_is_produced_to_is_told_from_one_that_nobody_measured():
    quiet = (topic("orders", partitions=4, bytes_in=0.0),)
    assert shared(topics=quiet, record_processing_seconds=0.05)["reasons"] == [
        "nothing was produced to its partitions in 168 hours of history"
    ]
