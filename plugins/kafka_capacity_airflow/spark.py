"""Submit our Spark jobs: with the package in a zip, the deployment's configuration, and credentials out of sight."""

from __future__ import annotations

import base64
import ctypes
import hashlib
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import BaseHook

from kafka_capacity_airflow.params import asked
from kafka_capacity_airflow.settings import AWS_CONN_ID, spark_conf, store_uri

if TYPE_CHECKING:
    from airflow.sdk import Context

SPARK_CONN_ID = "spark_default"


def job_file(job: str) -> Path:
    """Return the file of a job in ``spark_jobs``."""
    from kafka_capacity.plan.package_zip import package_folder

    return package_folder("spark_jobs") / f"{job}.py"


def refuse_mixed_pyspark() -> None:
    """See that what is in pyspark's folder is pyspark, and no other version out of pyspark-client.

    Raises:
        AirflowFailException: it is not, and workers of Python would die for no reason that they tell.
    """
    from airflow.sdk.exceptions import AirflowFailException

    try:
        whole, client = metadata.distribution("pyspark"), metadata.distribution("pyspark-client")
    except metadata.PackageNotFoundError:
        return
    if whole.version == client.version or not (of_client := any_file_that_differs(whole)):
        return
    raise AirflowFailException(
        f"{of_client} is not that of pyspark {whole.version}: pyspark-client {client.version} was installed over it; "
        f"run pip install --force-reinstall --no-deps pyspark=={whole.version}"
    )


def any_file_that_differs(installed: metadata.Distribution) -> str | None:
    """Return a module of a distribution that is not what it brought."""
    for file in installed.files or ():
        if file.suffix == ".py" and file.hash is not None:
            digest = hashlib.new(file.hash.mode, Path(str(file.locate())).read_bytes()).digest()
            if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != file.hash.value:
                return str(file)
    return None


@contextmanager
def refusals_of_driver(run: str) -> Iterator[str]:
    """Let what a driver refuses be what fails here, instead of its exit code.

    Yields the key of the object through which the driver tells, which is named by the task's run.
    """
    from airflow.sdk.exceptions import AirflowException

    from kafka_capacity.objects.keys import refusal_key
    from kafka_capacity.objects.refusal import take_refusal
    from kafka_capacity_airflow.store import airflow_store

    key = refusal_key(run)
    try:
        yield key
    except (AirflowException, RuntimeError) as failed:  # the latter of a driver on a cluster
        refused = take_refusal(airflow_store(), key)
        if refused is None:
            raise
        raise refused from failed


class _DriverHook(SparkSubmitHook):
    """Submits with what the process of ``spark-submit`` has to itself: an environment beside ours."""

    def __init__(self, *, environment: dict[str, str], **options: Any) -> None:
        super().__init__(**options)
        self._environment = environment

    def submit(self, application: str = "", **kwargs: Any) -> str | None:
        # A driver that runs here ends with its task, also where the task's process is killed.
        kwargs |= {"env": {**os.environ, **self._environment}, "preexec_fn": end_with_parent()}
        submitted: str | None = super().submit(application, **kwargs)
        return submitted


class _StateOfOne:
    """What a task keeps for its next try, of one of its applications: each has a driver of its own."""

    def __init__(self, state: Any, number: int) -> None:
        self._state = state
        self._prefix = f"application_{number}_"

    def get(self, key: str, default: Any = None) -> Any:
        return self._state.get(self._prefix + key, default)

    def set(self, key: str, value: Any, **kwargs: Any) -> None:
        self._state.set(self._prefix + key, value, **kwargs)


