"""The embedded parts together: an S3 endpoint and a mail sink, and the environment that points Airflow at them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from local.environment import REPOSITORY, airflow_environment, airflow_home, encryption_key
from local.mail_sink import MailSink
from local.s3_server import LocalS3

DEFAULT_STATE = REPOSITORY / ".state"


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What is running, and where everything is kept."""

    state: Path
    mail: MailSink


@contextlib.contextmanager
def running(state: Path = DEFAULT_STATE, *, s3_port: int = 0, smtp_port: int = 0) -> Iterator[Services]:
    """Start the embedded parts and set the environment of this process; port 0 takes a free one."""
    state = state.resolve()
    state.mkdir(parents=True, exist_ok=True)
    home = airflow_home(state)
    home.mkdir(exist_ok=True)
    home.chmod(0o700)  # it holds keys and the password
    with LocalS3(state / "s3", s3_port) as s3, MailSink(state / "mail", smtp_port) as mail:
        os.environ.update(airflow_environment(state, s3_endpoint=s3.endpoint, smtp_port=mail.port))
        os.environ["AIRFLOW__CORE__FERNET_KEY"] = encryption_key(state)
        yield Services(state=state, mail=mail)
