"""``kafka-capacity idle``: topics that nobody writes to or reads from, and what removing them would free."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from kafka_capacity.cli.app import app
from kafka_capacity.cli.options import OutFolder, takes_snapshot
from kafka_capacity.cli.startup import keep_pandas_out
from kafka_capacity.objects.dataset import canonical_json

SCHEMA_VERSION = 1
DOCUMENT = "idle.json"

_HELP = """List the topics that nobody writes to or reads from, where they are, and what removing them would free.

Reads a native snapshot. A topic is idle when nothing was written to it or read from it in all the hours that the
snapshot knows, a week at least, and no consumer group is subscribed to it and has got on with it. What less is known
of is not judged, and counted; Kafka's own topics count for neither.

With --out it writes idle.json into DIR. Nothing is removed.
"""


@app.command("idle", help=_HELP)
@takes_snapshot()
def idle(
    snapshot: str,
    most_rows: Annotated[int, typer.Option("--rows", min=1, metavar="N", help="Of each table.")] = 20,
    out: OutFolder = None,
    is_json: Annotated[bool, typer.Option("--json", help="Print what idle.json holds instead of tables.")] = False,
) -> None:
    """List idle topics; the text that users read is the help above."""
    keep_pandas_out()
    from kafka_capacity.cli.documents import document_head, write_document
    from kafka_capacity.cli.plan_input import read_plan_input
    from kafka_capacity.questions.idle import IDLE
    from kafka_capacity.questions.idle.decide import largest_first

    found = read_plan_input(snapshot)
    tables = IDLE.results(found)
    answer = IDLE.decide(tables)
    topics, brokers = largest_first(tables["idle_topics"]), largest_first(tables["idle_brokers"])
    sentences = [answer.headline, *answer.reasons]
    document = {
        **document_head(SCHEMA_VERSION, cluster=found.snapshot.cluster, ds=found.snapshot.ds),
        **tables["idle_scope"].to_pylist()[0],
        "sentences": sentences,
        "idle_topics": topics,
        "brokers": brokers,
    }
    if out is not None:
        write_document(out, DOCUMENT, document)
    if is_json:
        typer.echo(canonical_json(document), nl=False)
    else:
        _print(f"{found.snapshot.cluster} on {found.snapshot.ds}", sentences, topics, brokers, most_rows)


def _print(
    title: str, sentences: list[str], topics: list[dict[str, Any]], brokers: list[dict[str, Any]], most_rows: int
) -> None:
    from kafka_capacity.cli.console import print_data, print_lines
    from kafka_capacity.questions.idle.section.idle import BROKERS, TOPICS, idle_table

    print_lines([f"{title}: {sentences[0]}", *sentences[1:]])
    if topics:
        print_data(idle_table("Idle topics", TOPICS, topics, most=most_rows))
        print_data(idle_table("What removing them would free", BROKERS, brokers, most=most_rows))
