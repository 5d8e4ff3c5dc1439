"""What a team does, wave by wave, as plain data: steps and their commands, forward and back; words are the report's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafka_capacity.kafka.arrays import Flags, Int32s
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.release import KAFKA_4_2, KAFKA_4_3, KAFKA_4_4
from kafka_capacity.kafka.reassignment.kafka_json import WaveFiles
from kafka_capacity.kafka.reassignment.problem import MoveProblem
from kafka_capacity.kafka.reassignment.schedule import COPIES, Schedule, Wave, WaveKind

WAVES_FOLDER = "waves/"  # where the files of waves are, seen from the runbook

SERVERS = "--bootstrap-server $BOOTSTRAP $COMMAND_CONFIG"  # variables of the shell: where brokers are, how to sign in
_CORDONS = "cordoned.log.dirs"
_CLOSE = f"--add-config '{_CORDONS}=*'"
_REASSIGN = f"kafka-reassign-partitions.sh {SERVERS} --reassignment-json-file"
_ELECT = "kafka-leader-election.sh {} --election-type preferred --path-to-json-file {}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunbookStep:
    """One thing to do."""

    # in a word or two: `start`, `cordon`, `check`, `execute`, `throttle`, `watch`, `verify`, `elect`, `wait`,
    # `confirm`; to go back `cancel`, `leave out`, `uncordon`, `roll back`, `cordon again`
    does: str
    commands: tuple[str, ...] = ()  # to be run in a shell, in this order; may be empty
    seconds: float | None = None  # how long to wait, `None` where the step is something else
    # ids and racks, by id: of those that must be there, that are down, or that are down and named in the way back
    brokers: tuple[tuple[int, str | None], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunbookWave:
    """The steps of a wave; to execute one that headroom leaves no throttle for there is no command."""

    number: int  # of the wave, from 1
    kind: str  # of the wave
    partitions: int  # how many it changes
    throttle_bytes_per_second: int | None  # for `--throttle`, `None` where nothing is copied, or headroom leaves none
    files: tuple[tuple[str, str], ...]  # name and sha256 of each file, by name
    steps: tuple[RunbookStep, ...]  # forward
    back: tuple[RunbookStep, ...]  # to go back, while it runs and once it is done


def runbook_page(schedule: Schedule, wave: Wave, files: WaveFiles) -> RunbookWave:
    """Write the page of one wave, whose files are at hand."""
    # Replicas whose size nobody knows are copied too; going back copies what was removed.
    copies, returns = wave.kind in COPIES, bool(_removed(wave).any())
    rate = _rate(schedule, wave.throttle_bytes_per_second)
    # Where headroom leaves none for the way back, it is that of the wave, which went that way: back it must go.
    rate_back = (_rate(schedule, _throttle_back(schedule, wave)) or (rate if copies else None)) if returns else None
    throttle = rate if copies else None
    limit, limit_back = ("" if one is None else f" --throttle {one}" for one in (throttle, rate_back))
    execute, rollback = (f"{_REASSIGN} {WAVES_FOLDER}{each.name}" for each in (files.execute, files.rollback))
    undone, brokers = files.rollback_election, schedule.problem.brokers
    # The tool sets a throttle on brokers that are down too, waits for them in vain, and then starts nothing.
    down = brokers.is_fenced & np.isin(brokers.ids, wave.replicas_before) & (throttle is not None)
    runs = (f"{execute} --execute{limit}", *((f"{execute} --execute",) if down.any() else ()))
    steps = [
        *_start(schedule, wave),
        *_cordon(schedule, wave),
        RunbookStep(
            does="check",
            commands=(
                *(f'echo "{each.sha256}  {WAVES_FOLDER}{each.name}" | sha256sum --check' for each in files.listed()),
                f"kafka-reassign-partitions.sh {SERVERS} --list",
                f"kafka-topics.sh {SERVERS} --describe --under-replicated-partitions",
            ),
            brokers=_named(brokers, brokers.is_fenced & np.isin(brokers.ids, schedule.problem.before)),
        ),
        RunbookStep(does="execute", commands=() if copies and rate is None else runs, brokers=_named(brokers, down)),
        *_higher_throttles(schedule, wave, throttle),
        RunbookStep(does="watch", commands=(f"kafka-reassign-partitions.sh {SERVERS} --list",)),
        RunbookStep(does="verify", commands=(f"{execute} --verify",)),
    ]
    if files.election is not None:
        steps.append(RunbookStep(does="elect", commands=(_elect(schedule, files.election.name),)))
    if returns and wave.number < len(schedule.waves):
        steps.append(RunbookStep(does="wait", seconds=schedule.problem.settings.pause_seconds))
    steps += _confirm(schedule, wave)
    if copies and rate is None:
        steps = [step for step in steps if step.does in ("start", "check", "execute")]
    back = (
        []
        if copies and rate is None
        else [
            RunbookStep(does="cancel", commands=(f"{execute} --cancel",)),
            *_leave_out(schedule, wave, WAVES_FOLDER + files.rollback.name),
            *_uncordon(schedule, wave),
            RunbookStep(
                does="roll back",
                commands=(
                    *(() if returns and rate_back is None else (f"{rollback} --execute{limit_back}",)),
                    f"{rollback} --verify",
                    *((_elect(schedule, undone.name),) if undone is not None else ()),
                ),
            ),
            *_cordon_again(schedule, wave),
        ]
    )
    return RunbookWave(
        number=wave.number,
        kind=str(wave.kind),
        partitions=len(wave.rows),
        throttle_bytes_per_second=throttle,
        files=tuple((each.name, each.sha256) for each in files.listed()),
        steps=tuple(steps),
        back=tuple(back),
    )


def _rate(schedule: Schedule, bytes_per_second: float) -> int | None:
    """Return a throttle as Kafka's tool takes it, ``None`` where the headroom that was asked for leaves none.

    It takes none of 0, and any other would take that headroom.
    """
    if schedule.problem.throttle.is_automatic and bytes_per_second < 1:
        return None
    return max(1, math.floor(bytes_per_second))


def _throttle_back(schedule: Schedule, wave: Wave) -> float:
    """Return the throttle of the way back: an automatic one is the smallest of those who send and receive then."""
    if not schedule.problem.throttle.is_automatic:
        return wave.throttle_bytes_per_second
    returns = _removed(wave)
    senders = wave.leaders_after[returns.any(axis=1)]
    place, given = schedule.problem.brokers.index_of, schedule.throttles
    receives = given.in_bytes_per_second[place(wave.replicas_before[returns])]
    sends = given.out_bytes_per_second[place(senders[senders >= 0])]
    return float(np.concatenate([receives, sends]).min())


def _leave_out(schedule: Schedule, wave: Wave, file: str) -> list[RunbookStep]:
    """Take lists with a broker that is down out of the way back: Kafka's tool refuses the whole file otherwise."""
    brokers = schedule.problem.brokers
    down = brokers.is_fenced & np.isin(brokers.ids, wave.replicas_before)
    if not down.any():
        return []
    ids = brokers.ids[down].tolist()
    named = " or ".join(f". == {one}" for one in ids)
    commands = (
        f"cp -n {file} {file}.whole",
        f"jq '.partitions |= map(select(any(.replicas[]; {named}) | not))' {file}.whole > {file}",
    )
    is_all = np.isin(wave.replicas_before, ids).any(axis=1).all()
    return [RunbookStep(does="leave out", commands=() if is_all else commands, brokers=_named(brokers, down))]


