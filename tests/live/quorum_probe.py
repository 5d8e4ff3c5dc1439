"""How fast this machine flushes and answers, measured before anything is killed: what the simulation is given."""

from __future__ import annotations

import os
import socket
import struct
import time
from pathlib import Path

from kafka_capacity.kafka.controller.quorum.settings import Spread
from tests.live.cluster import KafkaCluster

_API_VERSIONS, _RECORD = 18, b"x" * 120


def measure_storage(folder: Path, times: int = 200) -> Spread:
    """Write as a controller does: to the end of a log, and epoch and vote to a file of their own, in turns."""
    took = []
    with (folder / "probe.log").open("ab", buffering=0) as log:
        for number in range(times):
            start = time.perf_counter()
            if number % 2:
                log.write(_RECORD)
                os.fsync(log.fileno())
            else:
                _replace(folder / "probe-state")
            took.append(time.perf_counter() - start)
            time.sleep(0.01)
    return Spread.measured(tuple(took))


def _replace(path: Path) -> None:
    """Write a small file again so that it is durable: file, name and folder (``FileQuorumStateStore``)."""
    fresh = path.with_suffix(".tmp")
    with fresh.open("wb", buffering=0) as file:
        file.write(_RECORD)
        os.fsync(file.fileno())
    fresh.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def measure_network(cluster: KafkaCluster, times: int = 200) -> Spread:
    """Ask controllers something small; half of the time until the answer is there is taken for one way."""
    took = []
    for node_id in cluster.controller_ids:
        node = cluster.nodes[node_id]
        with socket.create_connection(("127.0.0.1", node.ports["CONTROLLER"]), timeout=10) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for number in range(times):
                start = time.perf_counter()
                _ask(connection, number)
                took.append((time.perf_counter() - start) / 2)
                time.sleep(0.005)
    return Spread.measured(tuple(took))


def _ask(connection: socket.socket, correlation: int) -> None:
    """Send ApiVersions, version 0, and read the answer."""
    client = b"probe"
    body = struct.pack(">hhih", _API_VERSIONS, 0, correlation, len(client)) + client
    connection.sendall(struct.pack(">i", len(body)) + body)
    (length,) = struct.unpack(">i", _read(connection, 4))
    answer = _read(connection, length)
    assert struct.unpack_from(">i", answer)[0] == correlation


def _read(connection: socket.socket, length: int) -> bytes:
    content = b""
    while len(content) < length:
        part = connection.recv(length - len(content))
        if not part:
            raise ConnectionError("the controller closed the connection")
        content += part
    return content
