"""Measure how long real groups pause, in every protocol, at every event; long, for by hand.

    python -m tests.live.measure_groups OUT                          all groups, some fifteen minutes
    python -m tests.live.measure_groups OUT classic-range …          some of them
    python -m tests.live.measure_groups OUT --repeats 5 --heartbeat 1

Writes ``OUT/<group>.json``, every event with all that members and coordinator said, and ``OUT/groups.md``, a table of
all that is in ``OUT``.
Fails where an assignment or a number of rebalances is not what :mod:`kafka_capacity.kafka.groups` says.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from kafka_capacity.kafka.groups import GroupProtocol
from tests.live.clients import make_topics
from tests.live.cluster import KafkaCluster
from tests.live.groups.bands import band_of
from tests.live.groups.coordinator import topic_id
from tests.live.groups.live_group import GroupEvent, LiveGroup
from tests.live.groups.load import SteadyLoad
from tests.live.groups.predicted import Expected, predicted
from tests.live.groups.settings import GroupSettings, group_cluster

TOPIC = "orders"
PARTITIONS = 12
SESSION_SECONDS = 10.0
AT_ONCE = 2
ASSIGNORS = (
    (GroupProtocol.CLASSIC, "range"),
    (GroupProtocol.CLASSIC, "roundrobin"),
    (GroupProtocol.CLASSIC, "cooperative-sticky"),
    (GroupProtocol.CONSUMER, "uniform"),
    (GroupProtocol.CONSUMER, "range"),
)


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happens to a group; ``is_scattered``: after its heartbeats were spread over time."""

    event: str
    seat: str
    is_scattered: bool = False


@dataclass(frozen=True, slots=True)
class Measured:
    """An event, and what the model of the assignors says it leads to."""

    event: GroupEvent
    expected: Expected

    @property
    def is_as_expected(self) -> bool:
        """Whether who reads what, and the number of rebalances, are as predicted."""
        seen, said = self.event, self.expected
        return (seen.assignment_after, seen.rebalances) == (said.assignment, said.rebalances)


def groups(classic_heartbeat: float, consumer_heartbeat: float) -> list[GroupSettings]:
    """Return all groups: each assignor with dynamic members and with static ones."""
    beats = {GroupProtocol.CLASSIC: classic_heartbeat, GroupProtocol.CONSUMER: consumer_heartbeat}
    return [
        GroupSettings(
            protocol=protocol,
            assignor=name,
            topic=TOPIC,
            is_static=is_static,
            heartbeat_seconds=beats[protocol],
            session_seconds=SESSION_SECONDS,
        )
        for is_static in (False, True)
        for protocol, name in ASSIGNORS
    ]


def script(settings: GroupSettings, repeats: int) -> Iterator[Step]:
    """Describe what happens to a group: three members, a fourth comes and goes, all are restarted one by one."""
    trio = ("a", "b", "c")
    yield from (Step("join", seat) for seat in trio)
    if settings.is_static:
        for _ in range(repeats):
            yield from (Step("restart", seat) for seat in trio)
        yield from (Step("leave", "c"), Step("join", "c"), Step("crash", "b"))
        return
    is_classic = settings.protocol is GroupProtocol.CLASSIC
    for _ in range(repeats):
        yield from (Step(event, "d", is_scattered=is_classic) for event in ("join", "leave", "join", "crash"))
        if is_classic:
            yield from (Step("join", "d"), Step("leave", "d"))
    for is_scattered in (False, True) if is_classic else (False,) * 2:
        yield from (Step("restart", seat, is_scattered=is_scattered) for seat in trio)


def measure(cluster: KafkaCluster, settings: GroupSettings, repeats: int, seed: str, out: Path) -> list[Measured]:
    """Play the script to one group, each step at a random moment of the heartbeat interval; write what was seen."""
    draw = random.Random(f"{seed} {settings.name}")
    with cluster.admin() as admin:
        prediction = predicted(settings, PARTITIONS, topic_id(admin, TOPIC))
    measured: list[Measured] = []
    with LiveGroup(cluster, settings, PARTITIONS) as group:
        for step in script(settings, repeats):
            if step.is_scattered:
                group.scatter(draw)
            time.sleep(draw.uniform(0, settings.heartbeat_seconds))
            event = group.play(step.event, step.seat)
            measured.append(Measured(event, prediction.expect(event)))
            write_json(out, settings.name, measured)
            sys.stdout.write(f"{settings.name} {step.event} {step.seat}: {event.duration_seconds:.1f} s\n")
            sys.stdout.flush()
    return measured


