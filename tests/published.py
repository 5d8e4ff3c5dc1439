"""Published reports, read back."""

from kafka_capacity.objects.dataset import read_document, read_manifest
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.plan.pinned import PinnedPlan
from kafka_capacity.plan.plan_dataset import PLAN_SCHEMA_VERSION
from kafka_capacity.plan.publish import REPORT_KIND


def read_published(store: ObjectStore, pinned: PinnedPlan, name: str) -> bytes:
    """Read one document of a published report."""
    manifest = read_manifest(store, pinned.report_prefix, kind=REPORT_KIND, schema_version=PLAN_SCHEMA_VERSION)
    return read_document(store, manifest, name)
