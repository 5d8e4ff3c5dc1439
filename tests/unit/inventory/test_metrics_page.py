"""``docs/metrics.md`` names all that users can write and read."""

import re
from pathlib import Path

import pytest

from kafka_capacity.inventory.metrics_files import PROMETHEUS_FAILED, REMARKS
from kafka_capacity.inventory.prometheus_connection import PrometheusSettings
from kafka_capacity.inventory.prometheus_dialects import DIALECTS, Quantity
from kafka_capacity.inventory.tables import TABLES

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
NAMES = [
    *TABLES["metrics"].schema.names,
    *TABLES["broker_metrics"].schema.names,
    *Quantity,
    *PrometheusSettings.model_fields,
    *DIALECTS,
]


@pytest.mark.parametrize("name", sorted(set(NAMES)))
def test_every_column_quantity_and_setting_is_told(name):
    assert f"`{name}`" in PAGE


def test_remarks_of_an_earlier_reading_are_known_by_their_codes():
    sources = "".join(
        (ROOT / "kafka_capacity" / "inventory" / f"{name}.py").read_text(encoding="utf-8")
        for name in ("prometheus", "prometheus_remarks", "metrics_files")
    )
    said = re.findall(r"(?:warning|info)\(\s*\"(\w+)\"", sources)
    assert sorted([*said, PROMETHEUS_FAILED]) == sorted(REMARKS)