def write_json(folder: Path, name: str, measured: Sequence[Measured]) -> None:
    """Write all that was seen of one group."""
    rows = [
        dataclasses.asdict(each.event)
        | {"expected": dataclasses.asdict(each.expected), "is_as_expected": each.is_as_expected}
        for each in measured
    ]
    (folder / f"{name}.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")


def read_json(folder: Path) -> list[Measured]:
    """Read what was seen of all groups."""
    measured = []
    for path in sorted(folder.glob("*.json")):
        for row in json.loads(path.read_text(encoding="utf-8")):
            for parts in (row["assignment_before"], row["assignment_after"], row["expected"]["assignment"]):
                parts.update({seat: [tuple(pair) for pair in part] for seat, part in parts.items()})
            expected = Expected(**row.pop("expected"))
            del row["is_as_expected"]
            measured.append(Measured(GroupEvent(**row), expected))
    return measured


def table(measured: Sequence[Measured], partitions: int = PARTITIONS) -> str:
    """Draw a table, a row for each group and kind of event: what was predicted beside what was measured."""
    kinds: dict[tuple[str, str], list[Measured]] = {}
    for each in measured:
        event = each.event
        if not event.members_before:
            continue  # nobody had anything that could pause
        members = f"{len(event.members_before)} → {len(event.members_after)}"
        kind = f"{event.event} ({members}{', apart' if event.is_scattered else ''})"
        kinds.setdefault((event.group, kind), []).append(each)
    head = (
        "| group | event | times | assignment and rebalances as predicted | rebalances | moved "
        "| longest pause predicted, s | measured, s | within |\n|---|---|---|---|---|---|---|---|---|\n"
    )
    return head + "".join(_row(group, kind, listed, partitions) for (group, kind), listed in kinds.items())


def _row(group: str, kind: str, listed: Sequence[Measured], partitions: int) -> str:
    events = [each.event for each in listed]
    found = [(band_of(event, partitions), max(event.pauses.values())) for event in events]
    bands = [(band, longest) for band, longest in found if band is not None]
    good = sum(each.is_as_expected for each in listed)
    within = sum(band.holds(longest) for band, longest in bands)
    cells = [
        group,
        kind,
        str(len(listed)),
        f"{good} of {len(listed)}",
        "/".join(str(number) for number in sorted({event.rebalances for event in events})),
        "/".join(str(number) for number in sorted({len(event.moved) for event in events})),
        f"{min(band.low for band, _ in bands):.2f} – {max(band.high for band, _ in bands):.2f}",
        ", ".join(f"{longest:.2f}" for _, longest in bands),
        f"{within} of {len(bands)}",
    ]
    return f"| {' | '.join(cells)} |\n"


def main(words: Sequence[str] | None = None) -> int:
    """Measure, write, and say whether all is as predicted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*", metavar="group")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--heartbeat", type=float, default=3.0, help="of classic groups, in seconds")
    parser.add_argument("--consumer-heartbeat", type=float, default=5.0, help="of KIP-848 groups, in seconds")
    parser.add_argument("--seed", default="1")
    chosen = parser.parse_args(words)
    known = groups(chosen.heartbeat, chosen.consumer_heartbeat)
    wanted = [each for each in known if each.name in chosen.names or not chosen.names]
    chosen.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        workdir = Path(folder) / "kafka"
        beat = chosen.consumer_heartbeat
        with group_cluster(workdir, heartbeat_seconds=beat, session_seconds=SESSION_SECONDS) as cluster:
            make_topics(cluster, {TOPIC: (PARTITIONS, 3)})
            with SteadyLoad(cluster, TOPIC, PARTITIONS), ThreadPoolExecutor(AT_ONCE) as pool:
                how = (chosen.repeats, chosen.seed, chosen.out)
                lives = [pool.submit(measure, cluster, each, *how) for each in wanted]
                measured = [each for life in lives for each in life.result()]
    drawn = table(read_json(chosen.out))
    (chosen.out / "groups.md").write_text(drawn, encoding="utf-8")
    sys.stdout.write(drawn)
    return 0 if all(each.is_as_expected for each in measured) else 1


if __name__ == "__main__":
    sys.exit(main())
