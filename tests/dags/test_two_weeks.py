"""Two weekly runs of the plan: the page and the mail of the second say what has changed since the first."""

from __future__ import annotations

import dataclasses
import datetime
import email
import email.policy
import json

import pytest

from kafka_capacity.example import EXAMPLE_DS, make_example
from kafka_capacity.inventory.staging import stage
from tests.builders import rows_of, with_rows
from tests.small_requests import SMALL_REQUEST

pytestmark = [pytest.mark.airflow, pytest.mark.spark]

CLUSTER = "weekly"
NEXT = (datetime.date.fromisoformat(EXAMPLE_DS) + datetime.timedelta(days=7)).isoformat()
BEHIND = 1010  # the broker that falls behind in the second week


def inventory(ds):
    """The example on a day; in the second week a broker has fallen behind with all that it follows."""
    raw = dataclasses.replace(make_example("metrics-uneven", ds=ds), cluster=CLUSTER)
    if ds == EXAMPLE_DS:
        return raw
    rows = rows_of(raw, "replicas")
    return with_rows(
        raw,
        "replicas",
        [row | {"is_in_sync": row["is_in_sync"] and (row["broker_id"] != BEHIND or row["is_leader"])} for row in rows],
    )


@pytest.fixture(scope="module")
def weeks(services):
    """The reports of two weeks, and the mails about them."""
    from kafka_capacity_airflow.store import airflow_store
    from local.airflow_runs import run_dag
    from tests.one_spark import one_spark

    root = services.state / "s3" / "kafka-capacity" / "capacity" / "reports" / f"cluster={CLUSTER}"
    before = len(services.mail.messages())
    with one_spark():
        for ds in (EXAMPLE_DS, NEXT):
            stage(inventory(ds), airflow_store())
            run = run_dag("kafka_capacity_plan", {"cluster": CLUSTER, "broker_counts": [9], **SMALL_REQUEST})
            assert run.state == "success"
    folders = [next(root.glob(f"ds={ds}/plan=*/report.json")).parent for ds in (EXAMPLE_DS, NEXT)]
    mails = [
        email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
        for path in services.mail.messages()[before:]
    ]
    return folders, mails


def test_the_first_report_has_nothing_to_compare_with(weeks):
    (first, _), (mail, _) = weeks
    assert json.loads((first / "report.json").read_text())["changes"] is None
    assert "There is no earlier report of this cluster to compare with." in (first / "index.html").read_text()
    assert " new problem" not in mail["Subject"]


def test_the_second_says_what_changed_on_its_page_and_in_the_subject_of_its_mail(weeks):
    (_, second), (_, mail) = weeks
    report = json.loads((second / "report.json").read_text())
    changes = report["changes"]
    assert changes["is_alike"]
    assert changes["since"] == EXAMPLE_DS
    assert "under-replicated-now" in changes["new_ids"]
    said = (second / "index.html").read_text().split('aria-labelledby="changes">')[1].split("</section>")[0]
    assert f"Changed since {EXAMPLE_DS}</h2>" in said
    assert said.count("<dt>New</dt>") == len(changes["new"])
    assert "<dt>Today’s brokers run out on</dt>" in said
    assert changes["method"] in said
    assert mail["Subject"] == report["verdict"]["subject"]
    assert " new problem" in mail["Subject"]
