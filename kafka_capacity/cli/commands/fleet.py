"""``kafka-capacity fleet``: all clusters of a store at a glance, each by its newest plan."""

from __future__ import annotations

from typing import Annotated

from kafka_capacity.cli.app import app
from kafka_capacity.cli.console import print_answer, print_json, print_lines, print_rows
from kafka_capacity.cli.options import Quiet, StorePlace, no_clusters, option


@app.command("fleet")
def fleet(
    store: StorePlace,
    is_written: Annotated[bool, option("--write", "Write reports/index.html into the store.")] = False,
    is_json: Annotated[bool, option("--json", "Print JSON instead of a table.")] = False,
    is_quiet: Quiet = False,
) -> None:
    """List all clusters in a store, worst first: verdict, dates, dollars and the worst problem.

    Each cluster is shown by its newest plan. STORE is where scheduled plans are stored: s3://bucket/prefix, or a
    folder. With --write it also writes a page with a link to each report into the store, as the scheduled plan does
    after each run.
    """
    from kafka_capacity.objects.store import open_store
    from kafka_capacity.plan.fleet import fleet as all_of
    from kafka_capacity.plan.fleet import write_fleet_page
    from kafka_capacity.report.tables import column

    opened = open_store(store)
    found = all_of(opened)
    if not found["rows"]:
        raise no_clusters(store)
    written = [opened.uri(write_fleet_page(opened))] if is_written else []
    if is_json:
        print_json(found)
        return
    columns = [
        column("cluster", "Cluster", "name"),
        column("verdict", "Verdict"),
        column("runs_out", "Today’s brokers run out on"),
        column("usd", "Per month"),
        column("problem", "Worst problem"),
        column("state", "State"),
        column("ds", "Inventory"),
    ]

    def show() -> None:
        print_rows("Clusters", columns, found["rows"])
        print_lines(written)

    print_answer(found["summary"], show, is_quiet=is_quiet)
