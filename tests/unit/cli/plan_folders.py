"""What a plan reads from a folder, and what it leaves in one."""

import json

from kafka_capacity.inventory.files import write_snapshot_files
from tests.builders import cluster, topic

NINE = [{"id": i, "rack": "abc"[(i - 1) % 3]} for i in range(1, 10)]

FEWEST_AS_NOW = ("--broker-counts", "6", "--placer", "fewest-bytes")
KAFKAS = {"moves.json", "rollback.json", "target.json", "reassignment.json"}
FILES = {"decision.json", "plan.json", "timing.json", "runbook.md", *KAFKAS}


def names(folder):
    """The files below a folder, those of waves left out."""
    return {name for name in all_names(folder) if "waves/" not in name}


def all_names(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def read(path):
    return json.loads(path.read_text())


def write_small_snapshot(folder):
    """Write six brokers in three racks and two topics, and give the folder."""
    topics = [topic("audit", partitions=4, rf=2), topic("orders", partitions=12)]
    write_snapshot_files(cluster(topics=topics, hours=24), folder)
    return folder
