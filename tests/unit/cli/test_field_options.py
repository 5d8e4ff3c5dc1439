"""The options of the command line are the fields of the request: names, values, defaults and bounds."""

import itertools
import json
from pathlib import Path

import pytest
from typer.main import get_group

from kafka_capacity.cli.plan_options import NO_OPTIONS, FieldOption, fields_of
from kafka_capacity.plan.request import PlanRequest, parameter_schemas, parse_plan_request

FIELDS = fields_of(PlanRequest)
SCHEMAS = parameter_schemas()
COMMANDS = ("plan", "groups", "size", "failures", "durability", "report")


def options_of(commands, name):
    return {param.name: param for param in get_group(commands).commands[name].params}


def parsed(field, typed):
    value = FieldOption(field).read(typed)
    return getattr(parse_plan_request({"cluster": "c", field: value}), field)


def test_every_parameter_is_an_option_of_the_report_under_names_of_its_own(commands):
    found = options_of(commands, "report")
    names = list(itertools.chain.from_iterable(FieldOption(field).names for field in FIELDS))

    assert set(PlanRequest.model_fields) - set(NO_OPTIONS) == set(FIELDS)
    assert set(FIELDS) <= set(found)
    assert len(names) == len(set(names))


def test_a_parameter_has_one_primary_name_in_all_commands(commands):
    for command in COMMANDS:
        for field, param in options_of(commands, command).items():
            if field in FIELDS:
                assert param.opts[0] == FieldOption(field).names[0], (command, field)


def test_no_option_has_a_default_of_its_own(commands):
    for command in COMMANDS:
        assert {param.default for field, param in options_of(commands, command).items() if field in FIELDS} == {None}


@pytest.mark.parametrize("field", FIELDS)
def test_the_help_shows_the_default_and_the_form_knows_nothing_of_options(field):
    default = PlanRequest.model_fields[field].default
    shown = FieldOption(field).help()

    assert ("[default: " in shown) == (default not in (None, (), {}))
    assert not {"option", "metavar", "repeats"} & set(SCHEMAS[field])


@pytest.mark.parametrize(
    ("field", "typed", "value"),
    [
        ("throttle_bytes_per_second", "50MB/s", 50e6),
        ("throttles_bytes_per_second", ["50MB/s,100MB/s", "1e6"], (50e6, 100e6, 1e6)),
        ("broker_counts", ["12,15"], (12, 15)),
        ("placers", ["zk", "striped,modulo"], ("zk", "striped", "modulo")),
        ("groups", ["a,b", "c"], ("a,b", "c")),
        ("failure_sets", ["1,2,rack:a", "3"], ("1,2,rack:a", "3")),
        ("replaced_brokers", ["3=13", "4=14"], {3: 13, 4: 14}),
        ("pinned_topics", ["audit=1,2", "audit=rack:a=b"], {"audit": (1, 2, "rack:a=b")}),
        ("partition_counts", ["orders=24"], {"orders": 24}),
        ("disk_limit_ratio", "90%", 0.9),
        ("lag_slo_seconds", "1m", 60.0),
        ("max_wave_hours", "90m", 1.5),
        ("broker_heap_bytes", "6GiB", 6 * 2**30),
        ("balance", "replicas", "replicas"),
        ("are_detours_allowed", False, False),
    ],
)
def test_what_is_typed_becomes_the_value_of_the_field(field, typed, value):
    assert parsed(field, typed) == value


def test_earlier_names_are_still_understood(run, snapshot, tmp_path):
    events = tmp_path / "events.json"
    events.write_text(json.dumps([{"kind": "launch", "topics": "orders", "from_date": "2027-01-01", "factor": 2}]))
    start = ("plan", snapshot, "--broker-counts", "6", "--placer", "zk")
    for arguments in (
        (*start, "--most-replicas", "50", "--most-traffic", "1", "--replace-broker", "3=13"),
        ("groups", snapshot, "--events", "crash", "--failures", "0"),
        ("size", snapshot, "--events", events, "--broker-counts", "6"),
        ("failures", snapshot, "--brokers", "1,2", "--pairs", "--most-sets", "5", "--controller", "kraft-elr"),
        ("durability", snapshot, "--controller", "zookeeper", "--failures", "1"),
    ):
        done = run(*arguments, *(("--quiet",) if arguments[0] != "plan" else ()))
        assert done.exit_code == 0, (arguments, done.output)


def test_the_page_of_parameters_is_what_the_fields_say(run):
    done = run("parameters")

    assert done.stdout == (Path(__file__).parents[3] / "docs" / "parameters.md").read_text()
    for field in PlanRequest.model_fields:
        assert f"\n| `{field}` | " in done.stdout
