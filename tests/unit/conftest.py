"""What all unit tests share."""

import pytest

PAUSES = (
    "objects.object_store.FIRST_PAUSE_SECONDS",
    "inventory.kafka_admin_session._FIRST_PAUSE_SECONDS",
    "inventory.prometheus_client.FIRST_PAUSE_SECONDS",
)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    """What failed is tried again at once, as often as else."""
    for name in PAUSES:
        monkeypatch.setattr(f"kafka_capacity.{name}", 0.0)
