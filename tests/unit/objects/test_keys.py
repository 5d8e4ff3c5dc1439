"""Keys, also of clusters with names that nobody should give them."""

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_capacity.errors import RequestError
from kafka_capacity.objects.keys import (
    day_prefix,
    encode_value,
    list_days,
    list_inventory_clusters,
    list_plans,
    plan_prefix,
    report_prefix,
    request_key,
)
from tests.properties.strategies import repeatable

HOSTILE = ["..", ".", "a/b", "../../etc", "ü ☃", "a=b", "100%", "%2F", "<script>", "a\nb", "ds=2026-01-01", "?#&+ "]


def test_keys_are_those_of_the_contract():
    assert day_prefix("inventory", "shop-eu", "2026-11-20") == "inventory/cluster=shop-eu/ds=2026-11-20/"
    assert plan_prefix("c", "2026-11-20", "ab12") == "plans/cluster=c/ds=2026-11-20/plan=ab12/"
    assert report_prefix("c", "2026-11-20", "ab12") == "reports/cluster=c/ds=2026-11-20/plan=ab12/"
    assert request_key("c", "2026-11-20", "ab12") == "requests/cluster=c/ds=2026-11-20/plan=ab12/request.json"


@repeatable(300)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_every_name_comes_back_and_is_one_harmless_part_of_a_key(name):
    encoded = encode_value(name)

    assert unquote(encoded) == name
    assert "/" not in encoded
    assert encoded.strip(".")
    assert encoded.isascii()


@repeatable(200)
@given(st.tuples(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"]))))
def test_two_names_never_share_a_key(names):
    assert (encode_value(names[0]) == encode_value(names[1])) == (names[0] == names[1])


def test_hostile_clusters_are_found_again(store):
    for name in HOSTILE:
        store.write_bytes(day_prefix("inventory", name, "2026-11-20") + "manifest.json", b"{}")
        store.write_bytes(plan_prefix(name, "2026-11-20", "p/1") + "manifest.json", b"{}")

    assert list_inventory_clusters(store) == sorted(HOSTILE)
    for name in HOSTILE:
        assert list_days(store, name, "inventory") == ["2026-11-20"]
        assert list_plans(store, name) == [("2026-11-20", "p/1")]


def test_plans_are_listed_oldest_day_first(store):
    for ds, plan in (("2026-11-01", "b"), ("2026-11-20", "a"), ("2026-11-01", "a")):
        store.write_bytes(plan_prefix("c", ds, plan) + "manifest.json", b"{}")

    assert list_plans(store, "c") == [("2026-11-01", "a"), ("2026-11-01", "b"), ("2026-11-20", "a")]


@pytest.mark.parametrize("ds", ["2026-13-01", "20261120", "2026-W47-5", "", "../x", "2026-11-20/.."])
def test_a_day_that_is_none_is_refused(ds):
    with pytest.raises(RequestError) as refused:
        day_prefix("inventory", "c", ds)
    assert str(refused.value) == f"ds {ds!r} is not a day; write it as YYYY-MM-DD"
