"""``kafka-capacity groups``: what other member counts, assignors and protocols do to consumer groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from kafka_capacity.cli.app import EXIT_NOTHING_FITS
from kafka_capacity.cli.console import Steps
from kafka_capacity.cli.one_question import Found, asks
from kafka_capacity.cli.options import MaxRows, option
from kafka_capacity.cli.plan_options import fields_of
from kafka_capacity.questions.consumers.parameters import GroupParameters


@asks("groups", *fields_of(GroupParameters), "seed", version=2)
def groups(
    snapshot: str,
    given: Mapping[str, Any],
    begin: Steps,
    table_format: Annotated[
        Literal["parquet", "csv"], option("--format", "File format of the tables in DIR.")
    ] = "parquet",
    has_to_fit: Annotated[
        bool, option("--fail-if-unfit", "Exit with status 3 if nothing fits for one of the groups.")
    ] = False,
    max_rows: MaxRows = 50,
) -> Found:
    """Show how many members consumer groups need, and what rebalances cost them.

    Reads a native snapshot and simulates each group as it is, with other assignors and protocols, with static members,
    and with other member counts: the same evaluation as in scheduled plans. Prints one row per group: members,
    assignor, the max lag and the event that causes it, and how often partitions pause in a rolling restart, now → then.
    With --group it prints everything about those groups: all variants side by side, each event, and the assignment. A
    scenario fits if max lag stays within the objective in every simulated event (--events), members can handle their
    load at peak, and a group that lags catches up in time. If rates or capacities are unknown, it is not judged.

    With --out it writes groups.json (the decision and all figures) and the tables group_facts, group_scenarios,
    group_churn, group_timeline and group_members into DIR; for large grids the last two only have today's and the
    recommended scenarios. The recommendation is the smallest number of members that fits and is proven to be enough,
    with the least change, unless another protocol, assignor or membership saves at least a fifth of what a rolling
    restart leaves unread (partitions × seconds).

    Amounts are bytes, rates bytes per second, times seconds.
    """
    from kafka_capacity.cli.group_planning import (
        groups_document,
        plan_groups,
        print_group,
        print_groups,
        without_groups,
        write_groups,
    )
    from kafka_capacity.questions.consumers.scenario import Verdict

    planned = plan_groups(snapshot, given, begin)

    def show() -> None:
        for group in planned.groups if "groups" in given else ():
            print_group(planned, group)
        print_groups(planned, max_rows)

    is_unfit = any(group.recommended is None for group in planned.groups) or any(
        row["verdict"] == Verdict.DOES_NOT_FIT for row in planned.found.shared
    )
    return Found(
        of=planned.basis.snapshot,
        answer=lambda: planned.answer.headline or without_groups(planned),
        hint="" if "groups" in given or not planned.groups else "--group NAME shows everything about one of them",
        document=lambda: groups_document(planned),
        show=show,
        write=lambda out, document: write_groups(out, planned, document, table_format),
        exit_status=EXIT_NOTHING_FITS if has_to_fit and is_unfit else 0,
    )
