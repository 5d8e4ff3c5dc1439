"""What could be lost, in words and tables."""

import dataclasses

import pytest

from kafka_capacity.questions.failures.section.durability import (
    assumed_sentences,
    chance,
    few_sentence,
    losses_sentence,
    read_durability,
    topics_table,
    ways,
)
from tests.report.decided import build_report, render_all, view_plan
from tests.report.plans import make_inputs
from tests.report.sized import sized_inputs


@pytest.fixture(scope="module")
def inputs():
    return sized_inputs(failure_kinds=["broker"], producer_acks="1")


def section(inputs):
    return next((one["data"] for one in build_report(inputs)["sections"] if one["name"] == "durability"), None)


def test_the_report_says_what_a_year_costs_today_and_after_the_change(inputs):
    data = section(inputs)
    assert data["verdicts"][0]["side"] == "Today"
    first = data["verdicts"][0]["sentences"]
    assert first[0].startswith("Probability that a partition loses all its replicas within a year: ")
    assert "that only leaders had when they died" in first[0]
    assert first[1].startswith("With the same replicas on only ")
    assert "acks=1" in data["notes"][0]
    (table, *_) = data["tables"]
    assert {row["topic"] for row in table["rows"]} == {"orders", "payments"}
    assert {row["lost"] for row in table["rows"]} == {"1"}


def test_ways_are_told_once_and_lead_to_the_end(inputs):
    data = section(inputs)
    told = [way for setting in data["settings"] for way in setting["ways"]]
    assert any(
        way["title"].startswith("An acknowledged record is lost after 1 failure, if brokers crash") for way in told
    )
    assert all(way["steps"][-1].startswith("in the end") for way in told)
    titles = [
        (setting["name"], way["title"].partition(",")[0]) for setting in data["settings"] for way in setting["ways"]
    ]
    assert len(set(titles)) == len(titles)


def test_the_page_shows_it(inputs):
    page = render_all(inputs).index_html.decode()
    assert "What could be lost" in page
    assert "the producer sends record 1; replica A appends it at offset 0" in page


def test_older_plans_say_nothing():
    assert section(make_inputs()) is None


def test_an_option_that_changes_nothing_is_not_told_twice(inputs):
    same = dataclasses.replace(inputs, failures={**inputs.failures, "placements": {}})
    assert len(read_durability(view_plan(inputs))) == 2
    assert len(read_durability(view_plan(same))) == 1


def test_topics_with_a_single_replica_are_named(inputs):
    (side, *_) = read_durability(view_plan(inputs))
    assert "single replica" not in losses_sentence(side)
    lone = [{**side.topics[0], "topic": name, "replication_factor": 1} for name in "abcd"]
    assert losses_sentence(dataclasses.replace(side, topics=lone)).endswith(
        "4 topics with a single replica (a, b, c and 1 more) are lost with one broker's disks, wherever they are."
    )
    assert losses_sentence(dataclasses.replace(side, topics=lone[:1])).endswith(
        "1 topic with a single replica (a) is lost with one broker's disks, wherever it is."
    )


def test_what_is_not_known_is_said(inputs):
    (side, *_) = read_durability(view_plan(inputs))
    unknown = {**side.topics[0], "lost_bytes_per_year": None, "loss_probability": None, "topic": "unknown"}
    table = topics_table(dataclasses.replace(side, topics=[*side.topics, unknown]), "t", max_failures=3)
    assert (table["rows"][0]["topic"], table["rows"][0]["chance"], table["rows"][0]["bytes"]) == (
        "unknown",
        "not known",
        None,
    )
    # Among these, what fewer failures lose comes first, and no other is said to lose less.
    few, one, two = (
        {**unknown, "topic": name, "replication_factor": replicas, "lost_after_crashes": failures}
        for name, replicas, failures in (("few", 3, 2), ("one", 1, 1), ("two", 2, 2))
    )
    table = topics_table(dataclasses.replace(side, topics=[few, one, two]), "t", max_failures=3, max_rows=2)
    assert [row["topic"] for row in table["rows"]] == ["one", "two"]
    assert table["note"].endswith(
        "explored. A copyset is a set of brokers that holds all replicas of something. And 1 more topics."
    )
    assert ways(dataclasses.replace(side, outcomes=[])) == []
    never = dataclasses.replace(side, few={**side.few, "loss_probability": None})
    assert few_sentence(never) == "What a placement with few copysets would change is unknown for the same reason."


def test_settings_that_are_assumed_are_named(inputs):
    (side, *_) = read_durability(view_plan(inputs))
    assert assumed_sentences(side) == []
    first, *others = side.topics
    unknown = dataclasses.replace(side, topics=[{**first, "is_min_isr_assumed": True}, *others])
    assert assumed_sentences(unknown) == [
        "Unknown, so that Kafka's default is assumed: min.insync.replicas 1 of 1 topic."
    ]
    # Plans of earlier versions do not tell.
    names = ("is_min_isr_assumed", "is_unclean_assumed")
    older = [{name: value for name, value in row.items() if name not in names} for row in side.topics]
    assert assumed_sentences(dataclasses.replace(side, topics=older)) == []


def test_few_copysets_that_change_nothing_that_can_be_read_are_no_advice(inputs):
    (side, *_) = read_durability(view_plan(inputs))
    one = {**side.whole, "copysets": 1, "loss_probability": 1.0001e-5}
    assert "There is 1 set of brokers that holds all replicas of a" in losses_sentence(
        dataclasses.replace(side, whole=one)
    )
    alike = dataclasses.replace(side, whole=one, few={**side.few, "copysets": 1, "loss_probability": 1.0e-5})
    assert few_sentence(alike) == (
        "A placement with few copysets (1 set of brokers) would not make losses noticeably rarer."
    )
    likelier = dataclasses.replace(alike, few={**alike.few, "copysets": 7, "loss_probability": 1.0e-4})
    assert few_sentence(likelier).endswith("(7 sets of brokers) would not make losses noticeably rarer.")
    rarer = dataclasses.replace(alike, few={**alike.few, "loss_probability": 1.0e-6})
    assert few_sentence(rarer).startswith("With the same replicas on only 1 set of brokers, the probability would be ")


@pytest.mark.parametrize(
    ("ratio", "words"),
    [(None, "not known"), (0.0, "none"), (0.33, "33.0 %"), (0.0005, "one in 2,000"), (3.55e-6, "one in 280,000")],
)
def test_chances_are_written_for_people(ratio, words):
    assert chance(ratio) == words
