"""One Spark for many jobs: a JVM that stays, for tests of what jobs do and not of how they are submitted."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Iterator
from unittest.mock import patch


@contextlib.contextmanager
def one_spark() -> Iterator[None]:
    """Run the jobs of DAGs in a Spark session of this process.

    A ``spark-submit`` and a JVM for each job cost some fifteen seconds of processor time, most of all that a small plan
    costs. The session has the deployment's configuration; the first to come here makes it, and it lasts as long as this
    process.
    """
    from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
    from pyspark.sql import SparkSession

    from kafka_capacity_airflow.settings import spark_conf

    def execute(self, context):
        job = importlib.import_module(f"spark_jobs.{self.job}")
        with patch.dict(os.environ, self.driver_environment()):
            SparkSession.builder.master("local[*]").config(map=spark_conf()).getOrCreate()
            assert job.main(self.application_args) == 0

    with patch.object(SparkSubmitOperator, "execute", execute), patch.object(SparkSession, "stop", lambda self: None):
        yield
