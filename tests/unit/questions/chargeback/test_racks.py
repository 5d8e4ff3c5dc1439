"""Bytes from rack to rack by hand, and what two settings of clients would save and skew."""

import pytest

from kafka_capacity.questions.chargeback.decide import decide_chargeback
from kafka_capacity.questions.chargeback.tables import crossing, rack_matrix, summed
from tests.builders import cluster, topic
from tests.unit.questions.chargeback.clusters import MIB, PRICES, bill, charged, groups, hand_made, members


def flows(tables, name):
    """Return MiB/s by racks of one flow."""
    return {
        (row["from_rack"], row["to_rack"]): row["bytes_per_second"] / MIB
        for row in rack_matrix(tables["rack_flows"])
        if row["flow"] == name
    }


def two_racks(**tables):
    """Brokers 1 and 3 in rack a, 2 in rack b; three leaders are in a and one is in b. 6 MiB/s in, 12 read of each."""
    spec = topic("orders", rf=2, bytes_in=6.0 * MIB, bytes_out=12.0 * MIB, replicas=[[1, 2], [1, 2], [3, 2], [2, 1]])
    return cluster(brokers=3, racks=2, topics=[spec], **tables)


def test_the_matrix_by_hand():
    found = charged(two_racks(), **PRICES, marginal_topics=0)
    # Producers are half in each rack: of 24 MiB/s 12 are from each, a quarter of it to the leader in b.
    assert flows(found, "produce") == {("a", "a"): 9, ("a", "b"): 3, ("b", "a"): 9, ("b", "b"): 3}
    # Each follower is in the other rack.
    assert flows(found, "replicate") == {("a", "b"): 18, ("b", "a"): 6}
    # Consumers are half in each rack: of 36 read in a 18 go to b.
    assert flows(found, "consume") == {("a", "a"): 18, ("a", "b"): 18, ("b", "a"): 6, ("b", "b"): 6}
    assert set(found["rack_flows"].column("is_known").to_pylist()) == {True, False}


def test_without_known_racks_of_members_the_matrix_is_what_is_billed():
    for raw in (two_racks(), hand_made()):
        found = charged(raw, **PRICES, marginal_topics=0)
        across = summed(crossing(found["rack_flows"]), "bytes_per_second")
        billed = across * 730 * 3600 / 2**30 * 0.02
        assert bill(found)["between_racks", "cross_rack"] == pytest.approx(100 * billed, abs=1)


def test_known_racks_of_members_are_where_bytes_go():
    every = [("orders", number) for number in range(4)]
    raw = two_racks(groups=groups("billing"), members=members(every, rack="b"))
    found = charged(raw, **PRICES, marginal_topics=0)
    assert flows(found, "consume") == {("a", "b"): 36, ("b", "b"): 12}
    rows = [row for row in found["rack_flows"].to_pylist() if row["flow"] == "consume"]
    assert all(row["is_known"] and row["group_id"] == "billing" for row in rows)
    # All 36 that cross have a follower in b.
    assert summed(found["rack_flows"], "saved_bytes_per_second") == 36 * MIB
    brokers = {row["broker_id"]: row for row in found["rack_brokers"].to_pylist()}
    now = {broker: row["read_now"] / MIB for broker, row in brokers.items()}
    then = {broker: row["read_with_follower_fetching"] / MIB for broker, row in brokers.items()}
    assert now == {1: 24, 2: 12, 3: 12}
    assert then == {1: 0, 2: 48, 3: 0}
    assert any(
        "the most-read broker would serve 200 % more than the mean (50.0 % today)" in one
        for one in decide_chargeback(found).reasons
    )


def test_several_groups_share_what_is_read_of_a_partition():
    every = [("orders", number) for number in range(4)]
    read = [*members(every, rack="b"), *members(every, group="fraud", rack="a")]
    found = charged(two_racks(groups=groups("billing", "fraud"), members=read), **PRICES, marginal_topics=0)
    # Three partitions are led in a and one is in b: each group reads half of their 12 MiB/s.
    assert flows(found, "consume") == {("a", "a"): 18, ("a", "b"): 18, ("b", "a"): 6, ("b", "b"): 6}


def test_a_rack_without_brokers_reads_from_leaders():
    raw = two_racks(groups=groups("billing"), members=members([("orders", 0)], rack="elsewhere"))
    found = charged(raw, **PRICES, marginal_topics=0)
    assert flows(found, "consume")["a", "elsewhere"] == 12
    (one,) = [row for row in found["rack_brokers"].to_pylist() if row["broker_id"] == 1]
    # What is read of its other partition goes half to b, and half of what 2 leads with a replica on 1 comes to it.
    assert one["read_now"] / MIB == 24
    assert one["read_with_follower_fetching"] / MIB == 12 + 6 + 6


