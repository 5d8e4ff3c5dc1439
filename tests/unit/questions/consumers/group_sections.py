"""The section of consumer groups of a small plan, and where things are in it."""

from __future__ import annotations

from tests.report.decided import build_report
from tests.report.plans import ClusterSpec, make_inputs

SMALL = ClusterSpec(partitions=4)


def report_of(groups, **more):
    return build_report(make_inputs(SMALL, groups=groups, **more))


def section_of(groups, **more):
    return next(one["data"] for one in report_of(groups, **more)["sections"] if one["name"] == "groups")


def part_of(section, group_id):
    return next(part for part in [*section["full"], *section["folded"]] if part["group"] == group_id)


def rows_by_group(section):
    return {row["group"]: row for row in section["overview"]["rows"]}
