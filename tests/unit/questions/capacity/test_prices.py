"""What machines, disks and traffic between racks cost where nobody gave a price, and discounts on them."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from kafka_capacity.hardware.shape_catalogue import estimated_price_sentence, estimated_prices
from kafka_capacity.hardware.shapes import observed_shape, usd_per_hour
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.proposal.grid import proposed_brokers
from kafka_capacity.questions.capacity.choice import advise_size
from kafka_capacity.questions.capacity.cost_words import estimate_sentence, price_wanted
from kafka_capacity.questions.capacity.decide import cost_of_steps
from kafka_capacity.questions.capacity.options import SizingInputs
from kafka_capacity.questions.capacity.results import MonthlyCost
from kafka_capacity.questions.capacity.simulate import simulate_sizing
from kafka_capacity.questions.capacity.sizing_words import headline
from tests.asking import run_sizes
from tests.shapes import read_shapes
from tests.unit.proposal.snapshots import observed
from tests.unit.questions.capacity.money import asked, viewed
from tests.unit.questions.capacity.test_options import sized
from tests.unit.questions.capacity.workloads import GIB, brokers, workload


def test_what_nobody_knows_the_price_of_is_in_no_budget():
    _, advice = sized(budget_usd_per_month=1e6, today={"usd_per_hour": math.nan})
    assert advice.recommended is None
    assert advice.reason.startswith("no option that fits has a known price")


def test_a_price_that_nobody_gave_is_that_of_the_nearest_shape_and_an_estimate():
    today = asked().today
    assert (today.priced_as, today.usd_per_hour) == ("m7g.4xlarge", 0.6528)  # 16 cores and 64 GiB, as it has
    assert today.usd_per_gib_between_racks == 0.02
    assert asked(usd_per_gib_between_racks=0.0).today.usd_per_gib_between_racks == 0.0
    nothing = asked(brokers(3)).today
    assert nothing.priced_as is None
    assert math.isnan(nothing.usd_per_hour)


def test_traffic_between_racks_is_not_free_for_want_of_a_price():
    racks = brokers(3, list("abc"), memory_bytes=64 * GIB, cpu_cores=16.0)

    def prices(list_of, **given):
        request = asked(list_of, broker_usd_per_hour=2.0, **given)
        assert (request.today.usd_per_hour, request.estimates) == (2.0, ())
        return request.today.usd_per_gib_between_racks, request.today.priced_as

    assert prices(racks) == (0.02, "m7g.4xlarge (traffic between racks)")
    assert prices(racks, usd_per_gib_between_racks=0.0) == (0.0, None)
    assert prices(racks, usd_per_gib_between_racks=0.01) == (0.01, None)
    # It does not depend on the machine, which may be near to none.
    price, priced_as = prices(brokers(3, list("abc")))
    assert (price, priced_as is None) == (0.02, False)
    # One rack has no such traffic, unless others are added.
    assert prices(brokers(3, list("aaa"))) == (0.0, None)
    assert prices(brokers(3, list("aaa")), extra_racks=(0, 1))[0] == 0.02


def test_an_estimate_of_traffic_between_racks_says_what_to_give():
    assert estimated_price_sentence("m7g.large (traffic between racks)", "2026-01-19") == (
        "Dollars of today’s hardware include an estimate, traffic between racks at the price of m7g.large of "
        "2026-01-19: give usd_per_gib_between_racks."
    )
    assert price_wanted({"shape": "today", "priced_as": "m7g.large (traffic between racks)"}) == (
        "give usd_per_gib_between_racks"
    )


def test_where_brokers_differ_each_is_priced_as_the_machine_it_is_nearest_to():
    # m7g.xlarge and m7g.8xlarge; the middle of the six are those with 4 cores, and so is a new one.
    cores, memory = [4.0] * 4 + [32.0] * 2, [16.0 * GIB] * 4 + [128.0 * GIB] * 2
    six = Brokers.of(range(1, 7), list("abcabc"), cpu_cores=cores, memory_bytes=memory)
    request = asked(six)
    today, estimates = request.today, request.estimates
    assert today.priced_as == "m7g.xlarge, m7g.8xlarge"
    small, large = (read_shapes()[name].usd_per_hour for name in ("m7g.xlarge", "m7g.8xlarge"))
    assert usd_per_hour(today, six, estimates).tolist() == [small] * 4 + [large] * 2
    assert usd_per_hour(today, proposed_brokers(six, 8), estimates).tolist() == [small] * 4 + [large] * 2 + [small] * 2
    # Cores that the request gives are those of all.
    alike = asked(six, broker_vcpu=4.0).today
    assert usd_per_hour(alike, brokers(3, cpu_cores=32.0), estimates).tolist() == [small] * 3
    # Of one nothing is known: it costs what those in the middle do.
    unknown = Brokers.of([1, 2, 3], cpu_cores=[32.0, 32.0, None], memory_bytes=[128 * GIB, 128 * GIB, None])
    assert usd_per_hour(asked(unknown).today, unknown, estimates).tolist() == [large] * 3


def test_what_a_cluster_of_unlike_brokers_costs_is_the_sum_and_who_leaves_is_saved():
    snapshot, load = observed(bytes_in=10.0, partitions=12, size_bytes=2**30, racks=3)
    cores = np.where(snapshot.brokers.ids == snapshot.brokers.ids[-1], 32.0, 4.0)
    unlike = dataclasses.replace(snapshot.brokers, cpu_cores=cores, memory_bytes=4 * GIB * cores)
    snapshot = dataclasses.replace(snapshot, brokers=unlike)
    rates = load.bytes_in_mean_bytes_per_second, load.bytes_out_mean_bytes_per_second
    work = workload(*rates, size=GIB, retention=GIB / 10.0, names=["orders"] * 12, middle=[[1, 1]])
    request = dataclasses.replace(asked(unlike), broker_counts=(3,))
    today, fewer = simulate_sizing(SizingInputs.of(snapshot, work, request), run_sizes).results[:2]
    prices = dict(zip(unlike.ids.tolist(), 730 * usd_per_hour(request.today, unlike, request.estimates), strict=True))
    assert len(set(prices.values())) == 2
    assert today.cost.brokers == pytest.approx(sum(prices.values()))
    left = proposed_brokers(unlike, 3).ids.tolist()
    assert fewer.cost.brokers == pytest.approx(sum(prices[broker] for broker in left))
    gone = today.cost.brokers - fewer.cost.brokers
    copying = fewer.change.moved_between_racks_bytes / GIB * request.today.usd_per_gib_between_racks
    assert fewer.change.usd == pytest.approx(copying + gone / 730 * fewer.change.seconds / 3600)


def test_an_estimate_prices_the_disks_there_are_and_is_marked():
    three = brokers(3, list("abc"), disk_capacity_bytes=1_000 * GIB, memory_bytes=64 * GIB)
    today, _ = estimated_prices(
        observed_shape(three, vcpu=16.0, usd_per_gib_between_racks=0.0), three, read_shapes().values()
    )
    results, advice = sized(today={"vcpu": 16.0}, racks=3)
    assert not any(result.as_dict()["usd_per_month"]["is_estimate"] for result in results)
    # 1,000 GiB of gp3 each, whatever is on them.
    assert today.usd_per_gib_month == 0.08
    marked = [dataclasses.replace(one, option=dataclasses.replace(one.option, shape=today)) for one in results]
    assert all(one.as_dict()["usd_per_month"]["is_estimate"] for one in marked)
    view = viewed(marked, advice)
    assert estimate_sentence(view).startswith("Dollars of today’s hardware are an estimate, at the prices of m7g.4x")
    assert "per month (estimated)" in headline(view)


def test_an_estimate_is_no_reason_for_other_hardware():
    cheap = {"priced_as": "m5.large", "usd_per_hour": 9.0}
    shape = dataclasses.replace(observed_shape(brokers(3), vcpu=16.0), **cheap)
    results, _ = sized(shapes=("m7g.4xlarge",))
    dates = ("2026-11-20", "2026-12-20")

    def advised(usd_per_month):
        cost = MonthlyCost(brokers=usd_per_month, disks=0.0, between_racks=0.0, ingest=0.0)
        own = [
            dataclasses.replace(one, option=dataclasses.replace(one.option, shape=shape), cost=cost)
            if one.option.shape.name == "today"
            else one
            for one in results
        ]
        return own, advise_size(own, dates)

    own, advice = advised(19_710.0)
    assert (advice.recommended, advice.cheaper_elsewhere) == ("003-brokers.today", "003-brokers.m7g.4xlarge")
    view = viewed(own, advice)
    assert " 3 brokers of m7g.4xlarge would fit for $13," in estimate_sentence(view)
    assert estimate_sentence(view).endswith(" per month; that is not recommended over an estimate.")
    assert cost_of_steps(view).endswith(" per month: give broker_usd_per_hour or current_shape to compare.")
    # Nothing is cheaper than what costs a dollar, and what is known is compared.
    assert advised(1.0)[1].cheaper_elsewhere is None
    assert advise_size(results, dates).cheaper_elsewhere is None


def test_a_commitment_lowers_the_price_of_machines_and_of_no_others():
    request = asked(shapes=("m5.large", "kafka.m5.large"), commitment_discount_ratio=0.5, current_shape="m5.large")
    shapes = {shape.name: shape for shape in (request.today, *request.shapes)}
    assert shapes["m5.large"].usd_per_hour == pytest.approx(0.048)
    assert shapes["kafka.m5.large"].usd_per_hour == 0.21
    assert asked(commitment_discount_ratio=0.5, broker_usd_per_hour=2.0).today.usd_per_hour == 2.0


def test_how_fast_cores_are_can_be_said_of_todays_brokers_of_shapes_and_of_families():
    request = asked(shapes=("m7g.*", "m5.large"), core_speeds=("today=1.2", "m7g.*=1.1", "m7g.large=0.9"))
    speeds = {shape.name: shape.core_speed_ratio for shape in (request.today, *request.shapes)}
    assert (speeds["today"], speeds["m7g.xlarge"], speeds["m7g.large"], speeds["m5.large"]) == (1.2, 1.1, 0.9, 1.0)
    assert math.isnan(asked().today.core_speed_ratio)
    assert asked(current_shape="m7g.large", core_speeds=("today=1.2",)).today.core_speed_ratio == 1.2
