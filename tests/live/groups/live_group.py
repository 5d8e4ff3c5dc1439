"""A live consumer group: members that join, leave, crash and restart, and what that did to the partitions."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from kafka.errors import KafkaError

from kafka_capacity.kafka.groups import TopicPartition
from tests.live.cluster import KafkaCluster
from tests.live.groups.coordinator import DescribedGroup, coordinator_lines, describe
from tests.live.groups.member_process import MemberProcess
from tests.live.groups.pauses import ownerless_seconds, tenures, unread_seconds
from tests.live.groups.settings import GroupSettings

SETTLE_SECONDS = 300
_REST_SECONDS = 0.6
_LOOK_SECONDS = 0.2
_EXPELLED = re.compile(r"has failed, removing it|fenced from the group")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupEvent:
    """What one event did to a group. Times are seconds, those in lists since the beginning of the event.

    Attributes:
        group: its id.
        protocol: classic or consumer.
        assignor: by its Kafka name.
        is_static: whether members have a ``group.instance.id``.
        heartbeat_seconds: how often members send heartbeats.
        session_seconds: after how long a silent member is out.
        event: what happened.
        seat: to whom.
        is_scattered: whether the members' heartbeats had been spread over time before, see
            :meth:`LiveGroup.scatter`.
        members_before: the live members' ids by seat.
        members_after: likewise, when all is at rest again.
        assignment_before: who read what, by seat.
        assignment_after: likewise.
        rebalances: classic: generations; consumer: target assignments that were computed.
        generation_sizes: classic: how many members each of the generations had.
        epochs: consumer: by how much the group epoch went up.
        pauses: by partition, for how long nobody held it.
        silences: by partition, the longest time without a record, beyond the time between two records.
        moved: the partitions whose reader has another seat now.
        noticed_seconds: when the coordinator first had to do with it, ``None`` for never.
        duration_seconds: until the last change of hands.
        said: of the members: when, who, what, how many partitions.
        coordinator: of the coordinator: when, what.
    """

    group: str
    protocol: str
    assignor: str
    is_static: bool
    heartbeat_seconds: float
    session_seconds: float
    event: str
    seat: str
    is_scattered: bool
    members_before: dict[str, str]
    members_after: dict[str, str]
    assignment_before: dict[str, list[TopicPartition]]
    assignment_after: dict[str, list[TopicPartition]]
    rebalances: int
    generation_sizes: list[int]
    epochs: int | None
    pauses: dict[str, float]
    silences: dict[str, float]
    moved: list[str]
    noticed_seconds: float | None
    duration_seconds: float
    said: list[tuple[float, str, str, int]]
    coordinator: list[tuple[float, str]]

    @property
    def arrived_seconds(self) -> float | None:
        """When a member that started came to the coordinator: the start of a process is not the group's doing."""
        return self._first(r"joins (the consumer )?group")

    @property
    def expelled_seconds(self) -> float | None:
        """When the session of a member ended that is gone."""
        return self._first(_EXPELLED.pattern)

    @property
    def expelled_count(self) -> int:
        """How many members' sessions ended."""
        return sum(_EXPELLED.search(text) is not None for _, text in self.coordinator)

    def _first(self, pattern: str) -> float | None:
        return next((at for at, text in self.coordinator if re.search(pattern, text)), None)


