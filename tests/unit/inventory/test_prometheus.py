"""Counters of a made-up cluster, over HTTP, into the tables of an inventory: what comes out is what truly happened."""

import datetime

import numpy as np
import pytest

from kafka_capacity.errors import SourceError
from kafka_capacity.inventory import prometheus
from kafka_capacity.inventory.prometheus import window_end, with_prometheus
from kafka_capacity.inventory.prometheus_connection import PrometheusConnection, PrometheusSettings
from kafka_capacity.inventory.sizing_workload import observed_costs
from kafka_capacity.inventory.validation import validate
from tests.builders import rows_of, with_rows
from tests.made_up_metrics import BASE_CORES, END, FOLLOWER_COST, HOUR, IN_COST, OUT_COST, World
from tests.prometheus_stand_in import StandIn


def read(samples, raw, *, prepare=lambda server: None, **settings):
    with StandIn(samples) as server:
        prepare(server)
        found = with_prometheus(
            raw, PrometheusConnection.of(url=server.url), PrometheusSettings(**{"days": 2} | settings), end=END
        )
    return found


def by_key(raw, column):
    found = {}
    for row in rows_of(raw, "metrics"):
        found.setdefault((row["topic"], row["partition"]), {})[int(row["hour"].timestamp())] = row[column]
    return found


def assert_rates(raw, column, true, world, *, rtol=1e-6, skip=()):
    found = by_key(raw, column)
    assert set(found) == set(true)
    for key, rates in true.items():
        for hour, rate in enumerate(rates.tolist()):
            moment = world.start + hour * HOUR
            if moment not in skip:
                assert found[key][moment] == pytest.approx(rate, rel=rtol), (key, hour)


def codes(raw):
    return {remark.code for remark in raw.remarks}


def test_jmx_counters_become_the_true_rates_of_partitions():
    world = World()
    raw = read(world.jmx(), world.inventory())
    assert_rates(raw, "bytes_in_bytes_per_second", world.bytes_in(), world)
    assert_rates(raw, "bytes_out_bytes_per_second", world.bytes_out(), world)
    assert not raw.remarks
    assert not validate(raw).fatal
    assert len(raw.table("metrics")) == 7 * 48


def remote_samples(world, sizes, *, copies=1):
    """What brokers hold in the object store: bytes by broker and topic."""
    for copy in range(copies):
        server = {"replica": f"prometheus-{copy}"} if copies > 1 else {}
        for (broker, topic), size in sizes.items():
            moments = world.moments(broker)
            labels = {"job": "kafka", "instance": f"kafka-{broker}.example.com:7071", "topic": topic, **server}
            name = "kafka_server_brokertopicmetrics_remotelogsizebytes"
            yield {"__name__": name, **labels}, moments, np.full(len(moments), size)


def test_what_leaders_hold_in_the_object_store_is_summed_up():
    """Partition n is led by broker n mod 3, plus 1; of `clicks` one of two leaders says nothing."""
    world = World()
    sizes = {(1, "orders"): 70.0, (2, "orders"): 20.0, (3, "orders"): 9.0, (1, "clicks"): 5.0, (3, "idle"): 1.0}
    for copies in (1, 2):
        samples = [*world.jmx(), *remote_samples(world, sizes, copies=copies)]
        raw = read(samples, world.inventory())
        found = {row["topic"]: row["remote_bytes"] for row in rows_of(raw, "topics")}
        assert found == {"orders": 99, "clicks": None, "idle": None}
        assert not validate(raw).fatal
    assert {row["remote_bytes"] for row in rows_of(read(world.jmx(), world.inventory()), "topics")} == {None}


def client_samples(world, rates, name, *, client="client_id", **more):
    """Counters of producers, MiB/s by instance, client id, rack and topic, over the last two days."""
    for (instance, client_id, rack, topic), rate in rates.items():
        moments = world.moments()
        labels = {"instance": instance, client: client_id, "topic": topic, **({"client_rack": rack} if rack else {})}
        yield {"__name__": name, **labels, **more}, moments, world.counted(np.full(world.hours, rate), moments)


