"""Real Kafka brokers (KRaft) on loopback, and Kafka's own command line tools.

The first three nodes are brokers and controllers, later ones brokers only. Every node listens in PLAINTEXT, for its
peers and the tools, and in whichever secured protocols are asked for. A cluster is a context manager: whatever happens
inside, its processes are gone afterwards; on Linux they also go when the test process itself is killed.
"""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError

from tests.live import kafka_jars
from tests.live.certificates import Certificates, make_certificates
from tests.live.java import java_command
from tests.live.settings import CLUSTER_ID, SCRAM_PASSWORD, SCRAM_USER, Node, server_properties
from tests.ports import free_ports

LOG4J = Path(__file__).with_name("log4j2.xml")
START_SECONDS = 90
CONTROLLERS = 3
_PR_SET_PDEATHSIG = 1


@dataclass(slots=True)
class _Running:
    node: Node
    process: subprocess.Popen[bytes]


@dataclass(slots=True)
class KafkaCluster:
    """A cluster of real brokers.

    Attributes:
        workdir: an empty folder for data, settings and logs.
        racks: the rack of each broker to start with, by id; ``None`` for a broker without one.
        protocols: what each broker speaks besides PLAINTEXT: SSL, SASL_PLAINTEXT, SASL_SSL.
        log_dirs: how many log directories each broker has.
        settings: server properties of every broker that differ from those of the other tests.
        log4j: what the processes log, and how.
    """

    workdir: Path
    racks: Mapping[int, str | None]
    protocols: tuple[str, ...] = ()
    log_dirs: int = 1
    settings: Mapping[str, object] = field(default_factory=dict)
    log4j: Path = LOG4J
    nodes: dict[int, Node] = field(default_factory=dict)
    certificates: Certificates | None = None
    _running: dict[int, _Running] = field(default_factory=dict)

    def __enter__(self) -> KafkaCluster:
        self.workdir.mkdir(parents=True, exist_ok=True)
        if any("SSL" in protocol for protocol in self.protocols):
            self.certificates = make_certificates(self.workdir / "certificates")
        for broker_id, rack in self.racks.items():
            self._add_node(broker_id, rack)
        try:
            self._format(list(self.nodes.values()))
            for broker_id in self.nodes:
                self._spawn(broker_id)
            self.wait_until_registered(*self.nodes)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Kill every process of this cluster, and wait until it is gone."""
        for running in self._running.values():
            running.process.kill()
        for running in self._running.values():
            running.process.wait()
        self._running.clear()

    # -- brokers ---------------------------------------------------------------------------------

    def start_broker(self, broker_id: int, rack: str | None = None) -> None:
        """Start a new broker, or one that was stopped, and wait until the cluster knows it."""
        if broker_id not in self.nodes:
            self._add_node(broker_id, rack)
            self._format([self.nodes[broker_id]])
        self._spawn(broker_id)
        self.wait_until_registered(broker_id)

    def stop_broker(self, broker_id: int) -> None:
        """Shut a broker down in an orderly way."""
        self._end(broker_id, signal.SIGTERM)

    def kill_broker(self, broker_id: int) -> None:
        """End a broker as a power failure would."""
        self._end(broker_id, signal.SIGKILL)

    def bootstrap_servers(self, protocol: str = "PLAINTEXT") -> str:
        """Give the addresses of the brokers that run."""
        return ",".join(f"127.0.0.1:{running.node.ports[protocol]}" for running in self._running.values())

    def wait_until_registered(self, *broker_ids: int) -> None:
        """Wait until the brokers are there for everyone: registered and not fenced."""
        self.wait_for(lambda: set(broker_ids) <= self._unfenced(), f"brokers {broker_ids} registered")

    def wait_until_fenced(self, broker_id: int) -> None:
        """Wait until the controller has noticed that a broker is gone."""
        self.wait_for(lambda: self._unfenced() == set(self._running), f"broker {broker_id} fenced")

    def wait_for(self, is_so: Callable[[], bool], what: str, seconds: float = START_SECONDS) -> None:
        """Wait for something, and fail with the brokers' logs where it does not come."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if is_so():
                return
            for broker_id, running in self._running.items():
                if running.process.poll() is not None:
                    raise AssertionError(f"broker {broker_id} ended by itself:\n{self.log_tail(broker_id)}")
            time.sleep(0.1)
        tails = "\n".join(f"broker {i}:\n{self.log_tail(i)}" for i in self._running)
        raise AssertionError(f"waited {seconds} s in vain: {what}\n{tails}")

    def log_tail(self, broker_id: int, characters: int = 3000) -> str:
        return self._log(broker_id).read_text(encoding="utf-8", errors="replace")[-characters:]

    # -- tools and clients -----------------------------------------------------------------------

    def tool(self, main_class: str, *arguments: str) -> str:
        """Run one of Kafka's command line tools and give what it prints."""
        options = ["--bootstrap-server", self.bootstrap_servers()]
        command = self._java(main_class, *options, *arguments)
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=180)
        if done.returncode:
            raise AssertionError(f"{main_class} {' '.join(arguments)}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def spawn_tool(
        self, main_class: str, *arguments: str, stdout: Path, stderr: Path, heap: str = "128m"
    ) -> subprocess.Popen[bytes]:
        """Start one of Kafka's command line tools; the caller ends it."""
        command = self._java(main_class, "--bootstrap-server", self.bootstrap_servers(), *arguments, heap=heap)
        with stdout.open("ab") as out, stderr.open("ab") as err:
            return subprocess.Popen(
                command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, preexec_fn=_die_with_parent
            )

    @contextmanager
    def background_tool(self, main_class: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
        """Keep one of Kafka's command line tools running, its output in ``workdir``, and end it afterwards."""
        log_file = self.workdir / f"{main_class.rpartition('.')[2]}.log"
        process = self.spawn_tool(main_class, *arguments, stdout=log_file, stderr=log_file)
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def admin(self) -> KafkaAdminClient:
        """Open an admin client that has nothing to do with the code under test."""
        return KafkaAdminClient(bootstrap_servers=self.bootstrap_servers().split(","), bootstrap_timeout_ms=5000)

    # -- processes -------------------------------------------------------------------------------

    def _unfenced(self) -> set[int]:
        try:
            with self.admin() as admin:
                brokers = admin.describe_cluster()["brokers"]
        except KafkaError:
            return set()
        return {broker["broker_id"] for broker in brokers if not broker.get("is_fenced")}

    def _add_node(self, broker_id: int, rack: str | None) -> None:
        names = ["PLAINTEXT", "CONTROLLER", *self.protocols]
        ports = dict(zip(names, free_ports(len(names)), strict=True))
        is_controller = len(self.nodes) < CONTROLLERS and not self._running
        folder = self.workdir / str(broker_id)
        self.nodes[broker_id] = Node(broker_id, rack, folder, ports, is_controller)

    def _format(self, nodes: list[Node]) -> None:
        formats = []
        for node in nodes:
            node.folder.mkdir()
            text = server_properties(node, list(self.nodes.values()), self.log_dirs, self.certificates, self.settings)
            node.settings.write_text(text, encoding="utf-8")
            users = ["--add-scram", f"SCRAM-SHA-512=[name={SCRAM_USER},password={SCRAM_PASSWORD}]"]
            command = self._java(
                "kafka.tools.StorageTool",
                *("format", "-t", CLUSTER_ID, "-c", str(node.settings)),
                *(users if self.protocols and node.is_controller else []),
            )
            formats.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
        for process in formats:
            output, _ = process.communicate()
            if process.returncode:
                raise AssertionError(f"a node could not be formatted:\n{output.decode(errors='replace')}")

    def _spawn(self, broker_id: int) -> None:
        node = self.nodes[broker_id]
        command = self._java("kafka.Kafka", str(node.settings), heap="256m")
        with self._log(broker_id).open("ab") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=node.folder, preexec_fn=_die_with_parent
            )
        self._running[broker_id] = _Running(node, process)

    def _end(self, broker_id: int, how: signal.Signals) -> None:
        process = self._running.pop(broker_id).process
        process.send_signal(how)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _log(self, broker_id: int) -> Path:
        return self.nodes[broker_id].folder / "server.log"

    def _java(self, main_class: str, *arguments: str, heap: str = "128m") -> list[str]:
        options = [f"-Dlog4j2.configurationFile={self.log4j}"]
        return java_command(main_class, *arguments, class_path=kafka_jars.class_path(), heap=heap, options=options)


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
