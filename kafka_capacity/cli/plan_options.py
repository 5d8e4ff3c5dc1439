"""The options of a plan: the fields of the request model under the names that people type.

Defaults, limits and descriptions are the model's; the tables below only say what each field is called here. A command
takes a table of them with :func:`takes`.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.placement import Balance, RackRule
from kafka_capacity.plan.request import PlanRequest, parse_plan_request
from kafka_capacity.questions.change.move_schedule import WaveOrder
from kafka_capacity.questions.consumers.grid import StaticMembership


def split_names(text: str) -> list[str]:
    """Split ``a,b``."""
    return [part.strip() for part in text.split(",") if part.strip()]


def split_counts(text: str) -> list[int | str]:
    """Split ``12,15``; what is no number is left for the model to refuse."""
    return [int(part) if part.isascii() and part.isdecimal() else part for part in split_names(text)]


def split_pairs(option: str, form: str = "OLD=NEW") -> Callable[[list[str]], dict[str, str]]:
    """Give what reads ``OLD=NEW`` as often as it is typed for an option."""

    def parse(typed: list[str]) -> dict[str, str]:
        pairs: dict[str, str] = {}
        for text in typed:
            old, equals, new = (part.strip() for part in text.partition("="))
            if not equals or not old or not new:
                raise RequestError(f"{option}: {text!r} is refused: write {form}")
            if pairs.setdefault(old, new) != new:
                raise RequestError(f"{option}: {old!r} is refused: it is given {pairs[old]!r} and {new!r}; choose one")
        return pairs

    return parse


def pins_by_topic(typed: list[str]) -> dict[str, list[str]]:
    """Read ``TOPIC=1,2,rack:a`` as often as it is typed; for one topic typed twice, the brokers of both.

    Raises:
        RequestError: there is no ``=``, or nothing on one side of it.
    """
    pins: dict[str, list[str]] = {}
    for text in typed:
        topic, equals, places = text.rpartition("=")
        if not equals or not topic or not split_names(places):
            raise RequestError(f"--pin: {text!r} is refused: write TOPIC=1,2,3 or TOPIC=rack:a")
        pins.setdefault(topic, []).extend(split_names(places))
    return pins


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldOption:
    """One field of the request as an option.

    Attributes:
        field: of the model.
        name: as people type it.
        kind: what typer makes of it.
        metavar: what stands for its value in the help, ``None`` for typer's own.
        more: said after the field's description.
        parse: makes the field's value of what was typed; ``None`` takes it as it is.
    """

    field: str
    name: str
    kind: Any
    metavar: str | None = None
    more: str = ""
    parse: Callable[[Any], Any] | None = None

    def annotation(self) -> Any:
        """Give what typer reads; not given, the model's default holds."""
        described = PlanRequest.model_fields[self.field]
        text = f"{described.description or ''} {self.more}".strip()
        if described.default not in (None, (), {}):
            default = described.default
            shown = ", ".join(map(str, default)) if isinstance(default, tuple) else f"{default}"
            text += f" Default: {shown}."
        option = typer.Option(self.name, metavar=self.metavar, help=text, show_default=False)
        return Annotated[self.kind | None, option]


_COMMAS = "Here with commas between them."
_REPEATED = "May be repeated."
_REPEATED_PAIRS = "Here as OLD=NEW. May be repeated."


def _pairs(field: str, name: str) -> FieldOption:
    parse = split_pairs(name)
    return FieldOption(field=field, name=name, kind=list[str], metavar="OLD=NEW", parse=parse, more=_REPEATED_PAIRS)


SEED_OPTION = FieldOption(field="seed", name="--seed", kind=int)

