"""Small moves to be scheduled, built valid rather than filtered, and a plain replay of what a schedule does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

from kafka_capacity.kafka.cluster.assignment import Partitions, replica_lists, replica_matrix
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.snapshot import LogDirs
from kafka_capacity.kafka.placement.log_dirs import place_log_dirs
from kafka_capacity.kafka.placement.problem import LogDirRoom
from kafka_capacity.kafka.reassignment.problem import MoveProblem, Order, Throttle, WaveSettings
from kafka_capacity.kafka.reassignment.schedule import Schedule, Wave


def move_problem_of(
    before,
    after,
    *,
    size=100,
    rate=0.0,
    throttle=10.0,
    brokers=None,
    racks=None,
    leader=None,
    in_sync=None,
    limits=None,
    dirs=None,
    log_dir=None,
    dir_limits=None,
    min_isr=1,
    network=None,
    read=0.0,
    **settings,
) -> MoveProblem:
    """Put a move in plain lists; settings by their names, ``pause_seconds`` 0 unless told."""
    count = len(before)
    ids = sorted({b for row in [*before, *after] for b in row}) if brokers is None else brokers
    rates = np.full(count, rate, dtype=np.float64) if np.isscalar(rate) else np.array(rate, dtype=np.float64)
    known = [] if dirs is None else dirs
    held = replica_matrix(before)
    given = throttle if isinstance(throttle, Throttle) else Throttle(bytes_per_second=float(throttle))
    wanted = replica_matrix(after)
    sizes = np.full(count, size, dtype=np.int64) if np.isscalar(size) else np.array(size, dtype=np.int64)
    log_dirs = np.full(held.shape, -1, dtype=np.int32) if log_dir is None else replica_matrix(log_dir)
    room = np.full(len(known), np.nan) if dir_limits is None else np.array(dir_limits, dtype=float)
    placed = place_log_dirs(
        before=held,
        after=wanted,
        size_bytes=sizes,
        room=LogDirRoom(
            broker_id=np.array(known, dtype=np.int32),
            limit_bytes=np.nan_to_num(room, nan=np.inf),
            before=log_dirs,
            takes_replicas=np.ones(len(known), dtype=bool),
        ),
    )
    return MoveProblem(
        partitions=Partitions(
            topics=("orders",), topic=np.zeros(count, dtype=np.int32), partition=np.arange(count, dtype=np.int32)
        ),
        brokers=ids
        if isinstance(ids, Brokers)
        else Brokers.of(ids, racks, network_in_bytes_per_second=network, network_out_bytes_per_second=network),
        before=held,
        after=wanted,
        leader=np.array([row[0] for row in before] if leader is None else leader, dtype=np.int32),
        in_sync=held >= 0 if in_sync is None else np.array(in_sync, dtype=bool) & (held >= 0),
        size_bytes=sizes,
        min_insync_replicas=np.full(count, min_isr, dtype=np.int32),
        bytes_in_bytes_per_second=np.stack([np.zeros(count), rates, 2 * rates]),
        bytes_out_bytes_per_second=np.full((3, count), float(read)),
        throttle=given,
        disk_limit_bytes=np.full(len(ids), np.nan) if limits is None else np.array(limits, dtype=np.float64),
        disk_bytes_per_second=np.full(len(ids), np.nan),
        log_dirs=LogDirs(
            broker_id=np.array(known, dtype=np.int32),
            path=tuple(f"/disk{i}" for i in range(len(known))),
            total_bytes=np.full(len(known), 1e6),
            usable_bytes=np.full(len(known), np.nan),
        ),
        log_dir=log_dirs,
        log_dir_limit_bytes=room,
        log_dir_after=placed.log_dir if len(set(known)) < len(known) else None,
        settings=WaveSettings(**{"pause_seconds": 0.0, **settings}),
    )


@st.composite
def move_problems(draw: st.DrawFn, *, can_limit: bool = True, **fixed) -> MoveProblem:
    """Draw a cluster of up to six brokers and a target."""
    ids = sorted(draw(st.lists(st.integers(0, 12), min_size=2, max_size=6, unique=True)))
    count = draw(st.integers(1, 10))
    most = min(3, len(ids))
    before = [list(draw(st.permutations(ids))[: draw(st.integers(1, most))]) for _ in range(count)]
    after = [
        row if draw(st.integers(0, 3)) == 0 else list(draw(st.permutations(ids))[: draw(st.integers(1, most))])
        for row in before
    ]
    size = [draw(st.integers(0, 20)) for _ in range(count)]
    behind = draw(st.integers(0, 3)) == 0
    width = max(len(row) for row in before)
    in_sync = [[not behind or draw(st.booleans()) for _ in range(width)] for _ in before]
    leader = [
        next((b for b, ok in zip(row, oks, strict=False) if ok), -1) for row, oks in zip(before, in_sync, strict=True)
    ]
    per_broker = draw(st.lists(st.integers(0, 2), min_size=len(ids), max_size=len(ids)))
    dirs = [broker for broker, many in zip(ids, per_broker, strict=True) for _ in range(many)]
    log_dir = [[_draw_dir(draw, dirs, broker) for broker in row] for row in before]
    held = {b: [sum(s for row, s in zip(rows, size, strict=True) if b in row) for rows in (before, after)] for b in ids}
    limits, dir_limits = None, None
    if can_limit and draw(st.booleans()):
        limits = [draw(st.sampled_from([np.nan, max(held[b]) + draw(st.integers(-3, 20))])) for b in ids]
        dir_limits = [draw(st.sampled_from([np.nan, float(draw(st.integers(0, 120)))])) for _ in dirs]
    settings = {
        "max_concurrent_moves_per_broker": draw(st.sampled_from([None, 1, 2])),
        "max_wave_seconds": draw(st.sampled_from([None, 3.0])),
        "max_traffic_ratio": draw(st.sampled_from([None, 0.5])),
        "pause_seconds": draw(st.sampled_from([0.0, 60.0])),
        "orders": tuple(draw(st.permutations(list(Order)))),
    }
    return move_problem_of(
        before,
        after,
        size=size,
        rate=[draw(st.integers(0, 3)) for _ in range(count)],
        throttle=draw(st.integers(1, 40)),
        brokers=ids,
        racks=[draw(st.sampled_from(["a", "b", "c"])) for _ in ids] if draw(st.booleans()) else None,
        leader=leader,
        in_sync=in_sync,
        limits=limits,
        dirs=dirs,
        log_dir=log_dir,
        dir_limits=dir_limits,
        min_isr=draw(st.integers(1, 2)),
        **{**settings, **fixed},
    )


def _draw_dir(draw: st.DrawFn, dirs: list[int], broker: int) -> int:
    own = [index for index, owner in enumerate(dirs) if owner == broker]
    return draw(st.sampled_from(own)) if own else -1


@dataclass
class Replayed:
    """A cluster in plain lists, changed by one wave after another."""

    problem: MoveProblem
    replicas: list[list[int]] = field(default_factory=list)
    in_sync: list[set[int]] = field(default_factory=list)
    leader: list[int] = field(default_factory=list)
    dirs: list[dict[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        problem = self.problem
        self.replicas = replica_lists(problem.before)
        self.leader = problem.leader.tolist()
        for row, brokers in enumerate(self.replicas):
            self.in_sync.append({b for column, b in enumerate(brokers) if problem.in_sync[row, column]})
            self.dirs.append({b: int(problem.log_dir[row, column]) for column, b in enumerate(brokers)})

    def held(self) -> dict[int, int]:
        """Sum the bytes on each broker."""
        held = dict.fromkeys(self.problem.brokers.ids.tolist(), 0)
        for row, brokers in enumerate(self.replicas):
            for broker in brokers:
                held[broker] += int(self.problem.size_bytes[row])
        return held

    def dir_held(self) -> list[int]:
        """Sum the bytes in each directory."""
        held = [0] * len(self.problem.log_dirs.path)
        for row, places in enumerate(self.dirs):
            for log_dir in places.values():
                if log_dir >= 0:
                    held[log_dir] += int(self.problem.size_bytes[row])
        return held

    def changes(self, wave: Wave) -> Iterator[tuple[int, list[int], list[int], dict[int, int]]]:
        """Return what a wave does: partition, replicas before and after, directories of the joining ones."""
        lists = zip(
            wave.rows.tolist(), replica_lists(wave.replicas_before), replica_lists(wave.replicas_after), strict=True
        )
        for number, (row, before, after) in enumerate(lists):
            yield row, before, after, {b: int(wave.log_dirs_after[number, c]) for c, b in enumerate(after)}

    def apply(self, wave: Wave) -> None:
        """Do what a wave does, as Kafka's controller would."""
        for number, (row, before, after, places) in enumerate(self.changes(wave)):
            assert self.replicas[row] == before
            joining = set(after) - set(before)
            self.in_sync[row] = (self.in_sync[row] & set(after)) | joining
            self.dirs[row] = {b: places[b] if b in joining else self.dirs[row][b] for b in after}
            self.replicas[row] = after
            assert wave.leaders_before[number] == self.leader[row]
            if self.leader[row] >= 0 and self.leader[row] not in after:
                self.leader[row] = next((b for b in after if b in self.in_sync[row]), -1)
            if wave.elects[number]:
                assert after[0] in self.in_sync[row]
                assert after[0] != self.leader[row]
                self.leader[row] = after[0]
            assert wave.leaders_after[number] == self.leader[row]

    def roll_back(self, wave: Wave) -> None:
        """Put the partitions of a wave back where it found them."""
        for row, before, after, _ in self.changes(wave):
            assert self.replicas[row] == after
            self.replicas[row] = before


def replayed(schedule: Schedule) -> Iterator[tuple[Replayed, Wave]]:
    """Return the cluster before each wave, and the wave; it is applied when the next is asked for."""
    cluster = Replayed(schedule.problem)
    for wave in schedule.waves:
        yield cluster, wave
        cluster.apply(wave)
