"""What a drift does to what a plan recommends, by hand."""

import pytest

from kafka_capacity.demand.outlook import STORED, TRAFFIC
from kafka_capacity.plan.drift_effects import Effect, move_effect, sizing_effect
from kafka_capacity.questions.accuracy.scores import CPU, MOVES
from kafka_capacity.questions.accuracy.watch import Drift
from kafka_capacity.questions.capacity.sizing_view import SizingView, Step
from kafka_capacity.questions.capacity.tables import SIZING_USE

DATES = ("2026-01-01", "2026-07-01", "2027-01-01")


def drift(ratio, figure=TRAFFIC, last="2026-02-02"):
    return Drift(
        figure=figure,
        plan_id="p",
        made_on=DATES[0],
        since="2026-01-19",
        last=last,
        count=3,
        expected=100.0,
        observed=100.0 * ratio,
        ratio=ratio,
    )


def option(count, fits_until, headroom):
    return {
        "option_id": f"{count}",
        "kind": "do-nothing" if count == 6 else "scale-out",
        "broker_count": count,
        "shape": "today",
        "extra_racks": 0,
        "replication_factor": None,
        "fits": fits_until == DATES[-1],
        "fits_until": fits_until,
        "headroom_ratio": headroom,
        "tightest_resource": "network_in",
        "excuses": [],
    }


def view(network_end="2026-10-01", disk_end=None):
    """6 brokers run out of network on a day, 9 have 40 % left at the horizon; traffic goes from 100 to 200 by then."""
    six, nine = option(6, DATES[1], -0.2), option(9, DATES[2], 0.4)
    end = {"6": {"network_in": network_end, "disk": disk_end}, "9": {"network_in": None}}
    return SizingView(
        options=(six, nine),
        exhaustion={
            name: {resource: {"resource": resource, "high": day} for resource, day in rows.items()}
            for name, rows in end.items()
        },
        use=SIZING_USE.empty_table(),
        document={"dates": DATES, TRAFFIC: {"high": [100, 150, 200]}, STORED: {"high": [1000, 1000, 1000]}},
        estimate="high",
        steps=(
            Step(
                option=six,
                from_day=DATES[0],
                until=network_end,
                resource="network_in",
                usd_per_month=None,
                more_usd_per_month=None,
            ),
        ),
    )


def test_what_comes_in_excess_comes_so_much_earlier():
    # At 2026-10-01, half way between 150 and 200, 175 are expected. 175 / 1.25 = 140, expected 4/5 of the first half
    # year after its begin: 145 of 181 days. 9 brokers take 200 / 0.6 = 333: 1.25 times 200 are within that.
    assert sizing_effect(drift(1.25), view(), 6).effect == (
        "By that plan, 6 brokers last until 2026-05-26 instead of until 2026-10-01, or 9 instead of 6"
    )
    # 333 / 1.9 = 175: until the day that 6 were to last.
    assert sizing_effect(drift(1.9), view(), 6).effect == (
        "By that plan, 6 brokers are at a limit already, which was not expected until 2026-10-01; 9 are enough"
    )
    assert sizing_effect(drift(2.0), view(), 6).effect.endswith("; no count that was tried lasts that long")
    assert sizing_effect(drift(1.7), view(), 6).is_beyond


def test_what_comes_short_lasts_longer():
    assert (
        sizing_effect(drift(0.95), view(), 6).effect
        == "By that plan, 6 brokers last until 2026-11-04 instead of until 2026-10-01"
    )
    assert (
        sizing_effect(drift(0.7), view(), 6).effect
        == "By that plan, 6 brokers last beyond 2027-01-01 instead of until 2026-10-01"
    )


def test_what_does_not_hang_on_the_figure_stays():
    assert sizing_effect(drift(1.25, CPU), view(), 6).effect == "By that plan, 6 brokers last until 2026-10-01 even so"
    assert (
        sizing_effect(drift(1.25), view(disk_end="2026-03-01"), 6).effect
        == "By that plan, 6 brokers last until 2026-03-01 even so"
    )


def test_brokers_that_were_added_since_are_what_is_judged():
    # With 9 there nobody is paged for 6 that would be at their limit: these last beyond the horizon even so.
    found = sizing_effect(drift(1.25), view(), 9)
    assert found == Effect(effect="By that plan, 9 brokers last beyond 2027-01-01 even so")
    assert sizing_effect(drift(2.0), view(), 9).effect.startswith("By that plan, 9 brokers last until 2026-")
    assert sizing_effect(drift(1.9), view(), 8) == Effect()


@pytest.mark.parametrize(
    ("seconds", "effect"), [(None, ""), (7200.0, "By the plan of 2026-02-01, the move m now takes 3 h instead of 2 h")]
)
def test_a_move_takes_so_much_longer(seconds, effect):
    assert move_effect(drift(1.5, MOVES), "2026-02-01", "m", seconds) == Effect(effect=effect)
