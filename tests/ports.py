"""Ports of loopback for servers under test."""

from __future__ import annotations

import random
import socket

_CHOICE = range(15_000, 32_000)
"""Below those that Linux gives to connections that go out: a client cannot take a port before its server does."""


def free_ports(count: int) -> list[int]:
    """Find ports that nobody listens on; drawn at random, so that runs side by side find others."""
    draw = random.SystemRandom()
    sockets: list[socket.socket] = []
    try:
        while len(sockets) < count:
            one = socket.socket()
            try:
                one.bind(("127.0.0.1", draw.choice(_CHOICE)))
            except OSError:
                one.close()
            else:
                sockets.append(one)
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def free_port() -> int:
    """Find one."""
    return free_ports(1)[0]