def test_what_producers_count_is_summed_up_by_client_id_and_rack():
    world = World()
    rates = {
        ("10.0.0.1:80", "shop", "a", "orders"): 3.0,
        ("10.0.0.2:80", "shop", "a", "orders"): 4.0,  # another instance with the same client id
        ("10.0.0.3:80", "shop", "b", "orders"): 1.0,
        ("10.0.0.3:80", "batch", None, "clicks"): 2.0,
        ("10.0.0.3:80", "batch", None, "of another cluster"): 9.0,
    }
    wanted = [
        {"topic": "clicks", "client_id": "batch", "rack": None, "bytes_per_second": pytest.approx(2.0)},
        {"topic": "orders", "client_id": "shop", "rack": "a", "bytes_per_second": pytest.approx(7.0)},
        {"topic": "orders", "client_id": "shop", "rack": "b", "bytes_per_second": pytest.approx(1.0)},
    ]
    for name in ("clients_org_apache_kafka_producer_topic_byte_total", "kafka_producer_topic_byte_total", "our:own"):
        samples = [*world.jmx(), *client_samples(world, rates, name)]
        # Two servers that scrape side by side count once.
        samples += [(labels | {"replica": "b"}, *rest) for labels, *rest in client_samples(world, rates, name)]
        names = {"names": {"producer_bytes": name}} if ":" in name else {}
        raw = read(samples, world.inventory(), **names)
        assert rows_of(raw, "producers") == wanted
        assert not validate(raw).fatal
    assert not len(read(world.jmx(), world.inventory()).table("producers"))
    assert not len(read(samples, world.inventory(), dialects=("jmx",)).table("producers"))


def test_hours_in_which_a_producer_did_not_count_are_of_nobody():
    world = World()
    samples = [
        (labels, moments, np.where(moments < END - 12 * HOUR, np.nan, values))
        for labels, moments, values in client_samples(
            world, {("x", "shop", None, "orders"): 8.0}, "kafka_producer_topic_byte_total"
        )
    ]
    (row,) = rows_of(read([*world.jmx(), *samples], world.inventory()), "producers")
    assert row["bytes_per_second"] == pytest.approx(8.0 * 12 / 48)


def test_brokers_and_their_processors():
    world = World()
    rows = rows_of(read(world.jmx(), world.inventory()), "broker_metrics")
    assert len(rows) == 3 * 48
    for row in rows:
        hour = (int(row["hour"].timestamp()) - world.start) // HOUR
        leader, follower, out, replicated = world.broker_rates()[row["broker_id"]][:, hour]
        assert row["leader_in_bytes_per_second"] == pytest.approx(leader)
        assert row["follower_in_bytes_per_second"] == pytest.approx(follower)
        assert row["out_bytes_per_second"] == pytest.approx(out + replicated)
        assert row["cpu_cores_used"] == pytest.approx(world.cores(row["broker_id"])[hour])


def test_a_restart_loses_no_more_than_a_step():
    world = World(restarts={2: END - 10 * HOUR + 1000})
    raw = read(world.jmx(), world.inventory())
    hour = END - 10 * HOUR
    assert_rates(raw, "bytes_in_bytes_per_second", world.bytes_in(), world, skip={hour})
    found = sum(rates[hour] for rates in by_key(raw, "bytes_in_bytes_per_second").values())
    true = sum(rates[-10] for rates in world.bytes_in().values())
    assert true * (1 - 300 / HOUR) <= found < true


def test_two_servers_side_by_side_count_once():
    world = World(copies=2)
    raw = read(world.jmx(), world.inventory())
    assert_rates(raw, "bytes_in_bytes_per_second", world.bytes_in(), world, rtol=0.02)


def test_scrapes_between_the_steps_are_right_within_an_interval_of_scrapes():
    world = World(late_seconds={1: 13, 2: 37, 3: 59})
    raw = read(world.jmx(), world.inventory())
    found = by_key(raw, "bytes_in_bytes_per_second")
    largest = max(rates.max() for rates in world.bytes_in().values())
    assert all(0 <= rate <= largest for hours in found.values() for rate in hours.values())
    total = sum(sum(hours.values()) for hours in found.values())
    assert total == pytest.approx(sum(rates.sum() for rates in world.bytes_in().values()), rel=0.002)


