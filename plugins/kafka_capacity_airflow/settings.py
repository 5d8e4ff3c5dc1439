"""What a deployment sets, as Airflow variables; read when a task runs, but for the names that the trigger form offers.

kafka_capacity_store_uri      where everything is stored: s3://bucket/prefix
kafka_capacity_clusters       JSON list of clusters to inventory, see :class:`ClusterSetting`
kafka_capacity_recipients     who gets reports: addresses with commas between them
kafka_capacity_tell           who is told of news: connections to Slack, Teams, PagerDuty or webhooks, with commas
kafka_capacity_owners         JSON object of patterns of topics and groups, each with the address of its owner
kafka_capacity_owner          who is mailed when a task fails or a run is late
kafka_capacity_approval       "always": no plan files without an approval, whatever a run says
kafka_capacity_approvers      who is mailed when a plan waits for an approval; else the owner
kafka_capacity_sender         the From address
kafka_capacity_spark_conf     JSON object of Spark configuration for every job
kafka_capacity_shapes         JSON object of shapes and prices of your own, in the form of the shipped catalogue
kafka_capacity_report_url     how a browser reaches an object: a URL with {key} in it; else Airflow shows reports itself
"""

from __future__ import annotations

import json
import os
from typing import Any, Literal
from urllib.parse import quote, urlsplit

from airflow.configuration import conf
from airflow.sdk import Variable
from pydantic import BaseModel, ConfigDict, Field, model_validator

from kafka_capacity.errors import RequestError
from kafka_capacity.inventory.owners import Owners, parse_owners
from kafka_capacity.inventory.prometheus_connection import FILES_DAYS, MAX_DAYS, PrometheusSettings
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.text.validation_errors import hiding_values

STORE_URI = "kafka_capacity_store_uri"
CLUSTERS = "kafka_capacity_clusters"
RECIPIENTS = "kafka_capacity_recipients"
OWNER = "kafka_capacity_owner"
OWNERS = "kafka_capacity_owners"
APPROVERS = "kafka_capacity_approvers"
TELL = "kafka_capacity_tell"
SENDER = "kafka_capacity_sender"
APPROVAL = "kafka_capacity_approval"
SPARK_CONF = "kafka_capacity_spark_conf"
REPORT_URL = "kafka_capacity_report_url"
PAGES = "/kafka-capacity"  # of Airflow's API server: where it shows reports
_API_URL = conf.get("api", "base_url", fallback="") or ""
PAGES_PATH = urlsplit(_API_URL).path.rstrip("/") + PAGES  # as browsers ask for it
AWS_CONN_ID = "aws_default"
DEFAULT_SENDER = "kafka-capacity@localhost"


class PrometheusSetting(PrometheusSettings):
    """What to ask for, and where: the HTTP connection ``conn_id``, ``prometheus_<name>`` by default."""

    conn_id: str | None = None