def test_with_follower_fetching_there_is_nothing_more_to_save():
    found = charged(two_racks(), **PRICES, marginal_topics=0, is_follower_fetching=True)
    assert flows(found, "consume") == {("a", "a"): 24, ("b", "b"): 24}
    assert summed(found["rack_flows"], "saved_bytes_per_second") == 0
    rows = found["rack_brokers"].to_pylist()
    assert [row["read_now"] for row in rows] == [row["read_with_follower_fetching"] for row in rows]


def test_compacted_topics_have_no_records_that_could_choose():
    spec = topic(
        "state",
        rf=2,
        bytes_in=6.0 * MIB,
        replicas=[[1, 2], [1, 2], [3, 2], [2, 1]],
        settings={"cleanup_policy": "compact"},
    )
    found = charged(cluster(brokers=3, racks=2, topics=[spec]), **PRICES, marginal_topics=0)
    (row,) = found["rack_topics"].to_pylist()
    assert (row["saved_bytes_per_second"], row["fullest_ratio_after"]) == (0, 1)


def test_rack_aware_producers_by_hand():
    found = charged(two_racks(), **PRICES, marginal_topics=0)
    (row,) = found["rack_topics"].to_pylist()
    assert row["produced_bytes_per_second"] == 24 * MIB
    # Half of it leaves its rack now, and nothing would: both racks have a leader.
    assert row["saved_bytes_per_second"] == 12 * MIB
    # The one partition that is led in b gets all 12 MiB/s of b, twice the mean; those in a get 4 each.
    assert (row["fullest_ratio_now"], row["fullest_ratio_after"]) == (1.0, 2.0)
    rates = {one["broker_id"]: one["produced_with_rack_aware"] / MIB for one in found["rack_brokers"].to_pylist()}
    assert rates == {1: 8, 2: 12, 3: 4}


def test_where_no_partition_is_led_in_a_rack_its_producers_choose_among_all():
    spec = topic("orders", rf=2, bytes_in=6.0 * MIB, replicas=[[1, 2], [3, 2]])
    found = charged(cluster(brokers=3, racks=2, topics=[spec]), **PRICES, marginal_topics=0)
    (row,) = found["rack_topics"].to_pylist()
    # Those in b have no leader there, so what they produce leaves it as before; nothing else ever did.
    assert (row["saved_bytes_per_second"], row["fullest_ratio_after"]) == (0.0, 1.0)


def test_brokers_in_one_rack_have_no_matrix():
    for racks in (None, 1):
        found = charged(cluster(brokers=3, racks=racks, topics=[topic("orders")]), **PRICES, marginal_topics=0)
        assert not any(len(found[name]) for name in ("rack_flows", "rack_topics", "rack_brokers"))
        assert bill(found).keys().isdisjoint({("between_racks", "cross_rack")})


def test_leaders_where_producers_are_by_hand():
    """All producers are in b: the three leaders in a, to which 18 of 24 MiB/s go, follow there."""
    found = charged(two_racks(), **PRICES, marginal_topics=0, producer_racks=["ord*=b"])
    assert flows(found, "produce") == {("b", "a"): 18, ("b", "b"): 6}
    (row,) = found["rack_leaders"].to_pylist()
    assert (row["topic"], row["producer_racks"]) == ("orders", ["b"])
    assert (row["partitions"], row["moved_partitions"]) == (4, 3)
    # Each partition has one follower, in the other rack, and half of its readers are there, whoever leads.
    assert [row[f"{flow}_bytes_per_second"] / MIB for flow in ("produce", "replicate", "consume")] == [18, 0, 0]
    brokers = {one["broker_id"]: one for one in found["rack_leader_brokers"].to_pylist()}
    assert {broker: (one["leaders_now"], one["leaders_then"]) for broker, one in brokers.items()} == {
        1: (2, 0),
        2: (1, 4),
        3: (1, 0),
    }
    assert brokers[2]["produced_then"] == 24 * MIB
    reasons = decide_chargeback(found).reasons
    assert any("cross racks, with the producers of 100 % of what is written in known racks" in one for one in reasons)
    # 18 MiB/s are 46,195 GiB in 730 hours, at $0.02.
    assert reasons[-1] == (
        "Leaders in the racks of producers would keep 18.0 MiB/s within racks and save $924 per month at today’s rates "
        "(18.0 MiB/s less to write), by reordering the replica lists of 3 partitions; the broker with the most leaders "
        "would have 200 % more than the mean, 50.0 % today, and the one with the highest produce rate 200 % more than "
        "the mean, 50.0 % today."
    )
    # Rack-aware, all 24 go to the one partition that is led in b.
    (topic_row,) = found["rack_topics"].to_pylist()
    assert (topic_row["saved_bytes_per_second"], topic_row["fullest_ratio_after"]) == (18 * MIB, 4.0)


