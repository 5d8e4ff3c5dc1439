"""Ports of loopback for servers under test."""

from __future__ import annotations

import fcntl
import os
import random
import socket
import tempfile
from pathlib import Path
from typing import IO

_OUTGOING = Path("/proc/sys/net/ipv4/ip_local_port_range")
_KEPT: list[IO[bytes]] = []
"""Locks of the ports that this process has given out; they last as long as it does."""


def _choice() -> range:
    """Return the ports to draw from.

    They are below those that the kernel gives to connections that go out: a client cannot take a port before its
    server does, nor while its server is being started again.
    """
    first_outgoing = int(_OUTGOING.read_text().split()[0]) if _OUTGOING.is_file() else 32_768
    return range(10_000, first_outgoing if first_outgoing > 12_000 else 32_000)


def free_ports(count: int) -> list[int]:
    """Find ports that nobody listens on.

    They are drawn at random, and kept for this process until it ends: runs side by side never find the same, however
    long it takes until a server listens there.
    """
    draw, choice = random.SystemRandom(), _choice()
    found: list[int] = []
    for _ in range(1000):
        if len(found) == count:
            return found
        port = draw.choice(choice)
        if _is_free(port) and _keep(port):
            found.append(port)
    msg = f"{count} free ports are not to be found from {choice.start} to {choice.stop}"
    raise RuntimeError(msg)


def free_port() -> int:
    """Find one."""
    return free_ports(1)[0]


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _keep(port: int) -> bool:
    """Lock a port against the other test processes of this user; ``False`` where one of them, or we, have it."""
    folder = Path(tempfile.gettempdir()) / f"kafka-capacity-test-ports-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    lock = (folder / str(port)).open("ab")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        return False
    _KEPT.append(lock)
    return True
