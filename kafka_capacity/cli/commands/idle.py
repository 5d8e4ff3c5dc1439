"""``kafka-capacity idle``: topics that nobody writes to or reads from, and what removing them would free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_capacity.cli.console import Steps
from kafka_capacity.cli.one_question import Found, asks
from kafka_capacity.cli.options import MaxRows


@asks("idle", version=1)
def idle(snapshot: str, given: Mapping[str, Any], begin: Steps, max_rows: MaxRows = 20) -> Found:
    """List the topics that nobody writes to or reads from, where they are, and what removing them would free.

    Reads a native snapshot. A topic is idle if nothing was written to it or read from it in all known hours, at least a
    week, and no subscribed consumer group has made progress on it. Topics with less history are counted as not judged;
    Kafka's own topics are left out.

    With --out it writes idle.json into DIR. Nothing is removed.
    """
    from kafka_capacity.cli.plan_input import ask_snapshot
    from kafka_capacity.questions.idle.decide import decide_idle, largest_first
    from kafka_capacity.questions.idle.evaluate import evaluate_idle

    begin("reading the snapshot")
    found = ask_snapshot(snapshot, given).basis
    tables = evaluate_idle(found)
    answer = decide_idle(tables)
    topics, brokers = largest_first(tables["idle_topics"]), largest_first(tables["idle_brokers"])
    document = {
        **tables["idle_scope"].to_pylist()[0],
        "sentences": [answer.headline, *answer.reasons],
        "idle_topics": topics,
        "brokers": brokers,
    }
    return Found(
        of=found.snapshot,
        answer=lambda: answer.headline,
        document=lambda: document,
        show=lambda: _print(answer.reasons, topics, brokers, max_rows),
    )


def _print(reasons: Sequence[str], topics: list[dict[str, Any]], brokers: list[dict[str, Any]], max_rows: int) -> None:
    from kafka_capacity.cli.console import print_data, print_lines
    from kafka_capacity.questions.idle.section.idle import BROKERS, TOPICS, idle_table

    print_lines(reasons)
    if topics:
        print_data(idle_table("Idle topics", TOPICS, topics, most=max_rows))
        print_data(idle_table("What removing them would free", BROKERS, brokers, most=max_rows))