def _named(brokers: Brokers, chosen: Flags) -> tuple[tuple[int, str | None], ...]:
    """Return ids and racks of brokers, bool[B], by id."""
    return tuple(sorted((int(brokers.ids[place]), brokers.racks[place]) for place in np.flatnonzero(chosen).tolist()))


def _elect(schedule: Schedule, name: str) -> str:
    """Return the command for preferred leaders (``LeaderElectionCommand``, which has ``--command-config`` from 4.2)."""
    is_old = schedule.problem.release < KAFKA_4_2
    flag = "$(echo $COMMAND_CONFIG | sed s/--command-config/--admin.config/)" if is_old else "$COMMAND_CONFIG"
    return _ELECT.format(SERVERS.replace("$COMMAND_CONFIG", flag), WAVES_FOLDER + name)


def _start(schedule: Schedule, wave: Wave) -> list[RunbookStep]:
    """Have the brokers that hold nothing yet before anything is copied; the tool lists those that are not fenced."""
    problem = schedule.problem
    copying = [each.number for each in schedule.waves if each.kind in COPIES]
    joining = np.setdiff1d(problem.after, problem.before) if problem.joining is None else problem.joining
    is_empty = np.isin(problem.brokers.ids, joining)
    if wave.number != min(copying, default=1) or not is_empty.any():
        return []
    found = _named(problem.brokers, is_empty)
    ids = "|".join(str(one) for one, _ in found)
    listed = f"kafka-broker-api-versions.sh {SERVERS} | grep -E '\\(id: ({ids}) '"
    return [RunbookStep(does="start", commands=(listed,), brokers=found)]