class ClusterSetting(BaseModel):
    """One cluster to inventory.

    A ``kafka`` source is read over the admin API with the connection ``conn_id`` (``kafka_<name>`` by default); a
    ``files`` source is a native snapshot at ``uri``, a folder or an ``s3://`` address, in which ``{ds}`` stands for the
    day; an ``example`` source is one of the shipped example clusters, under the name of the cluster.

    Rates come with the files, and besides from ``prometheus`` or from files of metrics at ``metrics_uri``, in which
    ``{ds}`` stands for the day and of which the last ``metrics_days`` count.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, max_length=255)
    source: Literal["kafka", "files", "example"] = "kafka"
    conn_id: str | None = None
    uri: str | None = None
    prometheus: PrometheusSetting | None = None
    metrics_uri: str | None = Field(default=None, min_length=1)
    metrics_days: int = Field(default=FILES_DAYS, ge=1, le=MAX_DAYS)

    @model_validator(mode="after")
    def _has_one_source_of_rates(self) -> ClusterSetting:
        if self.prometheus is not None and self.metrics_uri is not None:
            raise ValueError("it has prometheus and metrics_uri; keep one of them")
        if self.source == "example" and (self.prometheus is not None or self.metrics_uri is not None):
            raise ValueError("an example has metrics of its own; remove prometheus and metrics_uri")
        return self

    @property
    def prometheus_connection_id(self) -> str:
        """The Airflow connection of the server of metrics."""
        given = self.prometheus.conn_id if self.prometheus is not None else None
        return given or f"prometheus_{self.name}"

    @property
    def connection_id(self) -> str:
        """The Airflow connection of a ``kafka`` source."""
        return self.conn_id or f"kafka_{self.name}"


def store_uri() -> str:
    """Return the address of the store; raises RequestError where the variable is not set, or relative."""
    value = str(Variable.get(STORE_URI, default=None) or "")
    if not value:
        raise RequestError(f"the Airflow variable {STORE_URI} is not set; set it to s3://bucket/prefix")
    if "://" not in value and not value.startswith("/"):
        # The folder would be another one on each worker.
        raise RequestError(
            f"the Airflow variable {STORE_URI} is {value!r}; write s3://bucket/prefix or an absolute path"
        )
    return value


def _json_variable(name: str, default: Any) -> Any:
    value = Variable.get(name, default=None)
    if value is None or value == "":
        return default
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError as error:
        raise RequestError(f"the Airflow variable {name} is not JSON ({error}); fix it") from error


def clusters() -> tuple[ClusterSetting, ...]:
    """Return the clusters to inventory.

    Raises RequestError where the variable is no list of clusters, or names one twice.
    """
    raw = _json_variable(CLUSTERS, [])
    if not isinstance(raw, list):
        raise RequestError(f'the Airflow variable {CLUSTERS} is not a JSON list; write [{{"name": "payments"}}]')
    found = []
    for place, item in enumerate(raw, start=1):
        with hiding_values(f"the Airflow variable {CLUSTERS}, entry {place}"):
            found.append(ClusterSetting.model_validate(item))
    names = [cluster.name for cluster in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise RequestError(f"the Airflow variable {CLUSTERS} names {twice[0]!r} twice; remove one")
    return tuple(found)


def owners() -> Owners:
    """Return who owns which topics and groups; nobody when the variable is not set.

    Raises RequestError where the variable is no object of names.
    """
    return parse_owners(str(Variable.get(OWNERS, default="") or ""), source=f"the Airflow variable {OWNERS}")


def names_in(name: str) -> tuple[str, ...]:
    """Return the recipients or connections that a variable has, commas between them; none when it is not set."""
    value = Variable.get(name, default="") or ""
    return tuple(one.strip() for one in str(value).split(",") if one.strip())


def sender() -> str:
    """Return the From address."""
    return str(Variable.get(SENDER, default=DEFAULT_SENDER) or DEFAULT_SENDER)


def are_approvals_demanded() -> bool:
    """Return whether no plan files are released without an approval, whatever a run says.

    Raises:
        RequestError: the variable says neither.
    """
    value = str(Variable.get(APPROVAL, default="") or "as asked")
    if value not in {"always", "as asked"}:
        raise RequestError(f"the Airflow variable {APPROVAL} is {value!r}; write 'always' or 'as asked'")
    return value == "always"


def spark_conf() -> dict[str, str]:
    """Return the Spark configuration of the deployment, over what suits our jobs anywhere."""
    raw = _json_variable(SPARK_CONF, {})
    if not isinstance(raw, dict):
        msg = f'the Airflow variable {SPARK_CONF} is not a JSON object; write {{}} or {{"spark.executor.memory": "4g"}}'
        raise RequestError(msg)
    from spark_jobs.spread import SPARK_DEFAULTS, SPARK_SOCKETS

    # In a container whose root is read-only no socket can be made there, and Spark would not start.
    suits = SPARK_DEFAULTS if os.access(SPARK_DEFAULTS[SPARK_SOCKETS], os.W_OK) else {}
    return suits | {str(key): str(value) for key, value in raw.items()}


def own_shapes() -> str:
    """Return the deployment's own shapes and prices as JSON; empty when the variable is not set."""
    from kafka_capacity.hardware.shape_catalogue import OWN_SHAPES

    return str(Variable.get(OWN_SHAPES, default="") or "")


def browser_url(store: ObjectStore, key: str) -> str:
    """Return the address under which a browser reaches an object of the reports.

    That is what the variable says, else the page of Airflow's own server, else, where nobody has configured that
    server's address either, the object's address in the store. What is encoded in the key is encoded once more: a
    server decodes an address before it looks for the key.
    """
    template = str(Variable.get(REPORT_URL, default="") or "")
    if "{key}" not in template:
        template = f"{_API_URL.rstrip('/')}{PAGES}/{{key}}" if _API_URL else ""
    return template.replace("{key}", quote(key, safe="/=")) or store.uri(key)
