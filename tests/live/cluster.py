"""Real Kafka brokers (KRaft) on loopback, and Kafka's own command line tools.

The first three nodes are brokers and controllers, later ones brokers only, unless controllers have nodes of their own.
Every broker listens in PLAINTEXT, for its peers and the tools, and in whichever secured protocols are asked for. A
cluster is a context manager: whatever happens inside, its processes are gone afterwards; on Linux they also go when the
test process itself is killed.
"""

from __future__ import annotations

import base64
import ctypes
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, TypeVar

from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError
from kafka.protocol.admin import DescribeClusterRequest

from tests.live import kafka_jars
from tests.live.certificates import Certificates, make_certificates
from tests.live.class_archive import archive_options
from tests.live.java import java_command
from tests.live.settings import CLUSTER_ID, SCRAM_PASSWORD, SCRAM_USER, Node, server_properties
from tests.ports import free_ports

LOG4J = Path(__file__).with_name("log4j2.xml")
START_SECONDS = 300
"""For what takes seconds: long enough for a machine that is busy with other tests."""
SETTLED_SECONDS = 10  # ten looks of a broker that is told to look every second
TOOL_SECONDS = 600
CONTROLLERS = 3
_PR_SET_PDEATHSIG = 1
Answer = TypeVar("Answer")
_Kind = tuple[str | int, ...]
_FORMATS = tempfile.TemporaryDirectory(prefix="kafka-formatted-")
_FORMATTING = threading.Lock()  # clusters may start side by side
_FORMATTED: dict[_Kind, Path] = {}
"""Disks of a formatted node of each kind: by version, disks, roles, and what Kafka's tool was told."""


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
        controller_ids: nodes that are controllers and nothing else; where there are some, no broker is a controller.
        features: levels that the cluster starts with, by feature; Kafka's own where they are left out.
        heap: of every node.
        jvm_options: of every process; those with which it starts quickly where they are left out.
        version: of the nodes.
    """

    workdir: Path
    racks: Mapping[int, str | None]
    protocols: tuple[str, ...] = ()
    log_dirs: int = 1
    settings: Mapping[str, object] = field(default_factory=dict)
    log4j: Path = LOG4J
    controller_ids: tuple[int, ...] = ()
    features: Mapping[str, int] = field(default_factory=dict)
    heap: str = "256m"
    jvm_options: tuple[str, ...] | None = None
    version: str = kafka_jars.NODES
    nodes: dict[int, Node] = field(default_factory=dict)
    certificates: Certificates | None = None
    _running: dict[int, _Running] = field(default_factory=dict)

    def __enter__(self) -> KafkaCluster:
        self.workdir.mkdir(parents=True, exist_ok=True)
        if any("SSL" in protocol for protocol in self.protocols):
            self.certificates = make_certificates(self.workdir / "certificates")
        for controller_id in self.controller_ids:
            self._add_node(controller_id, None)
        for broker_id, rack in self.racks.items():
            self._add_node(broker_id, rack)
        try:
            self._format(list(self.nodes.values()))
            for node_id in self.nodes:
                self._spawn(node_id)
            self.wait_until_registered(*self.racks)
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

    def start_observer(self, controller_id: int) -> None:
        """Start a new controller that knows the others by their addresses only, and observes."""
        known = ",".join(f"127.0.0.1:{node.ports['CONTROLLER']}" for node in self.nodes.values() if node.is_controller)
        self.settings = {
            **self.settings,
            "controller.quorum.voters": "",
            "controller.quorum.bootstrap.servers": known,
        }
        self.controller_ids = (*self.controller_ids, controller_id)
        self._add_node(controller_id, None)
        self._format([self.nodes[controller_id]], "--no-initial-controllers")
        self._spawn(controller_id)

    def start_again(self, *node_ids: int) -> None:
        """Start brokers or controllers that were stopped, all at once; brokers are waited for."""
        for node_id in node_ids:
            self._spawn(node_id)
        self.wait_until_registered(*(node_id for node_id in node_ids if self.nodes[node_id].is_broker))

    def kill_broker(self, *broker_ids: int) -> None:
        """End brokers or controllers as a power failure would, all at once."""
        for broker_id in broker_ids:
            self._running[broker_id].process.kill()
        for broker_id in broker_ids:
            self._running.pop(broker_id).process.wait()

    def freeze(self, broker_id: int) -> None:
        """Let a broker do nothing until it is thawed; its connections stay open."""
        self._running[broker_id].process.send_signal(signal.SIGSTOP)

    def thaw(self, broker_id: int) -> None:
        """Let a frozen broker go on."""
        self._running[broker_id].process.send_signal(signal.SIGCONT)

    def bootstrap_servers(self, protocol: str = "PLAINTEXT") -> str:
        """Return the addresses of the brokers that run."""
        brokers = (running.node for running in self._running.values() if running.node.is_broker)
        return ",".join(f"127.0.0.1:{node.ports[protocol]}" for node in brokers)

    def wait_until_registered(self, *broker_ids: int) -> None:
        """Wait until the brokers are there for everyone: registered and not fenced, as every broker knows."""
        if broker_ids:
            wanted = set(broker_ids)
            self.wait_for(lambda: all(wanted <= each for each in self._unfenced()), f"brokers {broker_ids} registered")

    def wait_until_fenced(self, *broker_ids: int) -> None:
        """Wait until the controller has noticed that brokers are gone, and every other broker has heard of it."""
        alive = {running.node.broker_id for running in self._brokers()}
        self.wait_for(lambda: all(each == alive for each in self._unfenced()), f"brokers {broker_ids} fenced")

    def wait_for(self, is_so: Callable[[], bool], what: str, seconds: float = START_SECONDS) -> None:
        """Wait for something, and fail with the brokers' logs where it does not come.

        A question to the cluster that has no answer is asked again: a broker that was killed is in the metadata until
        it is fenced, and clients may turn to it; one that is busy answers late.
        """
        end = time.monotonic() + seconds
        error: KafkaError | None = None
        while time.monotonic() < end:
            try:
                if is_so():
                    return
            except KafkaError as unanswered:
                error = unanswered
            for broker_id, running in self._running.items():
                if running.process.poll() is not None:
                    raise AssertionError(f"broker {broker_id} ended by itself:\n{self.log_tail(broker_id)}")
            time.sleep(0.1)
        tails = "\n".join(f"broker {i}:\n{self.log_tail(i)}" for i in self._running)
        raise AssertionError(f"waited {seconds} s in vain: {what}; the last error was {error!r}\n{tails}")

    def wait_until_settled(self, measured: Callable[[], object], what: str) -> None:
        """Wait until something is the same for :data:`SETTLED_SECONDS`: brokers that share a busy machine take long."""
        last, since = measured(), time.monotonic()

        def is_settled() -> bool:
            nonlocal last, since
            if (now := measured()) != last:
                last, since = now, time.monotonic()
            return time.monotonic() - since >= SETTLED_SECONDS

        self.wait_for(is_settled, what)

    def log(self, broker_id: int) -> str:
        """Return all that a node has logged."""
        return self._log(broker_id).read_text(encoding="utf-8", errors="replace")

    def log_tail(self, broker_id: int, characters: int = 3000) -> str:
        return self.log(broker_id)[-characters:]

    # -- tools and clients -----------------------------------------------------------------------

    def tool(self, main_class: str, *arguments: str) -> str:
        """Run one of Kafka's command line tools and give what it prints."""
        options = ["--bootstrap-server", self.bootstrap_servers()]
        command = self._java(main_class, *options, *arguments)
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=TOOL_SECONDS)
        if done.returncode:
            raise AssertionError(f"{main_class} {' '.join(arguments)}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def spawn_tool(
        self, main_class: str, *arguments: str, stdout: Path | IO[bytes], stderr: Path, heap: str = "128m"
    ) -> subprocess.Popen[bytes]:
        """Start one of Kafka's command line tools; the caller ends it."""
        command = self._java(main_class, "--bootstrap-server", self.bootstrap_servers(), *arguments, heap=heap)
        with ExitStack() as files:
            out = files.enter_context(stdout.open("ab")) if isinstance(stdout, Path) else stdout
            err = files.enter_context(stderr.open("ab"))
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
        return KafkaAdminClient(bootstrap_servers=self.bootstrap_servers().split(","), bootstrap_timeout_ms=60_000)

    def ask(self, question: Callable[[KafkaAdminClient], Answer], what: str) -> Answer:
        """Ask something that changes nothing until there is an answer, each time with a new client."""
        answers: list[Answer] = []

        def is_answered() -> bool:
            with self.admin() as admin:
                answers.append(question(admin))
            return True

        self.wait_for(is_answered, what)
        return answers[0]

    # -- processes -------------------------------------------------------------------------------

    def _brokers(self) -> list[_Running]:
        return [running for running in self._running.values() if running.node.is_broker]

    def _unfenced(self) -> list[set[int]]:
        """Ask every broker that runs which ones are there; an empty set for one that does not listen yet."""
        if not all(map(_listens, self._brokers())):
            return [set()]
        with self.admin() as admin:
            return [_unfenced_by(admin, running.node.broker_id) for running in self._brokers()]

    def _add_node(self, broker_id: int, rack: str | None) -> None:
        names = ["PLAINTEXT", "CONTROLLER", *self.protocols]
        ports = dict(zip(names, free_ports(len(names)), strict=True))
        is_alone = broker_id in self.controller_ids
        is_both = not self.controller_ids and len(self.nodes) < CONTROLLERS and not self._running
        folder = self.workdir / str(broker_id)
        self.nodes[broker_id] = Node(
            broker_id, rack, folder, ports, is_controller=is_alone or is_both, is_broker=not is_alone
        )

    def _format(self, nodes: list[Node], *options: str) -> None:
        """Format a node of each kind with Kafka's tool, once a process; all others get what that wrote as their own."""
        levels = [word for name, level in self.features.items() for word in ("--feature", f"{name}={level}")]
        users = ["--add-scram", f"SCRAM-SHA-512=[name={SCRAM_USER},password={SCRAM_PASSWORD}]"]
        asked = {False: [*options, *levels], True: [*options, *levels, *(users if self.protocols else [])]}
        kinds: dict[_Kind, list[Node]] = {}
        for node in nodes:
            node.folder.mkdir()
            text = server_properties(node, list(self.nodes.values()), self.log_dirs, self.certificates, self.settings)
            node.settings.write_text(text, encoding="utf-8")
            kind = (self.version, self.log_dirs, node.roles, *asked[node.is_controller])
            kinds.setdefault(kind, []).append(node)
        commands = {
            kind: self._java(
                "kafka.tools.StorageTool",
                *("format", "-t", CLUSTER_ID, "-c", str(first.settings), *asked[first.is_controller]),
                version=self.version,
            )
            for kind, (first, *_) in kinds.items()
        }
        with _FORMATTING:
            _format_first(commands, {kind: first.folder for kind, (first, *_) in kinds.items()})
        for kind, alike in kinds.items():
            for node in alike:
                _format_alike(_FORMATTED[kind], node)

    def _spawn(self, broker_id: int) -> None:
        node = self.nodes[broker_id]
        command = self._java("kafka.Kafka", str(node.settings), heap=self.heap, version=self.version)
        with self._log(broker_id).open("ab") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=node.folder, preexec_fn=_die_with_parent
            )
        self._running[broker_id] = _Running(node, process)

    def _log(self, broker_id: int) -> Path:
        return self.nodes[broker_id].folder / "server.log"

    def _java(
        self, main_class: str, *arguments: str, heap: str = "128m", version: str = kafka_jars.VERSION
    ) -> list[str]:
        quick = archive_options() if self.jvm_options is None else self.jvm_options
        options = [f"-Dlog4j2.configurationFile={self.log4j}", *quick]
        class_path = kafka_jars.class_path(version)
        return java_command(main_class, *arguments, class_path=class_path, heap=heap, options=options)


