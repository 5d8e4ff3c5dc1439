"""What is bought and when: budgets, pay now or later, and smaller volumes."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from kafka_capacity.hardware.limits import FailureTolerance
from kafka_capacity.questions.capacity.approval import approval
from kafka_capacity.questions.capacity.cost_words import pay_sentence
from kafka_capacity.questions.capacity.decide import cost_of_steps, decide_capacity, key_figures
from kafka_capacity.questions.capacity.options import SizingInputs, SizingRequest
from kafka_capacity.questions.capacity.results import OptionKind
from kafka_capacity.questions.capacity.section.options_costs import _verdict
from kafka_capacity.questions.capacity.simulate import simulate_sizing
from kafka_capacity.questions.capacity.sizing_steps import outlook_costs
from kafka_capacity.questions.capacity.sizing_words import badge, headline, subject_words
from tests.asking import run_sizes
from tests.shapes import read_shapes
from tests.unit.proposal.snapshots import observed
from tests.unit.questions.capacity.money import OWN_PRICE, asked, viewed
from tests.unit.questions.capacity.test_options import sized
from tests.unit.questions.capacity.workloads import GIB, MIB, workload


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
    steps = (dataclasses.replace(first, option={**endless, "least_throttle_bytes_per_second": None}), *others)
    told = decide_capacity(dataclasses.replace(view, document=document, steps=steps), document)
    (found,) = [one for one in told.problems if one.code == "copying-never-finishes"]
    assert " never finishes: no throttle helps: a network or fetcher has nothing left" in found.message
    assert not found.remedy


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
