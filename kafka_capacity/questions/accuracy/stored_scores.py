"""Stored scores of earlier predictions."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from kafka_capacity.objects.dataset import Manifest, has_manifest, read_document, read_manifest, read_table
from kafka_capacity.objects.keys import list_score_days, scores_prefix
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.questions.accuracy.scores import Score

KIND = "scores"
TABLE = "scores"
DOCUMENT = "scores.json"
SCHEMA_VERSION = 1

SCORES = pa.schema(
    [
        pa.field("plan_id", pa.string(), nullable=False),
        pa.field("made_on", pa.string(), nullable=False),
        pa.field("scored_on", pa.string(), nullable=False),
        pa.field("figure", pa.string(), nullable=False),
        pa.field("age_days", pa.int32(), nullable=False),
        pa.field("middle", pa.float64(), nullable=False),
        pa.field("high", pa.float64(), nullable=False),
        pa.field("observed", pa.float64(), nullable=False),
        pa.field("error_ratio", pa.float64(), nullable=False),
        pa.field("is_below_high", pa.bool_(), nullable=False),
        pa.field("high_quantile", pa.float64(), nullable=False),
    ]
)


def read_scores(store: ObjectStore, cluster: str, ds: str) -> list[Score]:
    """Read the scores of one day; none where it was never finished."""
    prefix = scores_prefix(cluster, ds)
    if not has_manifest(store, prefix):
        return []
    manifest = read_manifest(store, prefix, kind=KIND, schema_version=SCHEMA_VERSION)
    return [Score(**row) for row in read_table(store, manifest, TABLE).to_pylist()]


def newest_scores(store: ObjectStore, cluster: str, *, not_after: str) -> Manifest | None:
    """Return the newest scores up to a day; ``None`` where there are none."""
    for day in reversed(list_score_days(store, cluster)):
        if day <= not_after and has_manifest(store, scores_prefix(cluster, day)):
            return read_manifest(store, scores_prefix(cluster, day), kind=KIND, schema_version=SCHEMA_VERSION)
    return None


def read_score_document(store: ObjectStore, manifest: Manifest) -> dict[str, Any]:
    """Read the scores that a report shows, summed up."""
    return dict(json.loads(read_document(store, manifest, DOCUMENT)))
