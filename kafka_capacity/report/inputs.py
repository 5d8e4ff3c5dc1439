"""What a report is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReportInputs:
    """Everything a report shows comes from here; no clock and no environment is read."""

    # of one plan, by name, those of each question that it answers (`tables.py` of its folder)
    tables: Mapping[str, pa.Table]
    cluster: str  # its name
    ds: str  # the day of the inventory, `YYYY-MM-DD`
    plan_id: str  # the plan's name
    request: Mapping[str, Any]  # the parameters of the plan, as JSON
    # what the inventory says: `brokers` (a list of `broker_id`, `rack`, `disk_capacity_bytes`,
    # `network_in_bytes_per_second`, `network_out_bytes_per_second`, and optionally `is_fenced`),
    # `broker_count`, `topic_count`, `partition_count`, `replica_count`, `total_bytes`, `rate_history_hours`, `source`,
    # `captured_at`, `manifest_sha256`, and optionally `unknown_size_partitions`, `brokers_with_several_log_dirs`,
    # `brokers_with_unsized_log_dirs`, `skipped_groups` (a list of `group_id` and `reason`) and `share_groups` (see
    # `questions/consumers/share_groups.py`); others are left out or shown
    snapshot_facts: Mapping[str, Any]
    # `severity` (fatal, warning or info), `code`, `where` and `message` of each thing found in the inventory
    findings: Sequence[Mapping[str, str]] = field(default=())
    # the same of the brokers that each option proposes, by `scenario_id`
    proposed: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    # what made this: `code_version`, `model_version` and whatever else names an input
    provenance: Mapping[str, Any] = field(default_factory=dict)
    # `report_uri`, where the whole report will be, and optionally `run_uri`
    links: Mapping[str, str] = field(default_factory=dict)
    # what a plan says of sizing besides its tables, as plain data; empty for a plan that says nothing
    sizing: Mapping[str, Any] = field(default_factory=dict)
    failures: Mapping[str, Any] = field(default_factory=dict)  # the same of what breaks when something dies
    generated_at: str  # when, as text; the caller takes it from the run's date