PLACEMENT_OPTIONS = (
    FieldOption(
        field="broker_counts", name="--broker-counts", kind=str, metavar="N,…", parse=split_counts, more=_COMMAS
    ),
    FieldOption(
        field="new_broker_racks", name="--new-broker-racks", kind=str, metavar="RACK,…", parse=split_names, more=_COMMAS
    ),
    FieldOption(
        field="removed_brokers", name="--remove-brokers", kind=str, metavar="ID,…", parse=split_counts, more=_COMMAS
    ),
    _pairs("replaced_brokers", "--replace-broker"),
    _pairs("rack_names", "--rename-rack"),
    FieldOption(field="placers", name="--placer", kind=list[str], metavar="NAME", more=_REPEATED),
    FieldOption(field="replication_factor", name="--replication-factor", kind=int),
    FieldOption(
        field="partition_counts",
        name="--partitions",
        kind=list[str],
        metavar="TOPIC=N",
        parse=split_pairs("--partitions", "TOPIC=N"),
        more="Here as TOPIC=N. May be repeated.",
    ),
    FieldOption(field="rack_rule", name="--rack-rule", kind=RackRule),
    FieldOption(field="balance", name="--balance", kind=Balance),
    FieldOption(field="tolerance_ratio", name="--tolerance", kind=float, metavar="RATIO"),
    FieldOption(field="disk_limit_ratio", name="--disk-limit", kind=float, metavar="RATIO"),
    FieldOption(
        field="pinned_topics",
        name="--pin",
        kind=list[str],
        metavar="TOPIC=BROKER,…",
        parse=pins_by_topic,
        more="Here as audit=1,2,3 or 'payments.*=rack:a,rack:b'. May be repeated.",
    ),
    FieldOption(field="most_replicas_per_broker", name="--most-replicas", kind=int),
    FieldOption(field="max_leaders_per_broker", name="--max-leaders", kind=int),
)

MOVE_OPTIONS = (
    FieldOption(field="throttle_bytes_per_second", name="--throttle", kind=float, metavar="BYTES/S"),
    FieldOption(
        field="throttles_bytes_per_second",
        name="--throttles",
        kind=str,
        metavar="BYTES/S,…",
        parse=split_names,
        more=_COMMAS,
    ),
    FieldOption(field="is_throttle_automatic", name="--throttle-auto", kind=bool),
    FieldOption(field="headroom_ratio", name="--headroom", kind=float, metavar="RATIO"),
    FieldOption(field="disk_bytes_per_second", name="--disk-rate", kind=float, metavar="BYTES/S"),
    FieldOption(field="most_moves_per_broker", name="--moves-per-broker", kind=int),
    FieldOption(field="longest_wave_hours", name="--wave-hours", kind=float, metavar="HOURS"),
    FieldOption(field="most_traffic_ratio", name="--most-traffic", kind=float, metavar="RATIO"),
    FieldOption(field="pause_seconds", name="--pause", kind=float, metavar="SECONDS"),
    FieldOption(field="fetchers", name="--fetchers", kind=int),
    FieldOption(field="fetcher_bytes_per_second", name="--fetcher-rate", kind=float, metavar="BYTES/S"),
    FieldOption(field="wave_order", name="--wave-order", kind=WaveOrder),
    FieldOption(field="is_leadership_first_tried", name="--leadership-first/--no-leadership-first", kind=bool),
    FieldOption(field="are_detours_allowed", name="--detours/--no-detours", kind=bool),
)


def _seconds(field: str, name: str) -> FieldOption:
    return FieldOption(field=field, name=name, kind=float, metavar="SECONDS")


def _names(field: str, name: str) -> FieldOption:
    return FieldOption(field=field, name=name, kind=str, metavar="NAME,…", parse=split_names, more=_COMMAS)


GROUP_OPTIONS = (
    FieldOption(field="groups", name="--group", kind=list[str], metavar="NAME", more=_REPEATED),
    FieldOption(
        field="consumer_counts", name="--consumer-counts", kind=str, metavar="N,…", parse=split_counts, more=_COMMAS
    ),
    _names("group_assignors", "--assignors"),
    _names("group_protocols", "--protocols"),
    FieldOption(field="static_membership", name="--static", kind=StaticMembership),
    _names("group_events", "--events"),
    _seconds("lag_slo_seconds", "--lag-slo"),
    _seconds("catch_up_limit_seconds", "--catch-up-limit"),
    FieldOption(field="consumer_failures", name="--failures", kind=int),
    FieldOption(field="member_capacity_bytes_per_second", name="--member-capacity", kind=float, metavar="BYTES/S"),
    FieldOption(field="partitions_factor", name="--partitions-factor", kind=int),
    FieldOption(field="broker_heap_bytes", name="--broker-heap", kind=int, metavar="BYTES"),
    _seconds("heartbeat_interval_seconds", "--heartbeat-interval"),
    _seconds("session_timeout_seconds", "--session-timeout"),
    _seconds("server_heartbeat_interval_seconds", "--server-heartbeat-interval"),
    _seconds("server_session_timeout_seconds", "--server-session-timeout"),
    _seconds("max_poll_interval_seconds", "--max-poll-interval"),
    _seconds("auto_commit_interval_seconds", "--commit-interval"),
    _seconds("metadata_max_age_seconds", "--metadata-max-age"),
    _seconds("poll_seconds", "--poll-time"),
    _seconds("restart_seconds", "--restart-time"),
    _seconds("settle_seconds", "--settle-time"),
    _seconds("slow_seconds", "--slow-time"),
)

