"""One set-up per state folder: a second one is refused in words, and nothing outlives one that was killed.

Every program that a set-up starts, and all that these start in turn, has a mark in its environment. A small process
beside it ends whatever has the mark as soon as the set-up is gone, however it went; the next start does the same for
what is left where that process was killed as well. Where there is no ``/proc`` (not on Linux), marks cannot be read,
and only the refusal holds.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

MARK = "KAFKA_CAPACITY_LOCAL_STATE"
"""The variable in the environment of what was started: a word of this start alone, ``@`` and the state folder."""
LOCK_FILE = "in-use.lock"
LOOK_SECONDS = 0.3  # how often the process beside a set-up looks whether that is still there
END_SECONDS = 30.0  # how long killed processes may take to be gone, on a machine that is busy
_PROCESSES = Path("/proc")


class StateInUseError(Exception):
    """Another set-up has the state folder."""


@contextlib.contextmanager
def held(state: Path) -> Iterator[None]:
    """Hold a state folder, made where it is not there; end first what an earlier set-up of it left running.

    Raises StateInUseError where another process holds it; the message says which.
    """
    state = state.resolve()
    state.mkdir(parents=True, exist_ok=True)
    # A lock of POSIX's: it goes with this process, and no process that is forked off inherits it.
    with (state / LOCK_FILE).open("a+") as lock:
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.seek(0)
            who = lock.read().strip() or "that is not known"
            raise StateInUseError(f"{state} is in use by process {who} (make up or make plan); stop it first") from None
        with contextlib.suppress(OSError):  # on a full disk it is held all the same, without a name
            lock.truncate(0)
            lock.write(f"{os.getpid()}\n")
            lock.flush()
        end_marked(lambda mark: mark.endswith(f"@{state}"))
        os.environ[MARK] = f"{secrets.token_hex(8)}@{state}"
        # Else programs that rename themselves write over their environment, the mark in it.
        os.environ["SPT_NOENV"] = "1"
        beside = subprocess.Popen(
            [sys.executable, "-m", "local.one_holder", str(os.getpid())],
            cwd=Path(__file__).resolve().parent.parent,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
        )
        try:
            yield
        finally:
            beside.kill()
            beside.wait()


def end_own() -> None:
    """End all that this set-up has started and that still runs."""
    own = os.environ[MARK]
    end_marked(lambda mark: mark == own)


def end_marked(is_meant: Callable[[str], bool]) -> None:
    """Kill the processes whose mark is meant, but not this one, and wait until they are gone."""
    end = time.monotonic() + END_SECONDS
    # Again and again: one that is about to die may have started another.
    while (found := marked(is_meant)) and time.monotonic() < end:
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def marked(is_meant: Callable[[str], bool]) -> list[int]:
    """List the processes whose mark is meant, but not this one; none where marks cannot be read."""
    variable = f"{MARK}=".encode()
    found = []
    for folder in _PROCESSES.glob("[0-9]*"):
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")
        except OSError:  # gone, or of somebody else
            continue
        marks = (one.removeprefix(variable).decode(errors="replace") for one in variables if one.startswith(variable))
        if any(map(is_meant, marks)) and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found


def main() -> None:
    """Wait until the set-up that started this process is gone, and end what it left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while os.getppid() == int(sys.argv[1]):
        time.sleep(LOOK_SECONDS)
    end_own()


if __name__ == "__main__":
    main()
