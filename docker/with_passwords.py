"""Write the password file of Airflow's simple auth manager, then become the command that is given.

    AIRFLOW_USER=planner AIRFLOW_PASSWORD=… python with_passwords.py airflow api-server

Left alone, that auth manager invents a password and prints it into the log. It also opens the file for writing, so a
secret mounted read-only will not do. The command does not get the password in its environment.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

SHORTEST_PASSWORD = 12


def write_passwords(path: Path, user: str, password: str) -> None:
    """Write the file, for its owner's eyes only.

    Raises:
        ValueError: the password is too short.
    """
    if len(password) < SHORTEST_PASSWORD:
        msg = f"AIRFLOW_PASSWORD has {len(password)} characters; take {SHORTEST_PASSWORD} or more"
        raise ValueError(msg)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(json.dumps({user: password}) + "\n")


def main(command: Sequence[str]) -> None:
    """Write the file and become the command."""
    user, password = os.environ.pop("AIRFLOW_USER"), os.environ.pop("AIRFLOW_PASSWORD")
    write_passwords(Path(os.environ["AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE"]), user, password)
    os.execvp(command[0], list(command))  # noqa: S606  the command is the deployment's own


if __name__ == "__main__":
    main(sys.argv[1:])
