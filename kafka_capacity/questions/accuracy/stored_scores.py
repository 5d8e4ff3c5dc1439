"""Stored scores of earlier predictions."""

from __future__ import annotations

import json
import logging
from typing import Any

from kafka_capacity.errors import StorageError
from kafka_capacity.objects.dataset import Manifest, has_manifest, read_document, read_manifest, read_table
from kafka_capacity.objects.keys import day_prefix
from kafka_capacity.objects.manifest import complete_days
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.objects.tables import schema_of
from kafka_capacity.questions.accuracy.scores import Score

log = logging.getLogger(__name__)

KIND = "scores"
TABLE = "scores"
DOCUMENT = "scores.json"
SCHEMA_VERSION = 1

SCORES = schema_of(Score)


def read_scored_day(store: ObjectStore, cluster: str, ds: str) -> tuple[list[Score], dict[str, Any]]:
    """Read the scores of one day, and all summed up; neither where it was never finished or cannot be read."""
    if not has_manifest(store, day_prefix("scores", cluster, ds)):
        return [], {}
    try:
        manifest = score_manifest(store, cluster, ds)
        rows = read_table(store, manifest, TABLE).to_pylist()
        return [Score(**row) for row in rows], read_score_document(store, manifest)
    except StorageError as error:
        log.warning("the scores of %s are passed over: %s", ds, error)
        return [], {}


def score_manifest(store: ObjectStore, cluster: str, ds: str) -> Manifest:
    """Read what is stored of one day's scores."""
    return read_manifest(store, day_prefix("scores", cluster, ds), kind=KIND, schema_version=SCHEMA_VERSION)


def newest_scores(store: ObjectStore, cluster: str, *, not_after: str) -> Manifest | None:
    """Return the newest scores up to a day; ``None`` where there are none."""
    day = next(complete_days(store, cluster, "scores", up_to=not_after), None)
    return None if day is None else score_manifest(store, cluster, day)


def read_score_document(store: ObjectStore, manifest: Manifest) -> dict[str, Any]:
    """Read the scores that a report shows, summed up."""
    return dict(json.loads(read_document(store, manifest, DOCUMENT)))
