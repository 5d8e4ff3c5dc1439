"""Submit our Spark jobs: with the package in a zip, the deployment's configuration, and credentials out of sight."""

from __future__ import annotations

import ctypes
import logging
import os
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator

from kafka_capacity_airflow.params import asked
from kafka_capacity_airflow.settings import spark_conf, store_uri

if TYPE_CHECKING:
    from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
    from airflow.sdk import Context

progress = logging.getLogger("kafka_capacity.progress")

AWS_CONN_ID = "aws_default"
_COUNT = re.compile(r"[\d,]+ of [\d,]+ .+ are done")


def job_file(job: str) -> Path:
    """Return the file of a job in ``spark_jobs``."""
    from kafka_capacity.plan.package_zip import package_folder

    return package_folder("spark_jobs") / f"{job}.py"


def _counted(lines: Iterable[str]) -> Iterator[str]:
    """Pass on what a job prints; how far it is goes to a log of its own, for who shows that."""
    for line in lines:
        if found := _COUNT.search(line):
            progress.info(found[0])
        yield line


@contextmanager
def refusals_of_driver(run: str) -> Iterator[str]:
    """Let what a driver refuses be what fails here, instead of its exit code.

    Args:
        run: of the task; names the object through which the driver tells.

    Yields:
        The object's key.
    """
    from airflow.sdk.exceptions import AirflowException

    from kafka_capacity.objects.keys import refusal_key
    from kafka_capacity.objects.refusal import take_refusal
    from kafka_capacity_airflow.store import airflow_store

    key = refusal_key(run)
    try:
        yield key
    except AirflowException as failed:
        refused = take_refusal(airflow_store(), key)
        if refused is None:
            raise
        raise refused from failed


class KafkaCapacitySparkOperator(SparkSubmitOperator):
    """Run one of our jobs by spark-submit.

    Args:
        job: the file's name in ``spark_jobs``, without its ending.
        pinned: the pinned plan that the job simulates, as plain data; none for a job of another kind. It is one
            application, or one a question, one after another, where the run's parameters ask for that.
        arguments: of the job, beside where the store is; an empty list skips it.
        aws_conn_id: whose credentials the driver gets.

    The driver gets the connection's credentials as environment variables of its own process, which are in no log, no
    rendered field and no command line. In cluster deploy modes the driver runs elsewhere: there the platform's own
    identity (instance profile, service account) counts, since anything else would have to be written down.
    """

    template_fields: Sequence[str] = (*SparkSubmitOperator.template_fields, "pinned", "arguments")

    def __init__(
        self, *, job: str, pinned: Any = None, arguments: Any = None, aws_conn_id: str = AWS_CONN_ID, **kwargs: Any
    ) -> None:
        super().__init__(application="", name=f"kafka_capacity_{job}", **kwargs)
        self.job = job
        self.pinned = pinned
        self.arguments = arguments
        self.aws_conn_id = aws_conn_id

    def execute(self, context: Context) -> None:
        """Pack, submit, wait; a plan that is simulated already is left as it is.

        Raises:
            KafkaCapacityError: what the driver refused, as it said it.
        """
        from kafka_capacity.plan.package_zip import build_zip

        if self._is_done():
            self.log.info("simulated already: the same request on the same inventory is the same plan")
            return
        self.application = str(job_file(self.job))
        self.conf = {**spark_conf(), **(self.conf or {})}
        with tempfile.TemporaryDirectory(prefix="kafka-capacity-") as folder:
            self.py_files = str(build_zip(Path(folder) / "kafka_capacity.zip"))
            for arguments in self._applications(context):
                self._hook = None  # one serves one application
                with refusals_of_driver(str(context["ti"].id)) as refusal:
                    self.application_args = ["--store-uri", store_uri(), "--refusal-key", refusal, *arguments]
                    super().execute(context)
        self._record_lineage()

    def _record_lineage(self) -> None:
        from kafka_capacity_airflow.lineage import record_lineage

        if self.pinned is not None:
            record_lineage(self.pinned["cluster"], read=("inventory", "profiles"), written=("plans",))
        else:
            of = dict(one.removeprefix("--").split("=", 1) for one in self.arguments)
            record_lineage(of["cluster"], read=("inventory", "history"), written=("profiles",))

    def _is_done(self) -> bool:
        from kafka_capacity.plan.pinned import PinnedPlan, read_plan_inputs
        from kafka_capacity.plan.plan_dataset import is_simulated
        from kafka_capacity_airflow.store import airflow_store

        if self.pinned is None:
            return False
        store = airflow_store()
        return is_simulated(store, read_plan_inputs(store, PinnedPlan(**self.pinned).request_key))

    def _applications(self, context: Context) -> list[list[str]]:
        """Return the arguments of each application to submit."""
        from airflow.sdk.exceptions import AirflowSkipException

        from kafka_capacity.plan.pinned import PinnedPlan
        from kafka_capacity.questions.registry import QUESTIONS

        if self.pinned is not None:
            own = ["--request-key", PinnedPlan(**self.pinned).request_key]
            if not asked(context["params"]).get("is_split_by_question"):
                return [own]
            # What is answered in one go is not worth an application of its own.
            in_order = sorted(QUESTIONS, key=lambda question: question.is_handed)
            first, *others = [question.share for question in in_order if question.has_pieces]
            in_one_go = [question.share for question in in_order if not question.has_pieces]
            return [[*own, "--shares", first, *in_one_go], *([*own, "--shares", share] for share in others)]
        if not self.arguments:
            raise AirflowSkipException(f"there is nothing for {self.job} to do")
        return [[str(argument) for argument in self.arguments]]

    def _get_hook(self) -> SparkSubmitHook:
        hook = super()._get_hook()
        log_lines = hook._process_spark_submit_log
        hook._process_spark_submit_log = lambda itr: log_lines(_counted(itr))  # type: ignore[method-assign]  # all it does
        # A driver that runs here ends with its task, also where the task's process is killed.
        hook.submit = partial(hook.submit, preexec_fn=end_with_parent())  # type: ignore[method-assign]  # the same
        if hook._connection["deploy_mode"] != "cluster" and urlsplit(store_uri()).scheme in {"s3", "s3a"}:
            hook._env = {**(hook._env or {}), **self._aws_environment()}
        return hook

    def _aws_environment(self) -> dict[str, str]:
        from airflow.providers.amazon.aws.hooks.s3 import S3Hook

        hook = S3Hook(aws_conn_id=self.aws_conn_id)
        found: dict[str, str | None] = {
            "AWS_ENDPOINT_URL_S3": hook.conn_config.get_service_endpoint_url("s3"),
            "AWS_DEFAULT_REGION": hook.region_name,
        }
        credentials = hook.get_credentials(region_name=hook.region_name)
        if credentials is not None:
            found |= {
                "AWS_ACCESS_KEY_ID": credentials.access_key,
                "AWS_SECRET_ACCESS_KEY": credentials.secret_key,
                "AWS_SESSION_TOKEN": credentials.token,
            }
        return {name: value for name, value in found.items() if value}


_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def end_with_parent() -> Callable[[], None] | None:
    """Return what a process that this one forks off does first, so that it is told to end when this one is gone.

    It lasts over the start of another program in the same process, as ``spark-submit`` starts Java. Only Linux can do
    that; elsewhere there is nothing to do.
    """
    if sys.platform != "linux":
        return None
    parent, set_option = os.getpid(), ctypes.CDLL(None).prctl

    def tie() -> None:
        set_option(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # gone already
            os._exit(1)

    return tie
