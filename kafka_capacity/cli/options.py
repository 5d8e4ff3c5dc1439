"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

SnapshotFormat = Annotated[Literal["parquet", "json"], typer.Option("--format", help="Of the tables of the snapshot.")]
OutFolder = Annotated[
    str | None, typer.Option("--out", metavar="DIR", help="The folder to write to, or an s3:// address.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but the answer and errors.")]
ClusterName = Annotated[str, typer.Option("--cluster", help="How to name the cluster.")]
Day = Annotated[
    str | None,
    typer.Option("--ds", metavar="YYYY-MM-DD", help="The day that the snapshot stands for. Default: today, UTC."),
]


def day_or_today(ds: str | None) -> str:
    """Check a day, or take today's in UTC.

    Raises:
        RequestError: it is no day.
    """
    import datetime

    from kafka_capacity.objects.keys import check_ds

    return check_ds(ds) if ds is not None else datetime.datetime.now(datetime.UTC).date().isoformat()