def _cordon(schedule: Schedule, wave: Wave) -> list[RunbookStep]:
    """Close brokers that are to be empty in the end before anything is copied off them (KIP-1066, from 4.3 on).

    Waves that hand over leadership only come before that: Kafka 4.4 refuses their lists, which name such a broker.
    """
    problem = schedule.problem
    copying = [each.number for each in schedule.waves if each.kind is not WaveKind.LEADERSHIP]
    ids = problem.brokers.ids[_are_leaving(problem) & ~problem.brokers.is_cordoned].tolist()
    if problem.release < KAFKA_4_3 or not ids or wave.number != min(copying, default=0):
        return []
    return [RunbookStep(does="cordon", commands=tuple(_alter(one, _CLOSE) for one in ids))]


def _uncordon(schedule: Schedule, wave: Wave) -> list[RunbookStep]:
    """Open again the brokers that come back, and from 4.4 on all that a rollback names: Kafka refuses it otherwise."""
    problem = schedule.problem
    closed = problem.brokers.ids[_are_leaving(problem) & ~problem.brokers.is_cordoned]
    ids = [*_come_back(closed, wave), *_cordoned_before(problem, wave)]
    if problem.release < KAFKA_4_3 or not ids or wave.kind is WaveKind.LEADERSHIP:
        return []
    return [RunbookStep(does="uncordon", commands=tuple(_alter(one, _as_before(problem, one)) for one in sorted(ids)))]


def _cordon_again(schedule: Schedule, wave: Wave) -> list[RunbookStep]:
    """Close again the brokers that were cordoned before anything was done, and were opened for the rollback alone."""
    ids = _cordoned_before(schedule.problem, wave)
    if not ids or wave.kind is WaveKind.LEADERSHIP:
        return []
    return [RunbookStep(does="cordon again", commands=tuple(_alter(one, _CLOSE) for one in ids))]


def _cordoned_before(problem: MoveProblem, wave: Wave) -> list[int]:
    """Return the brokers that were cordoned before anything was done, and that a rollback has to open."""
    if problem.release < KAFKA_4_4:
        return []
    return _come_back(problem.brokers.ids[problem.brokers.is_cordoned & ~problem.brokers.is_fenced], wave)


def _come_back(ids: Int32s, wave: Wave) -> list[int]:
    return [int(one) for one in np.intersect1d(ids, wave.replicas_before)]


def _as_before(problem: MoveProblem, broker: int) -> str:
    """Return the change that cordons what was: some directories of a broker that has others, else none."""
    dirs = problem.log_dirs
    own = [place for place in np.flatnonzero(dirs.broker_id == broker).tolist() if not dirs.takes_replicas[place]]
    if not own or len(own) == int((dirs.broker_id == broker).sum()):
        return f"--delete-config {_CORDONS}"
    return f"--add-config '{_CORDONS}=[{','.join(dirs.path[place] for place in own)}]'"