def test_leaders_near_producers_are_far_from_consumers():
    every = [("orders", number) for number in range(4)]
    raw = two_racks(groups=groups("billing"), members=members(every, rack="a"))
    found = charged(raw, **PRICES, marginal_topics=0, producer_racks=["orders=b"])
    (row,) = found["rack_leaders"].to_pylist()
    # Of 48 MiB/s that are read in a 12 come from b now, all of them then; 18 fewer are written from b to a.
    assert [row[f"{flow}_bytes_per_second"] / MIB for flow in ("produce", "consume")] == [18, -36]
    assert (
        "would keep nothing within racks (18.0 MiB/s less to write and 36.0 MiB/s more to read)"
        in (decide_chargeback(found).reasons[-1])
    )


@pytest.mark.parametrize(
    ("stated", "produced", "sentence"),
    [
        (
            ["orders=a", "orders=b"],
            {("a", "a"): 9, ("a", "b"): 3, ("b", "a"): 9, ("b", "b"): 3},
            "Leaders are in the known racks of producers already, as far as there are replicas there.",
        ),
        (["orders=z"], {("z", "a"): 18, ("z", "b"): 6}, "No broker is in z, where producers are."),
    ],
)
def test_leaders_that_nobody_has_to_move(stated, produced, sentence):
    found = charged(two_racks(), **PRICES, marginal_topics=0, producer_racks=stated)
    assert flows(found, "produce") == produced
    assert sentence in decide_chargeback(found).reasons
    (row,) = found["rack_leaders"].to_pylist()
    assert (row["moved_partitions"], row["produce_bytes_per_second"]) == (0, 0)


def counted(*rates):
    """What clients say that they produce to `orders`, MiB/s by rack; 24 are produced."""
    return [
        {"topic": "orders", "client_id": f"app-{n}", "rack": rack, "bytes_per_second": rate * MIB}
        for n, (rack, rate) in enumerate(rates)
    ]


def test_racks_that_clients_tell_are_where_producers_are():
    raw = two_racks(producers=counted(("a", 16.5), ("a", 0.0), ("b", 5.5)))
    found = charged(raw, **PRICES, marginal_topics=0)
    # 22 of 24 are known, three quarters of them in a: 18 MiB/s, a quarter of which goes to the leader in b.
    assert flows(found, "produce") == pytest.approx(
        {("a", "a"): 13.5, ("a", "b"): 4.5, ("b", "a"): 4.5, ("b", "b"): 1.5}
    )
    (row,) = found["rack_leaders"].to_pylist()
    assert row["producer_racks"] == ["a", "b"]
    assert any(
        "with the producers of 100 % of what is written in known racks" in one
        for one in decide_chargeback(found).reasons
    )


@pytest.mark.parametrize(
    ("rates", "stated", "from_a"),
    [
        ([("a", 21.0), (None, 3.0)], [], 12),  # 87.5 % are too few: producers are spread evenly
        ([("a", 24.0)], ["orders=b"], 0),  # what somebody says counts before
        ([("a", 24.0)], ["others=b"], 24),
    ],
)
def test_racks_of_producers_that_are_not_known_of_nearly_all_or_said_otherwise(rates, stated, from_a):
    raw = two_racks(producers=counted(*rates))
    produced = flows(charged(raw, **PRICES, marginal_topics=0, producer_racks=stated), "produce")
    assert sum(rate for (source, _), rate in produced.items() if source == "a") == pytest.approx(from_a)


def test_without_known_producers_nothing_is_said_of_leaders():
    found = charged(two_racks(), **PRICES, marginal_topics=0, producer_racks=["payments=a"])
    assert not any(len(found[name]) for name in ("rack_leaders", "rack_leader_brokers"))
    assert flows(found, "produce") == {("a", "a"): 9, ("a", "b"): 3, ("b", "a"): 9, ("b", "b"): 3}
    assert not any("given" in one for one in decide_chargeback(found).reasons)
