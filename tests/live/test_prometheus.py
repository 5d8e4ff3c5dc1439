"""Against a real Prometheus: ``prometheus`` and ``promtool`` on the path."""

from __future__ import annotations

import subprocess
import time

import httpx
import pytest

from kafka_capacity.inventory.prometheus import with_prometheus
from kafka_capacity.inventory.prometheus_connection import PrometheusConnection, PrometheusSettings
from kafka_capacity.inventory.sizing_workload import observed_costs
from tests.builders import rows_of
from tests.made_up_metrics import END, HOUR, World
from tests.ports import free_port

pytestmark = [pytest.mark.live, pytest.mark.prometheus]

WORLD = World(hours=24, scrape_seconds=30, late_seconds={1: 3, 2: 17, 3: 29}, copies=2)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Prometheus with what the exporters of the made-up cluster would have shown it."""
    folder = tmp_path_factory.mktemp("prometheus")
    by_name = {}
    for labels, moments, values in [*WORLD.jmx(), *WORLD.kminion(), *WORLD.kafka_exporter()]:
        own = ",".join(f'{key}="{value}"' for key, value in labels.items() if key != "__name__")
        lines = by_name.setdefault(labels["__name__"], [])
        samples = zip(moments.tolist(), values.tolist(), strict=True)
        lines += [f"{labels['__name__']}{{{own}}} {value!r} {moment}" for moment, value in samples]
    text = [line for name in sorted(by_name) for line in (f"# TYPE {name} unknown", *by_name[name])]
    (folder / "samples.txt").write_text("\n".join([*text, "# EOF", ""]))
    data = folder / "data"
    write = ["promtool", "tsdb", "create-blocks-from", "openmetrics", folder / "samples.txt", data]
    subprocess.run(write, check=True, capture_output=True, timeout=300)
    (folder / "prometheus.yml").write_text("")
    url = f"127.0.0.1:{free_port()}"
    options = [f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={data}"]
    options += [f"--web.listen-address={url}", "--storage.tsdb.retention.time=100y", "--log.level=warn"]
    with subprocess.Popen(["prometheus", *options]) as process:
        try:
            _wait_until_ready(f"http://{url}/-/ready")
            yield f"http://{url}"
        finally:
            process.terminate()


def _wait_until_ready(url):
    for _ in range(240):
        try:
            if httpx.get(url).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.25)
    pytest.fail("prometheus does not become ready")


def read(url, inventory, **settings):
    return with_prometheus(inventory, PrometheusConnection.of(url=url), PrometheusSettings(days=1, **settings), end=END)


@pytest.mark.parametrize("dialects", [("jmx",), ("jmx", "kminion"), ("kminion",), ("kafka_exporter",)])
def test_hourly_rates_are_true_within_a_scrape_at_their_ends(server, dialects):
    raw = read(server, WORLD.inventory_with_sizes(), dialects=dialects)
    rows = rows_of(raw, "metrics")
    assert len(rows) == 7 * 24
    for row in rows:
        hour = (int(row["hour"].timestamp()) - WORLD.start) // HOUR
        for column, true in (("bytes_in", WORLD.bytes_in()), ("bytes_out", WORLD.bytes_out())):
            rates = true[row["topic"], row["partition"]]
            assert row[f"{column}_bytes_per_second"] == pytest.approx(rates[hour], abs=0.02 * rates.mean() + 1e-9)


def test_processors_of_the_brokers_alone_are_asked_for(server):
    calibrated = observed_costs(read(server, WORLD.inventory()))
    assert calibrated.is_used
    assert calibrated.r_squared > 0.99


def test_odd_labels_are_quoted_as_it_reads_them(server):
    raw = read(server, WORLD.inventory(), labels={"cluster": '\x00é"\\'})
    assert {remark.code for remark in raw.remarks} == {"prometheus_has_nothing"}
