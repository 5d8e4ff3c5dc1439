"""The borders over which data of others comes in, each as one function of a name and bytes.

A border raises :class:`KafkaCapacityError` for what it refuses. What it takes is used as far as planning goes: checked,
written as JSON, made into the arrays that everything is computed on.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_capacity.cli.plan_input import read_wanted_brokers
from kafka_capacity.cli.plan_options import FieldOption
from kafka_capacity.errors import SourceError
from kafka_capacity.hardware.cpu import read_cpu_samples
from kafka_capacity.hardware.shape_catalogue import shapes_beside
from kafka_capacity.inventory.files import read_snapshot_files, write_snapshot_files
from kafka_capacity.inventory.kafka_tools import read_kafka_tools
from kafka_capacity.inventory.metrics_files import with_metrics_files
from kafka_capacity.inventory.prometheus import with_prometheus
from kafka_capacity.inventory.prometheus_client import PrometheusClient
from kafka_capacity.inventory.prometheus_connection import PrometheusConnection, PrometheusSettings
from kafka_capacity.inventory.raw import RawInventory
from kafka_capacity.inventory.snapshot import build_snapshot, partition_load
from kafka_capacity.inventory.staging import inventory_manifest, load, stage
from kafka_capacity.inventory.validation import validate
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.objects.dataset import canonical_json
from kafka_capacity.objects.keys import day_prefix
from kafka_capacity.objects.manifest import OWN_HASH, with_own_hash
from kafka_capacity.plan.pinned import PinnedPlan, pin_plan, read_plan_inputs
from kafka_capacity.plan.request import parse_plan_request
from kafka_capacity.text.files import read_text_file
from tests.builders import DS, cluster, topic
from tests.fuzz.objects import Objects
from tests.made_up_metrics import END

CORPUS = Path(__file__).parent / "corpus"
_OBSERVED = Brokers.of([1, 2], ["a", "b"])


@dataclass(frozen=True, kw_only=True)
class Border:
    """One border.

    Attributes:
        take: reads an input of this name and uses it; a folder is given for those that are read as files.
        place: what a refusal of an input of this name must name.
    """

    take: Callable[[str, bytes, Path], None]
    place: Callable[[str], str] = lambda name: name


def seeds(border: str) -> list[tuple[str, bytes]]:
    """Return the inputs that are kept for a border, by file name."""
    return [(path.name, path.read_bytes()) for path in sorted((CORPUS / border).iterdir())]


def small() -> RawInventory:
    """Return an inventory with a row or more in every table."""
    at = f"{DS}T00:00:00+00:00"
    return cluster(
        brokers=3,
        topics=[topic("orders", partitions=2, rf=2)],
        hours=2,
        groups=[{"group_id": "g", "state": "Stable", "group_type": "consumer", "protocol_type": "consumer"}],
        members=[
            {
                "group_id": "g",
                "member_id": "m",
                "subscribed": ["orders"],
                "assigned": [{"topic": "orders", "partition": 0}],
            }
        ],
        lags=[{"group_id": "g", "topic": "orders", "partition": 0, "committed_offset": 5, "log_end_offset": 9}],
        broker_metrics=[{"broker_id": 1, "hour": _moment(at), "cpu_cores_used": 2.0}],
        history=[{"topic": "orders", "day": _moment("2026-11-19T00:00:00+00:00"), "bytes_in_bytes_per_second": 10.0}],
    )


def _moment(text: str) -> Any:
    return datetime.datetime.fromisoformat(text)


def use(raw: RawInventory, data: bytes) -> None:
    """Do with an inventory what every plan does first; one of 64 is stored and read again as well."""
    found = validate(raw)
    canonical_json(found.to_json())
    is_stored = zlib.crc32(data) % 64 == 0
    if is_stored:
        write_snapshot_files(raw, Objects())
    if found.fatal:
        return
    partition_load(raw, build_snapshot(raw))
    if is_stored:
        manifest = stage(raw, objects := Objects())
        load(objects, manifest)


@functools.cache
def _around() -> Mapping[str, bytes]:
    """Return the files that every snapshot has."""
    objects = Objects()
    write_snapshot_files(small(), objects, file_format="json")
    return {f"{name}.json": objects[f"{name}.json"] for name in ("cluster", "brokers", "topics", "replicas")}


def _take_snapshot_file(name: str, data: bytes, _: Path) -> None:
    table = name.partition("~")[0].partition(".")[0]
    files = {key: kept for key, kept in _around().items() if key.partition(".")[0] != table}
    use(read_snapshot_files(Objects(files | {_file_in_snapshot(name): data})), data)


def _file_in_snapshot(name: str) -> str:
    return f"{name.partition('~')[0].partition('.')[0]}.{name.rpartition('.')[2]}"


def _take_tool_output(kind: str, name: str, data: bytes, scratch: Path) -> None:
    # The others are as the tools print them.
    files = {other: CORPUS / folder / file for other, folder, file in _AS_PRINTED} | {
        kind: _written(name, data, scratch)
    }
    use(read_kafka_tools(cluster="c", ds=DS, **files), data)


_AS_PRINTED = (
    ("assignment", "reassign-partitions", "generate.txt"),
    ("brokers", "brokers", "brokers.json"),
    ("log_dirs", "log-dirs", "log-dirs.txt"),
)


def _written(name: str, data: bytes, scratch: Path) -> Path:
    path = scratch / name
    path.write_bytes(data)
    return path


def _take_brokers(name: str, data: bytes, scratch: Path) -> None:
    path = _written(name, data, scratch)
    _take_tool_output("brokers", name, data, scratch)
    read_wanted_brokers(path, _OBSERVED)


def _take_metrics(name: str, data: bytes, _: Path) -> None:
    use(with_metrics_files(small(), Objects({name: data}), name=name, end=END, days=14), data)


class _Answering(PrometheusClient):
    """Gives the same answer to every question, but none to those of one moment, which it would not fit."""

    body = b""

    def query_range(self, query: str, span: Any) -> Any:
        self._points.clear()
        return super().query_range(query, span) if span.points > 1 else []

    def _receive(self, form: Mapping[str, str]) -> tuple[int, bytes]:
        return 200, self.body


@functools.cache
def _server() -> tuple[PrometheusConnection, _Answering]:
    connection = PrometheusConnection.of(url="http://prometheus.example:9090")
    return connection, _Answering(connection, sleep=lambda _: None)


def _take_prometheus(name: str, data: bytes, _: Path) -> None:
    connection, client = _server()
    client.body = data
    settings = PrometheusSettings(days=1, counter_step_seconds=900, offset_step_seconds=900)
    found = with_prometheus(small(), connection, settings, end=END, client=client)
    failure = next((remark for remark in found.remarks if remark.code == "prometheus_failed"), None)
    if failure is not None:
        raise SourceError(failure.message)
    use(found, data)


def _take_request(name: str, data: bytes, _: Path) -> None:
    given = _json(data)
    if isinstance(given, dict):
        _use_request(given)


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None  # what hands requests over, Airflow or the command line, has read the JSON


def _use_request(given: Mapping[str, Any]) -> None:
    request = parse_plan_request(given)
    request.plan_id(ds=DS, inventory_sha256="0")
    canonical_json(request.model_dump(mode="json"))
    parse_plan_request(request.model_dump(mode="json"))
    request.demand_settings(), request.move_settings(), request.grid(), request.group_grid(seed=request.seed)


def _take_events(name: str, data: bytes, scratch: Path) -> None:
    events = FieldOption("planned_events").read(str(_written(name, data, scratch)))
    _use_request({"cluster": "c", "planned_events": events})


def _take_shapes(name: str, data: bytes, scratch: Path) -> None:
    path = _written(name, data, scratch)
    shapes_beside(read_text_file(path), str(path))


def _take_samples(name: str, data: bytes, scratch: Path) -> None:
    read_cpu_samples(_written(name, data, scratch))


@functools.cache
def _staged() -> Mapping[str, bytes]:
    objects = Objects()
    stage(small(), objects)
    return dict(objects)


_MANIFEST = day_prefix("inventory", "payments", DS) + "manifest.json"


def _take_manifest(name: str, data: bytes, _: Path) -> None:
    objects = Objects({**_staged(), _MANIFEST: data})
    use(load(objects, inventory_manifest(objects, "payments", DS)), data)


@functools.cache
def _pinned() -> tuple[PinnedPlan, Mapping[str, bytes]]:
    objects = Objects(_staged())
    request = parse_plan_request({"cluster": "payments", "broker_counts": [4]})
    return pin_plan(objects, request, run_date=datetime.date.fromisoformat(DS)), dict(objects)


def _take_pinned_request(name: str, data: bytes, _: Path) -> None:
    plan, objects = _pinned()
    # The names of both change with the model: what is kept has a word in their place.
    data = data.replace(b"THE-PLAN", plan.plan_id.encode()).replace(b"THE-INVENTORY", plan.inventory_sha256.encode())
    document = _json(data)
    if isinstance(document, dict):  # what is altered is refused by its hash: give it the right one
        document.pop(OWN_HASH, None)
        with contextlib.suppress(ValueError):
            data = with_own_hash(document)
    inputs = read_plan_inputs(Objects({**objects, plan.request_key: data}), plan.request_key)
    canonical_json(inputs.pinned.as_dict())


BORDERS: dict[str, Border] = {
    "reassign-partitions": Border(take=functools.partial(_take_tool_output, "assignment")),
    "log-dirs": Border(take=functools.partial(_take_tool_output, "log_dirs")),
    "brokers": Border(take=_take_brokers),
    "snapshot": Border(take=_take_snapshot_file, place=_file_in_snapshot),
    "metrics": Border(take=_take_metrics),
    "prometheus": Border(take=_take_prometheus, place=lambda name: "prometheus.example"),
    "requests": Border(take=_take_request, place=lambda name: ":"),
    "events": Border(take=_take_events, place=lambda name: "planned"),
    "pinned-requests": Border(take=_take_pinned_request, place=lambda name: f"cluster=payments/ds={DS}"),
    "shapes": Border(take=_take_shapes),
    "cpu-samples": Border(take=_take_samples),
    "manifests": Border(take=_take_manifest, place=lambda name: day_prefix("inventory", "payments", DS)),
}
"""Every border by the name of its folder in the corpus."""