def _format_first(commands: Mapping[_Kind, list[str]], folders: Mapping[_Kind, Path]) -> None:
    """Run the commands of the kinds that are not formatted yet, at once, and keep the disks that they make."""
    started = {
        kind: subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for kind, command in commands.items()
        if kind not in _FORMATTED
    }
    for kind, process in started.items():
        output, _ = process.communicate()
        if process.returncode:
            raise AssertionError(f"a node could not be formatted:\n{output.decode(errors='replace')}")
        kept = Path(tempfile.mkdtemp(dir=_FORMATS.name))
        for disk in folders[kind].glob("data*"):
            shutil.move(disk, kept)
        _FORMATTED[kind] = kept


def _format_alike(formatted: Path, node: Node) -> None:
    for disk in formatted.glob("data*"):
        copy = shutil.copytree(disk, node.folder / disk.name)
        names = copy / "meta.properties"
        # Each begins with a dash, as an id may: a tool must not take it for an option.
        directory_id = base64.urlsafe_b64encode(b"\xf8" + uuid.uuid4().bytes[1:]).decode()[:22]
        own = {"node.id": node.broker_id, "directory.id": directory_id}
        text = names.read_text(encoding="utf-8")
        for name, value in own.items():
            text, found = re.subn(rf"^{name}=.*$", f"{name}={value}", text, flags=re.MULTILINE)
            assert found == 1
        names.write_text(text, encoding="utf-8")


def _listens(running: _Running) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", running.node.ports["PLAINTEXT"]), timeout=30):
            return True
    except OSError:
        return False


def _unfenced_by(admin: KafkaAdminClient, broker_id: int) -> set[int]:
    async def send() -> Any:
        return await admin._manager.send(DescribeClusterRequest(include_fenced_brokers=True), node_id=broker_id)

    return {each.broker_id for each in admin._manager.run(send).brokers if not each.is_fenced}


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