def test_an_hour_without_scrapes_of_a_broker_is_unknown_for_its_topics_alone():
    world = World()
    outage = END - 20 * HOUR
    samples = []
    for labels, moments, values in world.jmx():
        if "kafka-3" in labels["instance"]:  # it leads orders-2 and no other
            values = np.where((moments >= outage) & (moments < outage + HOUR), np.nan, values)
        samples.append((labels, moments, values))
    raw = read(samples, world.inventory(), names={"log_end_offset": "no_offsets"})
    found = by_key(raw, "bytes_in_bytes_per_second")
    assert outage not in found["orders", 0]
    assert outage in found["clicks", 0]


def test_without_offsets_topics_are_shared_evenly_and_that_is_said():
    world = World()
    raw = read(world.jmx(offsets=False), world.inventory())
    true = world.bytes_in()
    even = {key: np.mean([rates for other, rates in true.items() if other[0] == key[0]], axis=0) for key in true}
    assert_rates(raw, "bytes_in_bytes_per_second", even, world)
    (remark,) = raw.remarks
    assert remark.code == "metrics_shared_evenly"
    assert "2 topics (clicks, orders)" in remark.message


@pytest.mark.parametrize("dialect", ["kminion", "kafka_exporter"])
def test_offsets_and_sizes_on_disk_are_bytes_too(dialect):
    world = World()
    raw = read(getattr(world, dialect)(), world.inventory_with_sizes())
    assert_rates(raw, "bytes_in_bytes_per_second", world.bytes_in(), world, rtol=1e-4)
    assert_rates(raw, "bytes_out_bytes_per_second", world.bytes_out(), world, rtol=1e-4)
    assert codes(raw) == {"metrics_from_records"}


def test_offsets_of_compacted_topics_are_no_bytes():
    world = World()
    raw = world.inventory_with_sizes()
    rows = rows_of(raw, "topics")
    rows[0]["cleanup_policy"] = "compact"
    raw = read(world.kminion(), with_rows(raw, "topics", rows))
    assert {row["topic"] for row in rows_of(raw, "metrics")} == {"clicks", "idle"}
    assert codes(raw) == {"metrics_from_records", "metrics_unknown_topics"}


def test_bytes_by_the_jmx_exporter_and_offsets_by_kminion():
    world = World()
    raw = read([*world.jmx(offsets=False), *world.kminion()], world.inventory())
    assert_rates(raw, "bytes_in_bytes_per_second", world.bytes_in(), world)
    assert_rates(raw, "bytes_out_bytes_per_second", world.bytes_out(), world)
    assert not raw.remarks


def test_a_gap_of_the_jmx_exporter_is_filled_from_offsets():
    world = World()
    gap = END - 5 * HOUR
    samples = [
        (labels, moments, np.where((moments >= gap) & (moments < gap + HOUR), np.nan, values))
        for labels, moments, values in world.jmx(offsets=False)
    ]
    raw = read([*samples, *world.kminion()], world.inventory())
    assert_rates(raw, "bytes_in_bytes_per_second", world.bytes_in(), world, rtol=1e-3)
    assert codes(raw) == {"metrics_from_records"}


def test_a_topic_whose_counters_the_server_drops_is_not_idle():
    world = World()
    samples = [one for one in world.jmx() if one[0].get("topic") != "clicks" or "offset" in one[0]["__name__"]]
    raw = read(samples, world.inventory())
    assert {row["topic"] for row in rows_of(raw, "metrics")} == {"orders", "idle"}
    assert {"metrics_unknown_topics", "topic_counters_incomplete"} >= codes(raw) >= {"metrics_unknown_topics"}


def test_several_clusters_in_one_server_are_told_apart_by_labels():
    world, other = World(), World(seed=8)
    samples = [
        ({**labels, "cluster": name}, moments, values)
        for name, made in (('pay"ments', world), ("other", other))
        for labels, moments, values in made.jmx()
    ]
    raw = read(samples, world.inventory(), labels={"cluster": 'pay"ments'})
    assert_rates(raw, "bytes_in_bytes_per_second", world.bytes_in(), world)


