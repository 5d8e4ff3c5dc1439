"""Findings as a whole: none where all is well, all at once, in any order, whatever the names."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.errors import InventoryError
from kafka_capacity.health.problem import Problems
from kafka_capacity.inventory.validation import validate
from tests.builders import DS, cluster, rows_of, with_rows
from tests.unit.inventory.broken import change, change_all, on, repeat, with_group


def test_a_sound_inventory_has_no_findings():
    assert list(validate(cluster())) == []
    assert list(validate(with_group([on(0)], [on(1), on(2)], lags=[{}]))) == []


def test_members_of_a_share_group_may_hold_one_partition_together():
    assert list(validate(with_group([on(0)], [on(0)], group_type="share"))) == []


def test_groups_without_the_topic_that_tells_their_coordinators_are_named():
    group = {"group_id": "g", "state": "Stable", "protocol_type": "consumer", "group_type": "consumer"}
    (found,) = validate(cluster(groups=[group]))
    assert (found.severity, found.code) == ("info", "no_offsets_topic")
    assert found.message.startswith("__consumer_offsets is missing: it is not known which groups")


def test_all_fatal_findings_are_raised_at_once():
    raw = change(repeat(cluster(), "brokers", 0), "replicas", 0, size_bytes=-1)
    with pytest.raises(InventoryError) as caught:
        validate(raw).raise_if_fatal()
    assert str(caught.value) == (
        "1 broker id given more than once (1); keep one entry each\n"
        "sizes below 0 on 1 partition (orders-0); leave them out where unknown"
    )


def test_findings_do_not_depend_on_the_order_of_rows():
    raw = change(change(cluster(racks=2), "replicas", 4, broker_id=50), "metrics", 3, topic="gone")
    turned = raw
    for name in raw.tables:
        turned = with_rows(turned, name, rows_of(raw, name)[::-1])
    assert validate(raw) == validate(turned)


def test_findings_survive_json():
    found = validate(change(cluster(hours=24), "replicas", 4, broker_id=50))
    assert len(found) > 1
    assert Problems.from_json(found.to_json()) == found


def test_a_table_of_another_schema_is_refused():
    tables = {**cluster().tables, "topics": pa.table({"topic": pa.array(["t"])})}
    with pytest.raises(
        InventoryError, match=r"^table 'topics' is not of the inventory's schema: expected topic string"
    ):
        replace(cluster(), tables=tables)


def test_an_unknown_or_missing_table_is_refused():
    with pytest.raises(InventoryError) as caught:
        replace(cluster(), tables={**cluster().tables, "topic": cluster().table("topics")})
    assert str(caught.value) == (
        "an inventory has no table 'topic'; the tables are brokers, log_dirs, topics, replicas, groups, members, "
        "lags, metrics, broker_metrics, producers, quorum_replicas, history"
    )
    with pytest.raises(InventoryError) as caught:
        replace(cluster(), tables={"brokers": cluster().table("brokers")})
    assert str(caught.value) == "the inventory lacks the table 'topics'; brokers, topics, replicas must be there"


@given(
    name=st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=60), other=st.text(max_size=60)
)
def test_clusters_racks_groups_and_members_may_have_any_text_for_a_name(name, other):
    raw = replace(with_group([on(0)]), cluster=name)
    other = other.encode("utf-8", "replace").decode()
    raw = change_all(raw, "brokers", rack=other or "r", host=other)
    raw = change_all(raw, "groups", group_id=name)
    raw = change_all(raw, "members", group_id=name, member_id=other, host=other)
    assert not len(validate(raw))
    assert raw.ds == DS