class KafkaCapacitySparkOperator(SparkSubmitOperator):
    """Run one of our jobs by spark-submit.

    Args:
        job: the file's name in ``spark_jobs``, without its ending.
        pinned: the pinned plan that the job simulates, as plain data; none for a job of another kind. It is one
            application, or one a question, one after another, where the run's parameters ask for that.
        arguments: of the job, beside where the store is; an empty list skips it.
        conn_id: which Spark; its extra also says how to follow a driver on the cluster (:meth:`_tracking`).
        aws_conn_id: whose credentials the driver gets.
        kwargs: of the provider's hook, such as ``executor_memory``, and of every operator.

    The driver gets the connection's credentials as environment variables of its own process, which are in no log, no
    rendered field and no command line. In cluster deploy modes the driver runs elsewhere: there the platform's own
    identity (instance profile, service account) counts, since anything else would have to be written down.
    """

    template_fields: Sequence[str] = (*SparkSubmitOperator.template_fields, "pinned", "arguments")

    def __init__(
        self,
        *,
        job: str,
        pinned: Any = None,
        arguments: Any = None,
        conn_id: str = SPARK_CONN_ID,
        aws_conn_id: str = AWS_CONN_ID,
        **kwargs: Any,
    ) -> None:
        of_submit = signature(SparkSubmitHook).parameters.keys() & kwargs.keys() - {"conf"}
        self.options = {name: kwargs.pop(name) for name in of_submit}
        super().__init__(application="", name=f"kafka_capacity_{job}", **kwargs)
        self.job = job
        self.pinned = pinned
        self.arguments = arguments
        self.conn_id = conn_id
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
        refuse_mixed_pyspark()
        self.application = str(job_file(self.job))
        self.conf = {**spark_conf(), **(self.conf or {})}
        self.durable = bool(self._tracking())
        state = context.get("task_state_store") if self.durable else None
        with tempfile.TemporaryDirectory(prefix="kafka-capacity-") as folder:
            self.py_files = str(build_zip(Path(folder) / "kafka_capacity.zip"))
            for number, arguments in enumerate(self._applications(context)):
                self._hook = None  # one serves one application
                own: Any = context if state is None else {**context, "task_state_store": _StateOfOne(state, number)}
                with refusals_of_driver(_try_that_submitted(own)) as refusal:
                    self.application_args = ["--store-uri", store_uri(), "--refusal-key", refusal, *arguments]
                    super().execute(own)
        if state is not None:
            state.clear()  # who clears this task wants it done again
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

    def _get_hook(self) -> SparkSubmitHook:  # what the provider's operator submits with
        return _DriverHook(
            environment=self.driver_environment(),
            conf=self.conf,
            conn_id=self.conn_id,
            py_files=self.py_files,
            name=self.name,
            application_args=self.application_args,
            **self.options,
            **self._tracking(),
        )

    def _extra(self, key: str) -> Any:
        return BaseHook.get_connection(self.conn_id).extra_dejson.get(key)

    def _is_on_cluster(self) -> bool:
        return bool((self.options.get("deploy_mode") or self._extra("deploy-mode")) == "cluster")

    def _tracking(self) -> dict[str, Any]:
        """Return how a driver on the cluster is followed, so that a later try finds it where this one is lost.

        Where the connection says nothing, ``spark-submit`` waits for it, and a later try submits again.
        """
        if not self._is_on_cluster():
            return {}
        if self._extra("yarn_resourcemanager_webapp_address"):
            return {"yarn_track_via_rm_api": True}
        return {"track_driver_via_k8s_api": True} if self._extra("track_driver_via_k8s_api") else {}

    def driver_environment(self) -> dict[str, str]:
        """Return what a driver that runs here gets to know by its environment alone."""
        if self._is_on_cluster() or urlsplit(store_uri()).scheme not in {"s3", "s3a"}:
            return {}
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


def _try_that_submitted(context: Any) -> str:
    """Return the id of the try of a task that submitted the driver which it waits for, which may be an earlier one."""
    own, state = str(context["ti"].id), context.get("task_state_store")
    if not isinstance(state, _StateOfOne):
        return own
    first = str(state.get("try") or own)
    state.set("try", first)
    return first


_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def end_with_parent() -> Callable[[], None] | None:
    """Return what a process that this one forks off does first, so that it is told to end when this one is gone.

    It outlasts the start of another program, as ``spark-submit`` starts Java. Only Linux can do that: else ``None``.
    """
    if sys.platform != "linux":
        return None
    parent, set_option = os.getpid(), ctypes.CDLL(None).prctl

    def tie() -> None:
        set_option(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # gone already
            os._exit(1)

    return tie