def test_exporters_without_rules_keep_the_attribute_in_a_label():
    world = World()
    samples = []
    for labels, moments, values in world.jmx():
        if labels["__name__"] == "kafka_server_brokertopicmetrics_bytesin_total":
            labels = {**labels, "__name__": "kafka_server_BrokerTopicMetrics_Count", "name": "BytesInPerSec"}
        samples.append((labels, moments, values))
    raw = read(samples, world.inventory())
    assert_rates(raw, "bytes_in_bytes_per_second", world.bytes_in(), world)


def test_late_samples_replace_what_an_earlier_reading_said():
    world = World()
    first = read(world.jmx(), world.inventory())
    rows = [row | {"bytes_in_bytes_per_second": 1.0} for row in rows_of(first, "metrics")]
    again = read(world.jmx(), with_rows(first, "metrics", rows))
    assert again.table("metrics").equals(first.table("metrics"))


def test_a_server_that_is_away_is_a_warning_and_no_loss_of_the_inventory():
    raw = World().inventory()
    found = with_prometheus(raw, PrometheusConnection.of(url="http://127.0.0.1:9"), PrometheusSettings(), end=END)
    (remark,) = found.remarks
    assert (remark.code, remark.severity) == ("prometheus_failed", "warning")
    assert "0 of 14 days of metrics could be read" in remark.message
    assert "http://127.0.0.1:9/api/v1/query_range cannot be reached" in remark.message
    assert found.table("replicas").equals(raw.table("replicas"))
    assert not len(found.table("metrics"))


def test_days_that_could_be_read_before_the_server_failed_are_kept():
    world = World()

    def prepare(server):
        server.fail_before = END - 30 * HOUR

    raw = read(world.jmx(), world.inventory(), prepare=prepare)
    (remark,) = [remark for remark in raw.remarks if remark.code == "prometheus_failed"]
    assert "1 of 2 days of metrics could be read" in remark.message
    assert len(raw.table("metrics")) == 7 * 24


def test_days_are_kept_where_clients_cannot_be_asked_for(monkeypatch):
    def fail(*_):
        raise SourceError("too many clients")

    monkeypatch.setattr(prometheus, "producers_table", fail)
    world = World()
    raw = read(world.jmx(), world.inventory())
    (remark,) = raw.remarks
    assert "2 of 2 days of metrics could be read, newest first, then: too many clients" in remark.message
    assert len(raw.table("metrics")) == 7 * 48


def test_a_server_without_our_metrics_is_said():
    raw = read([], World().inventory(), labels={"cluster": "typo"})
    (remark,) = raw.remarks
    assert remark.code == "prometheus_has_nothing"
    assert 'requested labels (cluster="typo")' in remark.message


def test_brokers_that_are_not_scraped_or_not_known_are_said():
    world = World()
    samples = [one for one in world.jmx() if "kafka-3" not in one[0]["instance"]]
    assert "broker_without_metrics" in codes(read(samples, world.inventory()))
    renamed = [
        ({**labels, "instance": labels["instance"].replace("example.com", "internal")}, moments, values)
        for labels, moments, values in world.jmx()
    ]
    raw = read(renamed, world.inventory())
    (remark,) = raw.remarks
    assert (remark.code, remark.severity) == ("metrics_of_unknown_broker", "warning")
    assert "their CPU is left out; name the label" in remark.message
    assert not len(raw.table("broker_metrics"))


def test_hosts_of_another_cluster_whose_bytes_are_counted_are_serious():
    world = World()
    others = [
        ({**labels, "instance": labels["instance"].replace("kafka", "other"), "job": "other"}, moments, values)
        for labels, moments, values in world.jmx(offsets=False)
        if labels["job"] == "kafka"
    ]
    raw = read([*world.jmx(), *others], world.inventory())
    doubled = {key: 2 * rates for key, rates in world.bytes_in().items()}
    assert_rates(raw, "bytes_in_bytes_per_second", doubled, world)
    (remark,) = raw.remarks
    assert (remark.code, remark.severity, remark.where) == ("metrics_of_unknown_broker", "serious", "metrics")
    assert remark.message == (
        "3 label values that match no broker of the inventory ('other-1.example.com:7071', 'other-2.example.com:7071', "
        "'other-3.example.com:7071') beside 3 that do: what they count of topics of the same name is in the rates; "
        "where they are of another cluster, the rates are too high: give a label that only this cluster has, with "
        "--label NAME=VALUE or in labels"
    )


