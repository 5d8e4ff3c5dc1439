"""What is said of the waves of a move."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import pytest

from kafka_capacity.kafka.reassignment.problem import Throttle
from kafka_capacity.questions.change.decide import _unless, _when
from kafka_capacity.questions.change.move_words import (
    detour_sentence,
    disk_sentence,
    endless_problem,
    leadership_sentence,
    order_sentence,
    refusal_problem,
    summary,
    throttle_sentence,
    time_notes,
    window_sentence,
)
from kafka_capacity.questions.change.problems import _endless
from kafka_capacity.questions.change.section.comparison import OPTIONS
from kafka_capacity.questions.change.section.wave_charts import MAX_BROKERS, disk_chart, gantt_chart
from kafka_capacity.questions.change.section.waves import waves_table
from kafka_capacity.questions.change.wave_runbook import pages
from kafka_capacity.report.tables import cells
from tests.report.decided import build_report
from tests.unit.questions.change.test_waves import MB, move_of, scheduled, section_of, two_waves


def test_the_summary_has_count_times_and_throttle():
    move = two_waves(pause_seconds=60.0)
    assert summary(move) == (
        "The move has 2 waves. It takes 1 min 25 s at 10 MB/s (1 min 20 s without writes, 1 min 33 s at peak rates "
        "throughout). You may stop after any wave: none leaves a partition with fewer replicas, racks or in-sync "
        "replicas than before or in the target, or fills a disk beyond its limit, or what is held there today where "
        "that is more."
    )


def test_a_single_wave_is_not_one_of_many():
    move = move_of([[1, 2]], [[1, 3]], size=100 * MB, throttle=10 * MB)
    assert "The move has 1 wave. It takes 10 s at 10 MB/s, both without writes and at peak rates throughout" in summary(
        move
    )
    assert order_sentence(move) is None


def test_what_is_told_of_waves_is_not_told_of_a_move_of_which_a_part_is_in_none():
    move = two_waves()
    part = dataclasses.replace(move, facts={**move.facts, "refused_partitions": 7, "refusals": [{"reason": "x"}]})
    assert "The move has 2 waves. 7 partitions are in no wave, so how long all of it takes is not known." in summary(
        part
    )
    figures = {"throttle_bytes_per_second": 1e7, "duration_seconds": 25.0}
    assert _when(move, figures, "") == "in 25 s at 10 MB/s, in 2 waves"
    assert _when(part, figures, "") == "in 2 waves, but 7 partitions are in no wave"
    endless = {"throttle_bytes_per_second": 1e6, "smallest_throttle_bytes_per_second": 26e6}
    needs = " at 1 MB/s; it needs a throttle above 26 MB/s"
    assert _unless(endless, move) == f"{needs} with everything started at once, while 2 waves at 10 MB/s take 25 s"
    assert _unless(endless, part) == needs
    (problem,) = _endless(SimpleNamespace(never_ends=True, figures=endless), part)
    assert problem.message.endswith("; it must be above 26 MB/s")
    at_peak = {"duration_peak_seconds": None, "smallest_throttle_peak_bytes_per_second": 40e6}
    (problem,) = _endless(SimpleNamespace(never_ends=False, figures=at_peak), part)
    assert problem.message.endswith("run it off-peak, or with a throttle above 40 MB/s")
    (took,) = [one for one in OPTIONS if one.key == "in_waves"]
    facts = {**part.facts, "wave_count": 2}
    assert cells([took], None, "fits", facts) == {"in_waves": None}


def test_what_never_ends_names_the_throttle_that_does():
    move = move_of([[1, 2]], [[1, 3]], size=10 * MB, rate=5 * MB, throttle=6 * MB)
    assert " At 6 MB/s it never finishes; it needs a throttle above 10 MB/s (20 MB/s at peak rates). " in summary(move)
    chart = gantt_chart(move)
    assert "never finishes" in chart["note"]
    assert chart["values"][0]["is_endless"]


BUSY = [20.0 * MB, 50.0 * MB, 50.0 * MB]


def test_where_no_throttle_helps_none_is_named():
    move = move_of([[1, 2]], [[1, 3]], rate=10 * MB, read=15 * MB, network=BUSY, throttle=100 * MB)
    why = "no throttle helps: the network of broker 1 has nothing left for the copies"
    assert f" It never finishes; {why}. " in summary(move)
    assert endless_problem(move).message == f"In waves the move never finishes; {why}"
    table = waves_table(move, has_rates=True)
    assert table["rows"][0]["smallest"] is None
    assert " With a dash there no throttle helps: " in table["note"]
    at_once = {"throttle_bytes_per_second": 100e6, "bottleneck_broker": 3, "bottleneck_direction": "in"}
    assert _unless({**at_once, "smallest_throttle_bytes_per_second": 8e6}, move) == f"; {why}"
    ends = move_of([[1, 2]], [[1, 3]], size=10 * MB, throttle=100 * MB)
    assert _unless({**at_once, "smallest_throttle_bytes_per_second": None}, ends) == (
        "; no throttle helps: the network of broker 3 has nothing left for the copies with everything started at "
        "once, while 1 wave at 100 MB/s takes 0.1 s"
    )
    slow = move_of([[1, 2]], [[1, 3]], rate=10 * MB, throttle=MB)
    assert _unless({**at_once, "smallest_throttle_bytes_per_second": None}, slow) == (
        " at 1 MB/s; in waves it needs a throttle above 20 MB/s"
    )


AUTOMATIC = Throttle(bytes_per_second=50.0 * MB, is_automatic=True, headroom_ratio=0.2)


@pytest.mark.parametrize(("read", "left"), [(60, "0 B/s"), (55, "5 MB/s")])
def test_automatic_throttles_that_are_too_small_are_named_with_the_remedy(read, left):
    given = dict(network=[100.0 * MB, 100.0 * MB, 200.0 * MB], throttle=AUTOMATIC)
    move = move_of([[1, 2]], [[1, 3]], rate=10 * MB, read=read * MB, **given)
    why = (
        f"the automatic throttle of broker 1 is {left}, all that 20 % headroom leaves at peak; use a smaller headroom "
        "or a fixed throttle"
    )
    assert f" It never finishes; {why}. " in summary(move)
    assert endless_problem(move).message == f"In waves the move never finishes; {why}"
    figures = {"throttle_bytes_per_second": 50e6, "smallest_throttle_bytes_per_second": 90e6}
    assert _unless(figures, move) == f"; {why}"
    option = SimpleNamespace(never_ends=True, figures=figures)
    assert [one.message for one in _endless(option, move)] == [f"In waves the move never finishes; {why}"]


def test_automatic_throttles_that_are_too_small_at_peak_are_not_to_be_raised():
    given = dict(network=[100.0 * MB, 100.0 * MB, 200.0 * MB], throttle=AUTOMATIC)
    move = move_of([[1, 2]], [[1, 3]], rate=10 * MB, read=30 * MB, **given)
    assert "never finishes unless headroom is smaller, or the throttle a fixed one above 40 MB/s." in summary(move)


def test_where_no_throttle_helps_at_peak_none_is_named():
    move = move_of([[1, 2]], [[1, 3]], rate=2 * MB, read=13 * MB, network=BUSY, throttle=100 * MB)
    why = "no throttle helps: a network or fetcher has nothing left for the copies"
    assert f"; at peak rates it never finishes, and {why}. " in summary(move)


def test_what_never_ends_at_peak_says_so():
    move = move_of([[1, 2]], [[1, 3]], size=10 * MB, rate=2 * MB, throttle=6 * MB)
    assert (
        "It takes 5 s at 6 MB/s (1.7 s without writes); at peak rates it never finishes unless the throttle is "
        "above 8 MB/s." in summary(move)
    )


def test_orders_are_compared_by_when_the_worst_broker_is_relieved():
    move = two_waves(limits=[1000.0 * MB, 250.0 * MB, 1000.0 * MB], size=[100 * MB, 50 * MB])
    orders = {one["order"]: one["relieved_seconds"] for one in move.facts["orders"]}
    assert set(orders) == {"relief-first", "smallest-first", "hottest-first"}
    assert order_sentence(move).startswith("Order: relief-first. It relieves broker 2, the most loaded (disk), after ")
    table = section_of(build_report(scheduled()))["orders"]
    assert sum(row["order"].endswith(" (chosen)") for row in table["rows"]) == 1


def test_orders_that_come_to_the_same_are_not_listed():
    move = two_waves(limits=[1000.0 * MB, 250.0 * MB, 1000.0 * MB])
    said = order_sentence(move)
    assert said.startswith("Order: relief-first. It relieves broker 2, the most loaded (disk), after 25 s; ")
    assert said.endswith("; other orders are no faster.")
    facts = {**move.facts, "is_leadership_first": True, "relieved_seconds": 20.0}
    said = order_sentence(dataclasses.replace(move, facts=facts))
    assert " after 20 s with leaders moved first; without, relief-first after 25 s; other orders " in said
    facts["orders"] = [{**one, "relieved_seconds": None} for one in move.facts["orders"]]
    assert order_sentence(dataclasses.replace(move, facts=facts)) == (
        "Order: relief-first; none of the orders tried relieves broker 2, the most loaded (disk)."
    )
    assert order_sentence(dataclasses.replace(move, facts={**move.facts, "worst_broker": None})) == (
        "Order: relief-first, the fastest, since the move relieves no broker."
    )


def test_one_wave_is_the_copying_alone():
    move = move_of([[1, 2]], [[1, 3]], size=100 * MB, throttle=10 * MB)
    assert time_notes(move, 10.0)[0] == (
        "10 s is for the copying alone, with everything started at once and the throttle fully used on the "
        "bottleneck broker."
    )


def test_leaders_first_is_compared_with_the_plain_drain():
    given = {"size": 100 * MB, "rate": 2 * MB, "throttle": 10 * MB}
    move = move_of([[1, 2]] * 3, [[2, 3], [2, 4], [2, 3]], max_concurrent_moves_per_broker=1, **given)
    plain, first = move.facts["plain_seconds"], move.facts["leadership_first_seconds"]
    assert plain is not None
    assert first is not None
    assert "3 leaders" in leadership_sentence(move)
    assert leadership_sentence(two_waves()) is None


@pytest.mark.parametrize(
    ("is_first", "plain", "first", "said"),
    [
        (True, 500.0, 120.0, "First 3 leaders move off the drained brokers: the move then takes 2 min; without it, "
                             "it takes 8 min 20 s."),
        (True, None, 120.0, "First 3 leaders move off the drained brokers: the move then takes 2 min; without it, "
                            "it never finishes."),
        (False, 100.0, 120.0, "Moving 3 leaders off the drained brokers first was tried and is no faster: the move "
                              "then takes 2 min; as planned it takes 1 min 40 s."),
    ],
)  # fmt: skip
def test_both_drains_have_their_times(is_first, plain, first, said):
    facts = {
        "leaders_moved_first": 3,
        "is_leadership_first": is_first,
        "plain_seconds": plain,
        "leadership_first_seconds": first,
    }
    move = two_waves()
    assert leadership_sentence(dataclasses.replace(move, facts={**move.facts, **facts})) == said


def test_disks_on_the_way():
    assert disk_sentence(two_waves()) == "No broker’s disk size is known, so disks are not checked during the move."
    assert disk_chart(two_waves()) is None
    move = two_waves(limits=[1000.0 * MB, 1000.0 * MB, 400.0 * MB])
    assert disk_sentence(move) == (
        "During the move broker 3 comes closest to what its disk may hold (its limit, or what is held there today "
        "where that is more): 50.0 % of it in wave 2."
    )
    chart = disk_chart(move)
    assert chart["values"][0]["label"] == "Broker 3: 0 %, at most 50.0 %, then 50.0 %"
    levels = [(one["place"], one["share"]) for one in chart["values"] if one["label"].startswith("Broker 3")]
    assert levels == [(0, 0.0), (0.5, 0.25), (1.0, 0.25), (1, 0.25), (1.5, 0.5), (2.0, 0.5)]
    rows = [row for row in chart["table"]["rows"] if row["broker"] == 3]
    assert [(row["waves"], row["start"], row["peak"], row["end"]) for row in rows] == [
        ("1", 0.0, 100.0 * MB, 100.0 * MB),
        ("2", 100.0 * MB, 200.0 * MB, 200.0 * MB),
    ]


def test_only_the_fullest_disks_are_drawn_and_the_chart_says_so():
    count = MAX_BROKERS + 3
    move = move_of([[b] for b in range(1, count)], [[b + 1] for b in range(1, count)], limits=[1000.0] * count)
    chart = disk_chart(move)
    assert len({one["label"] for one in chart["values"]}) == MAX_BROKERS
    assert chart["note"].endswith(f" Shown are the {MAX_BROKERS} of {count} brokers that come closest.")


def test_a_broker_beyond_its_limit_from_the_start_is_no_surprise():
    move = two_waves(limits=[1000.0 * MB, 100.0 * MB, 400.0 * MB])
    assert disk_sentence(move) == (
        "Broker 2 is over its disk limit before the move, and reaches at most 200 % of it in wave 1."
    )
    watch = next(step["text"] for step in pages(move)[0]["steps"] if step["does"] == "Watch")
    assert "meanwhile, 200 % of its disk limit, which it is over before the move. " in watch
    assert summary(move).endswith(" or takes a disk over its limit that is within it today.")
    within = summary(two_waves(limits=[1000.0 * MB] * 3))
    assert within.endswith(" or fills a disk beyond its limit, or what is held there today where that is more.")


def test_waves_that_copy_nothing_of_what_is_to_be_copied_take_no_time_to_compare():
    refused = {"wave_count": 1, "refusals": [{}], "copied_bytes": 0.0, "refused_partitions": 1}
    refused |= {f"total_{band}_seconds": 0.0 for band in ("low", "expected", "high")}
    columns = [one for one in OPTIONS if one.key in {"takes", "in_waves"}]
    assert cells(columns, None, "fits", refused) == {"takes": None, "in_waves": None}
    assert cells(columns, None, "fits", {**refused, "refusals": []}) == {
        "takes": (0.0, 0.0, 0.0),
        "in_waves": (0.0, 0.0),
    }


def test_a_detour_is_named():
    assert detour_sentence(two_waves()) is None
    move = two_waves()
    waves = tuple({**wave, "kind": "detour"} for wave in move.waves)
    assert detour_sentence(dataclasses.replace(move, waves=waves)) == (
        "In waves 1, 2 partitions move by way of a third broker, because full disks block each other; these are "
        "copied twice."
    )


def test_what_cannot_move_is_a_serious_caveat_with_its_figures():
    move = move_of([[1], [1]], [[2], [2]], size=100, limits=[1000.0, 150.0], allows_detours=False)
    problem = refusal_problem(move)
    assert (problem.severity, problem.code) == ("serious", "partitions-in-no-wave")
    assert problem.message.startswith("1 partition is not in any wave and stays put: broker 2 may hold 150 B but holds")
    assert refusal_problem(two_waves()) is None


def test_nothing_that_can_move_is_still_told():
    move = move_of([[1]], [[2]], size=100, limits=[1000.0, 50.0], allows_detours=False)
    assert not move.waves
    assert summary(move) == "None of it can be moved as things stand."
    assert gantt_chart(move) is None
    assert pages(move) == []


def test_automatic_throttles_say_what_they_leave_free():
    throttle = Throttle(bytes_per_second=1.0 * MB, is_automatic=True, headroom_ratio=0.2)
    move = two_waves(throttle=throttle, network=[100.0 * MB, 100.0 * MB, 50.0 * MB])
    assert throttle_sentence(two_waves()) is None
    assert throttle_sentence(move) == (
        "Throttles are set per broker and direction, as large as possible while leaving 20 % of network and disk "
        "free at each broker’s peak."
    )
    note = time_notes(move, 3600.0)[0]
    assert note.endswith(" The copying alone, with everything started at once at 1 MB/s, would take 1 h.")
    assert "Throttle" in [step["does"] for step in pages(move)[0]["steps"]]


def test_slower_at_once_has_its_reason():
    note = time_notes(two_waves(), 3600.0)[0]
    assert note.endswith("would take 1 h, since new data for all moving partitions would then use up the throttle.")


@pytest.mark.parametrize(
    ("times", "late"),
    [
        ([(0.0, 3600.0), (86_400.0, 3600.0)], None),
        (
            [(0.0, 3601.0), (86_400.0, 3600.0)],
            "At peak rates 1 of 2 waves would not be done by then, and would have to be",
        ),
        ([(0.0, 1801.0, "2026-11-16T00:00:00+00:00")], "At peak rates 1 of 1 wave would not be done by then"),
        ([(0.0, 1800.0, "2026-11-16T00:00:00+00:00")], None),
        ([(0.0, None), (86_400.0, 3600.0)], "At peak rates 1 of 2 waves would not be done by then"),
        ([(0.0, None), (86_400.0, 3601.0)], "At peak rates 2 of 2 waves would not be done by then"),
        ([(None, None)], None),
    ],
)
def test_waves_that_only_the_expected_traffic_lets_end_in_the_window_are_counted(times, late):
    waves = [
        {"start_expected_seconds": start, "start_high_seconds": None, "end_high_seconds": None, "high_seconds": high}
        # One that is expected to begin half an hour after the window has opened.
        | ({"starts_at": more[0], "closes_at": "2026-11-16T00:30:00+00:00"} if more else {})
        for start, high, *more in times
    ]
    sentence = window_sentence({"window": "23:30-00:30"}, waves)
    assert sentence.startswith("Waves run only from 23:30 to 00:30 UTC.")
    assert ("At peak rates" in sentence) == (late is not None)
    assert late is None or late in sentence
    assert window_sentence({"window": None}, waves) is None