class LiveGroup:
    """A group on real brokers. A context manager: its processes are gone afterwards.

    Args:
        cluster: real brokers, see :func:`tests.live.groups.settings.group_cluster`.
        settings: of the group.
        partitions: how many the topic has.
        interval_seconds: the time between two records of a partition.
    """

    def __init__(
        self, cluster: KafkaCluster, settings: GroupSettings, partitions: int, interval_seconds: float = 0.1
    ) -> None:
        self.settings = settings
        self.partitions = frozenset((settings.topic, number) for number in range(partitions))
        self.processes: list[MemberProcess] = []
        self._cluster = cluster
        self._interval_seconds = interval_seconds
        self._folder: Path = cluster.workdir / settings.name
        self._folder.mkdir()
        self._admin = cluster.admin()
        self._described = DescribedGroup("Empty", (0, 0), {})
        self._is_scattered = False

    def __enter__(self) -> LiveGroup:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        for process in self.processes:
            process.crash()
        self._admin.close()

    # -- events ----------------------------------------------------------------------------------

    @property
    def seats(self) -> list[str]:
        """The seats of the members that live, in the order in which they came."""
        return [process.seat for process in self.processes if process.ended_at is None]

    def join(self, seat: str) -> GroupEvent:
        """Add a member."""
        return self._measured("join", seat, lambda: self._start(seat))

    def leave(self, seat: str) -> GroupEvent:
        """Let a member close its consumer and go."""
        return self._measured("leave", seat, self._member(seat).leave)

    def crash(self, seat: str) -> GroupEvent:
        """Let a member vanish without a word."""
        return self._measured("crash", seat, self._member(seat).crash)

    def restart(self, seat: str) -> GroupEvent:
        """Stop a member in an orderly way and start it again at once."""

        def stop_and_start() -> None:
            self._member(seat).leave()
            self._start(seat)

        return self._measured("restart", seat, stop_and_start)

    def scatter(self, draw: random.Random) -> None:
        """Spread the members' heartbeats over time.

        Members of a classic group that have just joined together beat together, as the clock of each began with its
        last answer; only in hours they drift apart. Here each is frozen until it is surely late, and thawed at a
        random moment of the next interval: it beats then, and from then on.
        """
        beat = self.settings.heartbeat_seconds
        living = [each for each in self.processes if each.ended_at is None]
        due = sorted(((beat * (1 + draw.random()), each) for each in living), key=lambda pair: pair[0])
        began = time.monotonic()
        for process in living:
            process.freeze()
        for seconds, process in due:
            time.sleep(max(0.0, began + seconds - time.monotonic()))
            process.thaw()
        time.sleep(1)
        self._settle()
        self._is_scattered = True

    def play(self, event: str, seat: str) -> GroupEvent:
        """Let something happen by its name."""
        actions = {"join": self.join, "leave": self.leave, "crash": self.crash, "restart": self.restart}
        return actions[event](seat)

    def _start(self, seat: str) -> None:
        self.processes.append(MemberProcess(self._cluster, self.settings, seat, self._folder, len(self.processes)))

    def _member(self, seat: str) -> MemberProcess:
        return next(each for each in self.processes if each.seat == seat and each.ended_at is None)

    # -- measuring -------------------------------------------------------------------------------

    def _measured(self, event: str, seat: str, action: Callable[[], None]) -> GroupEvent:
        before, owned_before = self._described, self._owned()
        is_scattered, self._is_scattered = self._is_scattered, False
        began = time.time()
        action()
        self._settle()
        settled = time.time()
        after, owned_after = self._described, self._owned()
        lines = coordinator_lines(self._cluster, self.settings.name, began)
        generations = [line for line in lines if line.generation is not None]
        said = self._said(began)
        return GroupEvent(
            group=self.settings.name,
            protocol=str(self.settings.protocol),
            assignor=self.settings.assignor,
            is_static=self.settings.is_static,
            heartbeat_seconds=self.settings.heartbeat_seconds,
            session_seconds=self.settings.session_seconds,
            event=event,
            seat=seat,
            is_scattered=is_scattered,
            members_before={name: member.member_id for name, member in before.members.items()},
            members_after={name: member.member_id for name, member in after.members.items()},
            assignment_before=_listed(owned_before),
            assignment_after=_listed(owned_after),
            rebalances=len(generations),
            generation_sizes=[line.members for line in generations if line.members is not None],
            epochs=after.epochs[0] - before.epochs[0] if after.epochs and before.epochs else None,
            pauses=self._pauses(began),
            silences=self._silences(began, settled),
            moved=_moved(owned_before, owned_after),
            noticed_seconds=round(lines[0].at - began, 3) if lines else None,
            duration_seconds=max((each[0] for each in said if "partitions" in each[2]), default=0.0),
            said=said,
            coordinator=[(round(line.at - began, 3), line.text) for line in lines],
        )

    def _owned(self) -> dict[str, frozenset[TopicPartition]]:
        return {each.seat: each.owned() for each in self.processes if each.ended_at is None}

    def _settle(self) -> None:
        """Wait until coordinator and members agree, every partition is read, and it stays so for a moment."""
        rest: list[float] = []

        def is_at_rest() -> bool:
            if not self._is_settled():
                rest.clear()
                time.sleep(_LOOK_SECONDS)
                return False
            rest.append(time.monotonic())
            return rest[-1] - rest[0] >= _REST_SECONDS

        self._cluster.wait_for(is_at_rest, f"group {self.settings.name} at rest", SETTLE_SECONDS)

    def _is_settled(self) -> bool:
        owned = self._owned()
        if sorted(pair for part in owned.values() for pair in part) != sorted(self.partitions):
            return False
        if not all(self._reads(each) for each in self.processes if each.ended_at is None):
            return False
        try:
            described = describe(self._admin, self.settings.protocol, self.settings.name)
        except KafkaError:
            return False
        assigned = {seat: member.assigned for seat, member in described.members.items()}
        if not described.is_settled or assigned != owned:
            return False
        self._described = described
        return True

    @staticmethod
    def _reads(process: MemberProcess) -> bool:
        """Return whether a member has read from all its partitions since it was last given any."""
        read: set[TopicPartition] = set()
        for event in process.events():
            if event.name == "partitions_assigned":
                read -= set(event.partitions)
            elif event.name == "records_consumed":
                read |= set(event.partitions)
        return process.owned() <= read

    def _pauses(self, began: float) -> dict[str, float]:
        listed = tenures((each.seat, each.events()) for each in self.processes)
        return {_name(pair): round(ownerless_seconds(each, began), 3) for pair, each in listed.items()}

    def _silences(self, began: float, settled: float) -> dict[str, float]:
        read_at: dict[TopicPartition, list[float]] = {pair: [] for pair in sorted(self.partitions)}
        for process in self.processes:
            for event in process.events():
                if event.name == "records_consumed":
                    for pair in event.partitions:
                        read_at[pair].append(event.at)
        return {
            _name(pair): round(unread_seconds(sorted(at), began, settled, self._interval_seconds), 3)
            for pair, at in read_at.items()
        }

    def _said(self, began: float) -> list[tuple[float, str, str, int]]:
        said = [
            (round(event.at - began, 3), process.seat, event.name, len(event.partitions))
            for process in self.processes
            for event in process.events()
            if event.at >= began and event.name != "records_consumed"
        ]
        return sorted(said)


def _listed(owned: dict[str, frozenset[TopicPartition]]) -> dict[str, list[TopicPartition]]:
    return {seat: sorted(part) for seat, part in owned.items()}


def _moved(before: dict[str, frozenset[TopicPartition]], after: dict[str, frozenset[TopicPartition]]) -> list[str]:
    had = {pair: seat for seat, part in before.items() for pair in part}
    has = {pair: seat for seat, part in after.items() for pair in part}
    return [_name(pair) for pair in sorted(has) if pair in had and has[pair] != had[pair]]


def _name(pair: TopicPartition) -> str:
    return f"{pair[0]}-{pair[1]}"