def _confirm(schedule: Schedule, wave: Wave) -> list[RunbookStep]:
    """Look whether brokers that are to be shut down are empty."""
    ids = schedule.problem.brokers.ids[_are_leaving(schedule.problem)].tolist()
    if not ids or wave.number != len(schedule.waves):
        return []
    brokers = ",".join(map(str, ids))
    return [RunbookStep(does="confirm", commands=(f"kafka-log-dirs.sh {SERVERS} --describe --broker-list {brokers}",))]


def _are_leaving(problem: MoveProblem) -> Flags:
    """Return bool[B], which brokers are to be shut down: one that is down already can be told and asked nothing."""
    return np.asarray(np.isin(problem.brokers.ids, problem.leaving) & ~problem.brokers.is_fenced, dtype=np.bool_)


def _alter(broker: int, change: str) -> str:
    return f"kafka-configs.sh {SERVERS} --entity-type brokers --entity-name {broker} --alter {change}"


def _removed(wave: Wave) -> Flags:
    """Return bool[n, W], which replicas a wave removes: going back copies them."""
    stays = (wave.replicas_before[:, :, None] == wave.replicas_after[:, None, :]).any(axis=2)
    return np.asarray((wave.replicas_before >= 0) & ~stays, dtype=np.bool_)


def _higher_throttles(schedule: Schedule, wave: Wave, throttle: int | None) -> list[RunbookStep]:
    """Raise the throttles of those brokers that may do more than the slowest one."""
    if throttle is None or not schedule.problem.throttle.is_automatic:
        return []
    line, given = schedule.brokers, schedule.throttles
    commands = []
    for at in np.flatnonzero(line.wave == wave.number).tolist():
        broker = int(line.broker_id[at])
        place = int(np.searchsorted(schedule.problem.brokers.ids, broker))
        rates = []
        for name, amount, rate in (
            ("leader", line.out_bytes[at], given.out_bytes_per_second[place]),
            ("follower", line.in_bytes[at], given.in_bytes_per_second[place]),
        ):
            if amount > 0 and math.floor(rate) > throttle:
                rates.append(f"{name}.replication.throttled.rate={math.floor(rate)}")
        if rates:
            commands.append(_alter(broker, f"--add-config {','.join(rates)}"))
    return [RunbookStep(does="throttle", commands=tuple(commands))] if commands else []


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPartitions:
    """Partitions that a topic gets, and the command for that, on brokers that are named.

    Source: ``TopicCommand`` of Kafka 4: ``--replica-assignment`` lists all partitions, those that exist too, and the
    tool passes over as many as there are; every list must have as many replicas as the first. ``--topic`` is a regular
    expression there, in which a dot would match other topics as well. Each topic is a request of its own: from 4.4 on
    Kafka refuses one that adds more than 10,000.
    """

    topic: str  # its name
    count_before: int  # how many it has
    # of each new partition, the preferred leader first; all lists are of one length
    replicas: tuple[tuple[int, ...], ...]
    moved_keys_ratio: float  # of records with keys, the share that goes to another partition than before

    @property
    def count_after(self) -> int:
        """How many partitions it has then."""
        return self.count_before + len(self.replicas)

    def command(self) -> str:
        r"""Return the command for a shell.

        >>> made = NewPartitions(topic="a.b", count_before=1, replicas=((2, 3), (3, 1)), moved_keys_ratio=0.5)
        >>> print(made.command().partition("--alter ")[2])
        --topic 'a\.b' --partitions 3 --replica-assignment 2:3,2:3,3:1
        """
        lists: Sequence[tuple[int, ...]] = [self.replicas[0]] * self.count_before + list(self.replicas)
        assignment = ",".join(":".join(map(str, brokers)) for brokers in lists)
        name = self.topic.replace(".", r"\.")
        return (
            f"kafka-topics.sh {SERVERS} --alter --topic '{name}' --partitions {self.count_after} "
            f"--replica-assignment {assignment}"
        )
