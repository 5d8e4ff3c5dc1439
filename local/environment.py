"""The environment of an Airflow on one machine; it must be complete before Airflow is imported."""

from __future__ import annotations

import base64
import configparser
import json
import os
import secrets
import sys
from pathlib import Path

from local.java_home import java_home
from local.s3_server import ACCESS_KEY, BUCKET, SECRET_KEY

REPOSITORY = Path(__file__).resolve().parent.parent
EXAMPLE_CLUSTERS = ({"name": "shop-eu", "source": "example"}, {"name": "metrics-uneven", "source": "example"})
# Short jobs start faster when the JVM does not optimise them; leave both out for long ones.
QUICK_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
QUICK_SPARK = {
    "spark.driver.extraJavaOptions": QUICK_JVM,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    # Of little data, planning again after each stage and compiling whole stages take longer than the work.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.driver.host": "127.0.0.1",
}
"""What suits a plan of a few thousand partitions on one machine."""

BUSY_SECONDS = 120
"""How long Airflow's parts wait for each other: for an answer to a task, for a DAG file to load. On a busy machine the
5 s of tasks and the 30 s of files are not enough.
"""
_LOCKED_SECONDS = 20
"""How long they wait for the database while another one writes; the 5 s of SQLite are not enough on a busy machine.

The API server stands still where one of its requests waits for another one of its own: so it must not be long.
"""


def _database(state: Path) -> str:
    return f"sqlite:///{airflow_home(state) / 'airflow.db'}?timeout={_LOCKED_SECONDS}"


def airflow_home(state: Path) -> Path:
    """Return the folder of a local Airflow: its database, its keys and the password."""
    return state / "airflow"


def encryption_key(state: Path) -> str:
    """Return the key of what Airflow's database has encrypted (Fernet); the first call makes it up.

    Left to itself, each part of Airflow that finds no ``airflow.cfg`` makes up one of its own. What one of them has
    encrypted the others cannot read, and the triggerer ends. A key that an earlier version has left there stays.
    """
    file = airflow_home(state) / "fernet.key"
    if not file.exists():
        earlier = configparser.ConfigParser(interpolation=None, strict=False)
        earlier.read(airflow_home(state) / "airflow.cfg")
        made = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
        key = earlier.get("core", "fernet_key", fallback="") or made
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as stream:
            stream.write(key)
    return file.read_text()


def airflow_environment(state: Path, *, s3_endpoint: str, smtp_port: int) -> dict[str, str]:
    """Return the variables of a local Airflow that writes below a state folder."""
    binaries = Path(sys.executable).parent
    home = java_home(state)
    connections = {
        "SPARK_DEFAULT": {"conn_type": "spark", "host": "local[*]"},
        "AWS_DEFAULT": {
            "conn_type": "aws",
            "login": ACCESS_KEY,
            "password": SECRET_KEY,
            "extra": {"endpoint_url": s3_endpoint, "region_name": "us-east-1"},
        },
        "SMTP_DEFAULT": {
            "conn_type": "smtp",
            "host": "127.0.0.1",
            "port": smtp_port,
            "extra": {"disable_ssl": True, "disable_tls": True},
        },
    }
    spark_conf = {**QUICK_SPARK, "spark.pyspark.python": sys.executable, "spark.driver.bindAddress": "127.0.0.1"}
    variables = {
        "KAFKA_CAPACITY_STORE_URI": f"s3://{BUCKET}/capacity",
        "KAFKA_CAPACITY_CLUSTERS": json.dumps(EXAMPLE_CLUSTERS),
        "KAFKA_CAPACITY_RECIPIENTS": "platform-team@example.net",
        "KAFKA_CAPACITY_OWNER": "platform-owner@example.net",
        "KAFKA_CAPACITY_SENDER": "kafka-capacity@example.net",
        "KAFKA_CAPACITY_SPARK_CONF": json.dumps(spark_conf),
        # The endpoint ends with this process, its files stay.
        "KAFKA_CAPACITY_REPORT_URL": f"{(state / 's3' / BUCKET / 'capacity').as_uri()}/{{key}}",
    }
    return {
        "JAVA_HOME": str(home),
        "PATH": os.pathsep.join([str(binaries), str(home / "bin"), os.environ.get("PATH", "/usr/bin:/bin")]),
        "PYTHONPATH": str(REPOSITORY),
        "PYTHONWARNINGS": "ignore",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "AIRFLOW_HOME": str(airflow_home(state)),
        "AIRFLOW__CORE__DAGS_FOLDER": str(REPOSITORY / "dags"),
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(REPOSITORY / "plugins"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        # All DAGs are on: they can be started by hand at once, and run by their schedules.
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        "AIRFLOW__CORE__DAGBAG_IMPORT_TIMEOUT": str(BUSY_SECONDS),
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": _database(state),
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "WARNING",
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__DAG_PROCESSOR__DAG_VERSION_INFLATION_CHECK_LEVEL": "error",
        "AIRFLOW__DAG_PROCESSOR__DAG_FILE_PROCESSOR_TIMEOUT": str(BUSY_SECONDS),
        "AIRFLOW__WORKERS__EXECUTION_API_TIMEOUT": str(BUSY_SECONDS),
        **{f"AIRFLOW_CONN_{name}": json.dumps(value) for name, value in connections.items()},
        **{f"AIRFLOW_VAR_{name}": value for name, value in variables.items()},
    }