ALL_OPTIONS = (*PLACEMENT_OPTIONS, *MOVE_OPTIONS, *GROUP_OPTIONS, SEED_OPTION)


def takes(*options: FieldOption) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command whose parameter ``given`` gets what was typed of these options, as fields of the request.

    The options stand in the help where ``given`` stands among the parameters. Whatever is refused on the way, however
    late, is told under the names of these options: all below here knows the fields only.
    """
    names = {option.field: option.name.partition("/")[0] for option in options}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        added = [
            inspect.Parameter(
                option.field, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option.annotation()
            )
            for option in options
        ]
        parameters: list[inspect.Parameter] = []
        for parameter in signature.parameters.values():
            is_given = parameter.name == "given"
            parameters += added if is_given else [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)]

        @functools.wraps(command)
        def wrapper(**typed: Any) -> None:
            given = {}
            for option in options:
                value = typed.pop(option.field)
                if value not in (None, []):
                    read = value if option.parse is None else option.parse(value)
                    if read in ("", []):
                        raise RequestError(
                            f"{option.name}: {value!r} is refused: write a value, or leave the option out"
                        )
                    given[option.field] = read
            with named_as_options(names):
                command(given=given, **typed)

        # What typer reads: the command's own parameters, with ours in the place of "given".
        wrapper.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # a function may carry one
        wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return wrapper

    return decorate


def request_of(cluster: str, ds: str, given: Mapping[str, Any]) -> PlanRequest:
    """Parse the options that were given, with the model that every plan is parsed with.

    Args:
        cluster: of the snapshot.
        ds: of the snapshot.
        given: fields of the request; ``None`` and empty ones were not given.

    Raises:
        RequestError: one line for each wrong field, under its name; :func:`takes` says the options'.
    """
    fields = {name: value for name, value in given.items() if value not in (None, [], ())}
    return parse_plan_request({"cluster": cluster, "ds": ds, **fields})


@contextmanager
def named_as_options(option_of_field: Mapping[str, str]) -> Iterator[None]:
    """Tell what is refused inside under the names that people typed; everything below the commands knows fields."""
    try:
        yield
    except RequestError as error:
        raise RequestError(in_names_of_options(str(error), option_of_field)) from error


def in_names_of_options(text: str, option_of_field: Mapping[str, str]) -> str:
    """Say ``--throttle`` where a complaint begins with ``throttle_bytes_per_second``, or names it later on.

    Which of several values is wrong shows in the value itself; which field of which object does not, and is kept.
    """
    for field, option in option_of_field.items():
        text = re.sub(rf"^{field}\.(\d+\.[^:\s]+)", rf"{option} \1", text, flags=re.MULTILINE)
        text = re.sub(rf"^{field}\b(\.[^:\s]+)?", option, text, flags=re.MULTILINE)
        if "_" in field:  # the others are words
            text = re.sub(rf"\b{field}\b", option, text)
    return text


Snapshot = Annotated[str, typer.Option(metavar="DIR", help="The folder of a native snapshot, or an s3:// address.")]
BrokersFile = Annotated[
    Path | None,
    typer.Option(
        exists=True,
        dir_okay=False,
        metavar="B2.json",
        help='The whole list of brokers wanted, [{"id": 1, "rack": "a"}, …] with optional disk_capacity_bytes and '
        "network_in/out_bytes_per_second: one that is not listed is removed, one that is new does not exist yet. "
        "What is left out stays as observed; a new broker has the median capacities. Instead of --broker-counts.",
    ),
]
