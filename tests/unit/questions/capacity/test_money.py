"""What is bought and when: budgets, estimated prices, commitments, pay now or later, and how long recovery may take."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from kafka_capacity.demand.workload import HIGH
from kafka_capacity.hardware.limits import NEVER_SECONDS, RESOURCES, FailureTolerance, Limits, Resource
from kafka_capacity.hardware.shape_catalogue import estimated_price_sentence, estimated_prices
from kafka_capacity.hardware.shapes import observed_shape, usd_per_hour
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.proposal.grid import proposed_brokers
from kafka_capacity.questions.capacity.approval import approval
from kafka_capacity.questions.capacity.choice import advise_size
from kafka_capacity.questions.capacity.cost_words import estimate_sentence, pay_sentence, price_wanted
from kafka_capacity.questions.capacity.decide import cost_of_steps, decide_capacity, key_figures
from kafka_capacity.questions.capacity.document import to_plain
from kafka_capacity.questions.capacity.judging import judge
from kafka_capacity.questions.capacity.loads import LoadSettings, capacity_use, placed_loads
from kafka_capacity.questions.capacity.options import SizingInputs, SizingRequest
from kafka_capacity.questions.capacity.results import MonthlyCost, OptionKind
from kafka_capacity.questions.capacity.section.options_costs import _verdict
from kafka_capacity.questions.capacity.simulate import simulate_sizing
from kafka_capacity.questions.capacity.sizing_steps import outlook_costs, view_sizing
from kafka_capacity.questions.capacity.sizing_words import badge, headline, subject_words
from kafka_capacity.questions.capacity.tables import (
    sizing_exhaustion_table,
    sizing_options_table,
    sizing_use_table,
)
from tests.asking import run_sizes
from tests.shapes import read_shapes
from tests.unit.proposal.snapshots import observed
from tests.unit.questions.capacity.test_options import sized
from tests.unit.questions.capacity.workloads import GIB, MIB, brokers, replicas, workload

OWN_PRICE = {"vcpu": 16.0, "usd_per_hour": 1.0, "usd_per_gib_between_racks": 0.0}
"""Three brokers cost 3 x 730 dollars a month."""


def viewed(results, advice, dates=("2026-11-20", "2026-12-20")):
    tables = {
        "sizing_options": sizing_options_table(results, recommended=advice.recommended, front=advice.front),
        "sizing_exhaustion": sizing_exhaustion_table(results),
        "sizing_use": sizing_use_table([], None),
    }
    return view_sizing(tables, {"advice": to_plain(advice), "dates": list(dates)}, {})


def asked(list_of=None, *, cpu_cores=16.0, **given):
    observed = brokers(3, memory_bytes=64 * GIB, cpu_cores=cpu_cores) if list_of is None else list_of
    return parse_plan_request({"cluster": "payments", **given}).sizing_request(observed, read_shapes())


def test_a_budget_is_kept_and_says_what_it_leaves():
    _, advice = sized(budget_usd_per_month=3_000.0)
    assert advice.recommended == "003-brokers.today"
    assert "leaves $810 of the budget of $3,000 per month" in advice.reason  # 3,000 - 3 x 730


def test_where_nothing_fits_within_the_budget_the_reason_has_the_numbers():
    results, advice = sized(budget_usd_per_month=2_000.0)
    assert advice.recommended is None
    assert advice.reason == (
        "no option that fits is within the budget of $2,000 per month; the cheapest option that fits, "
        "003-brokers.today, costs $2,190 per month, $190 over budget; no option is within it, not even "
        "003-brokers.today for $2,190 per month"
    )
    view = viewed(results, advice)
    assert view.nearest["option_id"] == "003-brokers.today"
    assert headline(view) == (
        "Nothing within $2,000 per month lasts until December 2026; the cheapest that does, 3 brokers, costs $2,190 "
        "per month."
    )
    assert badge(view) == ("bad", "✕ Over budget")
    assert subject_words(view) == "nothing within $2,000 per month lasts until December 2026"


def test_within_a_budget_that_is_too_small_the_longest_lasting_is_named():
    # 4 MiB/s a partition grow fivefold: three brokers are enough at first only.
    results, advice = sized(growth=(1.0, 5.0), today=OWN_PRICE, budget_usd_per_month=3_000.0)
    assert advice.recommended is None
    assert "within it 003-brokers.today lasts longest, until 2026-1" in advice.reason
    assert advice.by_date[0] == ("2026-11-20", "003-brokers.today")
    view = viewed(results, advice)
    assert headline(view).endswith(
        "nothing within $3,000 per month lasts until December 2026; the cheapest that does, 6 brokers, costs $4,380 "
        "per month."
    )
    # Three brokers fewer would be missed within two weeks.
    assert view.steps == ()
    assert approval(view).startswith("Approve no broker count: nothing that fits is within $3,000 per month; today’s 6")


def test_where_the_budget_is_below_what_todays_brokers_cost_they_still_last_as_long():
    # Six brokers cost 6 x 730 dollars, and do not last while traffic becomes tenfold.
    results, advice = sized(growth=(1.0, 10.0), today=OWN_PRICE, budget_usd_per_month=1_000.0, broker_counts=(6, 18))
    view = viewed(results, advice)
    assert (view.steps, view.recommended) == ((), None)
    until = view.until(view.today)
    assert approval(view) == (
        f"Approve no broker count: nothing that fits is within $1,000 per month; today’s 6 last until {until}."
    )
    now, _, price, _ = key_figures(view)
    assert (now.label, now.value, price.value) == ("Brokers today", 6, view.today["total_usd_per_month"])
    assert cost_of_steps(view).startswith("$4,380 per month on average until December 2026 with 6 brokers")
    affordable = {row["option_id"]: _verdict(row, view) for row in view.options}
    assert affordable["do-nothing"] == affordable["018-brokers.today"] == "over_budget"


def test_where_neither_todays_brokers_last_nor_others_are_within_the_budget_the_cheapest_is_named():
    # 20 MiB/s to each of 24 partitions are too much for six brokers.
    busy = {"bytes_in": 20 * MIB, "partitions": 24, "growth": (1.0, 1.0), "broker_counts": (6, 24)}
    results, advice = sized(today=OWN_PRICE, budget_usd_per_month=5_000.0, **busy)
    view = viewed(results, advice)
    assert (view.steps, view.today["fits_until"]) == ((), None)
    assert approval(view) == (
        "Approve no broker count: nothing that fits is within $5,000 per month; the cheapest, 24 brokers, costs "
        "$17,520 per month."
    )


def test_a_copy_that_never_finishes_is_a_problem_of_the_step():
    results, advice = sized(growth=(1.0, 10.0), today=OWN_PRICE, broker_counts=(6, 18))
    view = viewed(results, advice)
    document = {**view.document, "classes": [], "peak_basis": "same-hours"}
    first, *others = view.steps
    endless = {**first.option, "change_seconds": None, "least_throttle_bytes_per_second": 8e6}
    for option, is_named in ((first.option, False), (endless, True)):
        steps = (dataclasses.replace(first, option=option), *others)
        told = decide_capacity(dataclasses.replace(view, document=document, steps=steps), document)
        (found,) = [one for one in told.problems if one.code == "copying-never-finishes"] or [None]
        assert (found is not None) == is_named
    assert found.remedy == "raise the throttle above 8 MB/s"


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


def test_pay_now_or_later_is_reckoned_while_each_step_lasts():
    results, advice = sized(growth=(1.0, 10.0), today=OWN_PRICE, broker_counts=(6, 9, 12, 15, 18))
    view = viewed(results, advice)
    costs = outlook_costs(view)
    first, *later = costs["steps"]
    assert later
    # A broker costs 730 dollars a month, and nothing else does.
    for before, step in zip(costs["steps"], later, strict=False):
        brokers_more = step["broker_count"] - before["broker_count"]
        assert step["more_usd_per_month"] == pytest.approx(730 * brokers_more)
    assert first["usd_per_month"] == pytest.approx(730 * first["broker_count"])
    months = 30 * 24 / 730
    assert costs["usd_at_once"] == pytest.approx(730 * later[-1]["broker_count"] * months)
    assert costs["usd_step_by_step"] < costs["usd_at_once"]
    sentence = pay_sentence(view)
    assert f"{later[0]['from_day']}, +$" in sentence
    assert sentence.endswith(f"for all {later[-1]['broker_count']:,} now.")


def test_a_lost_broker_takes_what_it_held_over_what_the_throttle_leaves():
    # 100 GiB over 50 MB/s less the 10 MB/s that come in meanwhile, and without end where 50 come in.
    settings = LoadSettings(throttle_bytes_per_second=50e6, recovery_seconds=3_600.0)
    work = workload((10e6,), size=100 * GIB, retention=100 * GIB / 10e6, middle=[[1, 5]])
    use = capacity_use(
        placed_loads(work, brokers(3, list("abc")), replicas([1, 2]), settings), read_shapes()["m5.large"]
    )
    found = use.load[0, RESOURCES.index(Resource.RECOVERY), HIGH]
    assert found[0, 0] == pytest.approx(100 * GIB / 40e6)
    assert found[1, 0] == NEVER_SECONDS
    assert found[0, 2] == 0.0


def test_a_lost_disk_takes_what_it_held_and_a_volume_that_is_the_only_one_all():
    # The fullest of today's disks has 40 % of what its broker holds and gets: 40 GiB over 50 MB/s less 4 of 10 MB/s.
    settings = LoadSettings(throttle_bytes_per_second=50e6, volume_recovery_seconds=800.0)
    work = workload((10e6,), size=100 * GIB, retention=100 * GIB / 10e6)
    placed = placed_loads(work, brokers(3, list("abc")), replicas([1, 2]), settings)
    several = dataclasses.replace(observed_shape(placed.brokers, vcpu=16.0), fullest_volume_ratio=0.4)
    use = capacity_use(placed, several)
    assert use.load[0, RESOURCES.index(Resource.VOLUME_RECOVERY), HIGH, 0, 0] == pytest.approx(40 * GIB / 46e6)
    (excuse,) = [one for one in judge(use, Limits(), several).excuses if one.constraint == "volume_recovery"]
    assert "would take 0.3 hours to re-replicate the fullest of its disks after the loss of that on" in excuse.reason
    single = capacity_use(placed, read_shapes()["m5.large"])
    assert single.load[0, RESOURCES.index(Resource.VOLUME_RECOVERY), HIGH, 0, 0] == pytest.approx(100 * GIB / 40e6)
    assert not np.isfinite(single.capacity[RESOURCES.index(Resource.RECOVERY)]).any()
    assert asked(volume_recovery_hours=0.5).loads.volume_recovery_seconds == 1_800.0


def test_a_time_to_recover_binds_with_its_reason_and_more_brokers_keep_it():
    # 16 partitions of 1 GiB, three replicas, on 3 brokers: 16 GiB each. Over 50 MB/s that is 344 s.
    request = asked(recovery_hours=0.05)
    assert request.loads.recovery_seconds == 180.0
    loads = LoadSettings(throttle_bytes_per_second=50e6, recovery_seconds=180.0)
    results, advice = sized(bytes_in=10.0, partitions=16, growth=(1.0, 1.0), loads=loads)
    found = {result.option_id: result for result in results}
    (excuse,) = [one for one in found["003-brokers.today"].excuses if one.constraint == "recovery"]
    assert "would take 0.10 hours to be re-replicated after its loss on " in excuse.reason
    assert excuse.needed == pytest.approx(16 * GIB / 50e6, rel=1e-3)
    assert advice.recommended not in (None, "003-brokers.today")
    assert all(one.resource is not Resource.RECOVERY for result in sized()[0] for one in result.exhaustion)


def test_express_is_used_up_to_its_quota_and_not_refused_by_figures_of_processors():
    # 45 MiB/s to each leader of three are 72 % of an express.m7g.2xlarge, whose limit is 75 %.
    results, _ = sized(
        bytes_in=45 * MIB, partitions=3, growth=(1.0, 1.0), shapes=("express.m7g.2xlarge",), broker_counts=(3, 9),
        limits=dataclasses.replace(asked().limits, tolerance=FailureTolerance.NONE),
    )  # fmt: skip
    (express,) = [one for one in results if one.option_id == "003-brokers.express.m7g.2xlarge"]
    assert express.fits, [excuse.reason for excuse in express.excuses]
    assert not express.not_judged
    assert express.headroom_ratio == pytest.approx(1 - 45 / (62.5 * 0.75))


def test_smaller_volumes_are_an_option_where_todays_are_larger_than_they_must_be():
    # Three brokers with 1,000 GiB of gp3 each hold 12 GiB: 12 / 0.85 are 15 GiB, so that 985 x 3 x $0.08 are saved.
    snapshot, load = observed(bytes_in=10.0, partitions=12, size_bytes=2**30, racks=3)
    wide = dataclasses.replace(snapshot.brokers, disk_capacity_bytes=np.full(len(snapshot.brokers), 1_000.0 * GIB))
    snapshot = dataclasses.replace(snapshot, brokers=wide)
    rates = load.bytes_in_mean_bytes_per_second, load.bytes_out_mean_bytes_per_second
    work = workload(*rates, size=GIB, retention=GIB / 10.0, names=["orders"] * 12, middle=[[1, 1]])
    request = SizingRequest(today=read_shapes()["m5.large"], broker_counts=(len(wide),))
    found = simulate_sizing(SizingInputs.of(snapshot, work, request), run_sizes)
    today, smaller = found.results[:2]
    assert (today.option.kind, smaller.option.kind) == (OptionKind.DO_NOTHING, OptionKind.SHRINK_VOLUMES)
    assert today.cost.disks == pytest.approx(len(wide) * 1_000 * 0.08)
    assert smaller.cost.disks < today.cost.disks / 50
    assert smaller.change.moved_bytes == 36 * GIB  # every replica is copied
    assert smaller.change.break_even_days is not None
    rebalanced = next(one for one in found.results if one.option.kind is OptionKind.REBALANCE)
    assert rebalanced.cost.disks == pytest.approx(today.cost.disks)  # it keeps the volumes
    # Where they are the cheapest option that lasts, they are what to do, for nothing has to run out before.
    assert found.advice.recommended == "shrink-volumes"
    view = viewed(found.results, found.advice)
    assert [step.option["option_id"] for step in view.steps] == ["shrink-volumes"]
    assert approval(view).startswith(
        f"Approve {len(wide)} brokers of m5.large (smaller volumes) now, instead of today’s"
    )
    told = dataclasses.replace(view, document={**view.document, "classes": [], "peak_basis": "same-hours"})
    (action,) = decide_capacity(told, told.document).actions
    assert action.text == f"Replace the volumes with smaller ones, {len(wide)} brokers of m5.large."
    assert (action.about, action.broker_count) == ("replace the volumes", None)


def test_a_budget_that_is_too_small_is_no_reason_to_scale_in_for_a_few_days():
    # Six brokers cost 4,380 and last some days longer rebalanced, and than three; more would be needed.
    small = {"bytes_in": 2 * MIB, "partitions": 24, "broker_counts": (3, 6, 12, 24)}
    results, advice = sized(growth=(1.0, 8.0), today=OWN_PRICE, budget_usd_per_month=5_000.0, **small)
    view = viewed(results, advice)
    (today,) = view.steps
    longest = view.by_id(advice.longest_within_budget)
    assert advice.recommended is None
    assert (today.option["option_id"], longest["broker_count"]) == ("do-nothing", 6)
    assert f"within it {longest['option_id']} lasts longest, until {view.until(longest)} for $4,380 per month" in (
        advice.reason
    )


def test_smaller_volumes_are_bought_now_whatever_is_needed_later():
    # What 36 logs hold falls to a tenth with their retention, at the second date. Volumes that are bought now hold what
    # is there now, and none of them shrinks.
    snapshot, load = observed(bytes_in=10.0, partitions=12, size_bytes=2**30, racks=3)
    wide = dataclasses.replace(snapshot.brokers, disk_capacity_bytes=np.full(len(snapshot.brokers), 1_000.0 * GIB))
    snapshot = dataclasses.replace(snapshot, brokers=wide)
    rates = load.bytes_in_mean_bytes_per_second, load.bytes_out_mean_bytes_per_second
    full = {"size": GIB, "retention": GIB / 10.0, "segment": 1.0, "names": ["orders"] * 12, "middle": [[1, 1, 1]]}
    work = workload(*rates, **full, dates=("2026-11-20", "2026-12-20", "2027-01-20"), retention_changes=[[1, 0.1, 0.1]])
    request = SizingRequest(today=read_shapes()["m5.large"], broker_counts=(len(wide),))
    smaller = next(
        one
        for one in simulate_sizing(SizingInputs.of(snapshot, work, request), run_sizes).results
        if one.option.kind is OptionKind.SHRINK_VOLUMES
    )
    assert len(set(smaller.cost.by_date)) == 1
    assert smaller.cost.disks == pytest.approx(sum(np.ceil(held / 0.85) * 0.08 for held in _held_gib(snapshot)))


def _held_gib(snapshot):
    return [float((snapshot.replicas == broker).sum()) for broker in snapshot.brokers.ids.tolist()]