def test_hours_after_the_day_or_not_over_yet_are_not_asked_for():
    now = datetime.datetime(2026, 11, 20, 14, 59, tzinfo=datetime.UTC)
    assert window_end("2026-11-20", now) == END - 10 * HOUR
    assert window_end("2026-11-20", now + datetime.timedelta(days=3)) == END


def test_costs_of_processors_come_out_as_they_were_put_in():
    calibrated = observed_costs(read(World().jmx(), World().inventory()))
    assert calibrated.is_used
    assert calibrated.costs.leader_in_seconds_per_mib == pytest.approx(IN_COST, rel=0.02)
    assert calibrated.costs.follower_in_seconds_per_mib == pytest.approx(FOLLOWER_COST, rel=0.05)
    assert calibrated.costs.out_seconds_per_mib == pytest.approx(OUT_COST, rel=0.02)
    assert calibrated.costs.base_cores == pytest.approx(BASE_CORES, rel=0.02)


def test_a_label_that_is_the_same_everywhere_does_not_make_copies_of_brokers():
    world = World()
    samples = [({**labels, "broker": "kafka"}, moments, values) for labels, moments, values in world.jmx()]
    raw = read(samples, world.inventory())
    assert_rates(raw, "bytes_in_bytes_per_second", world.bytes_in(), world)
    assert len(raw.table("broker_metrics")) == 3 * 48


def test_a_label_of_ones_own_tells_brokers_apart():
    world = World()
    samples = [
        ({**labels, "k": labels["instance"][6:7], "instance": "proxy"}, moments, values)
        for labels, moments, values in world.jmx()
        if labels["job"] == "kafka"
    ]
    raw = read(samples, world.inventory(), broker_label="k")
    assert_rates(raw, "bytes_in_bytes_per_second", world.bytes_in(), world)
    assert len(raw.table("broker_metrics")) == 3 * 48


def test_counters_that_go_with_the_leader_to_another_broker_lose_nothing():
    world, moved = World(), END - 7 * HOUR + 1200
    samples = []
    for labels, moments, values in world.jmx():
        if labels.get("topic") == "clicks" and "bytes" in labels["__name__"] and "kafka-1" in labels["instance"]:
            samples.append((labels, moments, np.where(moments <= moved, values, np.nan)))
            again = values - values[moments == moved]
            other = {**labels, "instance": "kafka-3.example.com:7071"}
            samples.append((other, moments, np.where(moments > moved, again, np.nan)))
        else:
            samples.append((labels, moments, values))
    raw = read(samples, world.inventory())
    assert_rates(raw, "bytes_in_bytes_per_second", world.bytes_in(), world)
    assert_rates(raw, "bytes_out_bytes_per_second", world.bytes_out(), world)
    assert not raw.remarks


def test_a_lag_that_grows_is_not_read():
    world = World()
    samples = [
        (labels, moments, values + 0.01 * (moments - world.start) if labels["__name__"].endswith("lag") else values)
        for labels, moments, values in world.kminion()
    ]
    raw = read(samples, world.inventory_with_sizes())
    found = by_key(raw, "bytes_out_bytes_per_second")["clicks", 1]
    for hour, rate in enumerate(world.bytes_in()["clicks", 1].tolist()):
        assert found[world.start + hour * HOUR] == pytest.approx(rate - 0.01 * 100, rel=1e-4)


def test_what_is_read_is_shared_by_what_groups_commit():
    world = World()
    offsets = []
    for labels, moments, values in world.kafka_exporter():
        is_unread = labels["__name__"] == "kafka_consumergroup_current_offset" and labels["partition"] == "0"
        offsets.append((labels, moments, np.full(len(moments), 5.0) if is_unread else values))
    raw = read([*world.jmx(offsets=False), *offsets], world.inventory())
    found, true = by_key(raw, "bytes_out_bytes_per_second"), world.bytes_out()
    for hour in range(world.hours):
        moment = world.start + hour * HOUR
        assert found["clicks", 0][moment] == 0
        assert found["clicks", 1][moment] == pytest.approx(true["clicks", 0][hour] + true["clicks", 1][hour])
