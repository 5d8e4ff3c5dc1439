"""A fleet on a real scheduler (LocalExecutor): when each cluster has its report, and what the others wait for.

    python -m benchmarks.fleet [--clusters 50] [--slots 2] --out FOLDER

One cluster cannot be read, one is large, all others are small; two are planned by hand at the same time, with an
approval, and approved once all others have their reports. Prints a table and writes it with a chart of every task into
the folder.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kafka_capacity.example import EXAMPLE_DS, make_example
from kafka_capacity.inventory.files import write_snapshot_files
from tests.running_airflow import PLAN, Ui, running_airflow

INVENTORY = "kafka_inventory"
BROKEN, LARGE, SMALL = "unreachable", "large", "small-{:02}"
APPROVED = 2
LONGEST_SECONDS = 7200
Row = dict[str, Any]


def write_clusters(folder: Path, count: int) -> list[Row]:
    """Write the snapshots of all clusters but one, and return their settings."""
    found: list[Row] = []
    for example, names in (
        ("shop-eu", [LARGE]),
        ("metrics-uneven", [SMALL.format(number) for number in range(1, count - 1)]),
    ):
        raw = make_example(example)
        for name in names:
            write_snapshot_files(dataclasses.replace(raw, cluster=name), folder / name)
            found.append({"name": name, "source": "files", "uri": str(folder / name)})
    return [found[0], {"name": BROKEN, "source": "files", "uri": str(folder / BROKEN)}, *found[1:]]


def run_fleet(ui: Ui, clusters: Sequence[Row]) -> list[Row]:
    """Stage all clusters, then plan them; return the tasks of all runs."""
    variable = {"key": "kafka_capacity_clusters", "value": json.dumps(list(clusters))}
    ui.http.patch("/variables/kafka_capacity_clusters", json=variable).raise_for_status()
    staged = ui.trigger({"ds": EXAMPLE_DS}, INVENTORY).json()["dag_run_id"]
    ui.wait_for_end(staged, INVENTORY, LONGEST_SECONDS)
    found = [{**ti, "run": "inventory"} for ti in ui.tasks(staged, INVENTORY)]
    by_hand = [ui.trigger(approval(one["name"])).json()["dag_run_id"] for one in clusters[-APPROVED:]]
    every = ui.trigger({}).json()["dag_run_id"]
    ui.wait_for_end(every, PLAN, LONGEST_SECONDS)
    for run_id in by_hand:
        ui.answer_approval(run_id, "Approve")
    for run_id in by_hand:
        ui.wait_for_end(run_id)
        found += [{**ti, "run": "by hand"} for ti in ui.tasks(run_id)]
    return found + [{**ti, "run": "all"} for ti in ui.tasks(every)]


def approval(cluster: str) -> Row:
    """Return the parameters of a plan that waits for an approval."""
    return {"cluster": cluster, "is_approval_required": True}


def moment(text: str) -> float:
    """Return a time of the API in seconds."""
    return datetime.datetime.fromisoformat(text).timestamp()


def table(tasks: Sequence[Row], count: int, slots: int) -> str:
    """Return what came of it: when reports were there, what failed, and what each kind of task took."""
    lines = ["| | |", "|---|--:|"]
    for run, title in (("inventory", "inventory"), ("all", "plans"), ("by hand", "plans by hand, with an approval")):
        mine = [ti for ti in tasks if ti["run"] == run and ti["start_date"]]
        start = min(moment(ti["start_date"]) for ti in mine)
        name = "announce" if run == "inventory" else "plan.render_report"
        ends = sorted(
            moment(ti["end_date"]) - start for ti in mine if ti["task_id"] == name and ti["state"] == "success"
        )
        failed = [
            f"{ti['task_id']} of {ti['rendered_map_index']}"
            for ti in mine
            if ti["state"] in ("failed", "upstream_failed")
        ]
        lines += [
            f"| {title}: done, of {count if run != 'by hand' else APPROVED} | {len(ends)} |",
            f"| first, median, last after | {ends[0]:.0f}, {ends[len(ends) // 2]:.0f}, {ends[-1]:.0f} s |",
            f"| failed | {', '.join(failed) or 'none'} |",
        ]
    lines += [
        "",
        f"{slots} slots for Spark. By task, of all runs:",
        "",
        "| task | runs | median, s | longest, s |",
        "|---|--:|--:|--:|",
    ]
    for task_id in dict.fromkeys(ti["task_id"] for ti in tasks):
        took = sorted(
            moment(ti["end_date"]) - moment(ti["start_date"])
            for ti in tasks
            if ti["task_id"] == task_id and ti["start_date"] and ti["end_date"] and ti["state"] == "success"
        )
        if took:
            lines.append(f"| `{task_id}` | {len(took)} | {took[len(took) // 2]:.1f} | {took[-1]:.1f} |")
    return "\n".join(lines) + "\n"


def gantt(tasks: Sequence[Row]) -> str:
    """Return the plans of all clusters over time as an SVG, a line a cluster."""
    import vl_convert

    mine = [ti for ti in tasks if ti["run"] != "inventory" and ti["start_date"] and ti["rendered_map_index"]]
    start = min(moment(ti["start_date"]) for ti in mine)
    values = [
        {
            "cluster": ti["rendered_map_index"].split(",")[0] + (" (by hand)" if ti["run"] == "by hand" else ""),
            "task": ti["task_id"].removeprefix("plan."),
            "from": (moment(ti["start_date"]) - start) / 60,
            "to": (moment(ti["end_date"]) - start) / 60,
        }
        for ti in mine
        if ti["end_date"]
    ]
    order = list(dict.fromkeys(one["cluster"] for one in sorted(values, key=lambda one: one["from"])))
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": 700,
        "height": {"step": 9},
        "background": "white",
        "data": {"values": values},
        "mark": {"type": "bar", "height": 6},
        "encoding": {
            "y": {"field": "cluster", "type": "nominal", "sort": order, "title": None, "axis": {"labelFontSize": 7}},
            "x": {"field": "from", "type": "quantitative", "title": "minutes after the first task"},
            "x2": {"field": "to"},
            "color": {"field": "task", "type": "nominal", "title": None},
        },
    }
    return str(vl_convert.vegalite_to_svg(spec))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clusters", type=int, default=50, help="with the one that cannot be read and the large one")
    parser.add_argument("--slots", type=int, default=2, help="of the pool of what runs on Spark")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "state").mkdir()
        clusters = write_clusters(folder / "snapshots", given.clusters)
        with running_airflow(folder / "state", {}) as ui:
            pool = {"pool": "kafka_capacity_spark", "slots": given.slots, "description": "", "include_deferred": False}
            ui.http.patch("/pools/kafka_capacity_spark", json=pool).raise_for_status()
            began = time.monotonic()
            tasks = run_fleet(ui, clusters)
            took = time.monotonic() - began
    (given.out / "tasks.json").write_text(json.dumps(tasks, indent=1), encoding="utf-8")
    found = f"{given.clusters} clusters, {took / 60:.0f} min in all.\n\n{table(tasks, given.clusters, given.slots)}"
    (given.out / "fleet.md").write_text(found, encoding="utf-8")
    (given.out / "fleet.svg").write_text(gantt(tasks), encoding="utf-8")
    sys.stdout.write(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
