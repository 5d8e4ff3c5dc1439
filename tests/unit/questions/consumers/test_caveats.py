"""What the figures about consumer groups rest on: what is serious of it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from kafka_capacity.kafka.groups.registry import GroupProtocol
from tests.made_up_groups import result
from tests.report.group_plans import EVENTS, group_tables, with_metrics
from tests.unit.questions.consumers.group_sections import part_of, section_of


def test_what_is_not_known_is_serious():
    made = with_metrics(result("a", 2, is_today=True, events=EVENTS), capacity_bytes_per_second=None, load_ratio=None)
    found = part_of(section_of(group_tables([made], history_hours=0, owner=np.full(6, -1))), "a")["caveats"]
    assert [one["text"] for one in found if one["severity"] == "serious"] == [
        "Member capacity is unknown, so load and catching up are not judged.",
        "There is no traffic history: rates, lag and load are unknown and count as zero.",
        "6 partitions have no reader today.",
    ]


def test_a_session_timeout_above_the_allowed_lag_is_serious():
    made = result("a", 2, is_today=True, events=EVENTS)
    hasty = dataclasses.replace(made, scenario=dataclasses.replace(made.scenario, lag_slo_seconds=30.0))
    assert [one["text"] for one in section_of(group_tables([hasty]))["serious"]] == [
        "A crashed member is detected only after the session timeout of 45 s, which is longer than the allowed lag "
        "of 30 s: more members do not help, a shorter timeout does."
    ]
    assert section_of(group_tables([made]))["serious"] == []


@pytest.mark.parametrize(
    ("protocol", "setting", "seconds", "says"),
    [
        (
            "classic",
            "session_timeout_seconds",
            5.0,
            ["Brokers reject a session timeout of 5 s until group.min.session.timeout.ms (by default 6 s) is lowered."],
        ),
        ("classic", "session_timeout_seconds", 6.0, []),
        (
            "consumer",
            "server_session_timeout_seconds",
            61.0,
            [
                "Brokers reject a session timeout of 1 min 1 s until group.consumer.max.session.timeout.ms "
                "(by default 1 min) is raised."
            ],
        ),
        ("consumer", "session_timeout_seconds", 5.0, []),
    ],
)
def test_a_session_timeout_that_brokers_reject_is_serious(protocol, setting, seconds, says):
    made = result("a", 2, is_today=True, events=EVENTS)
    settings = dataclasses.replace(made.scenario.settings, **{setting: seconds})
    scenario = dataclasses.replace(made.scenario, protocol=GroupProtocol(protocol), settings=settings)
    found = section_of(group_tables([dataclasses.replace(made, scenario=scenario)]))
    assert [one["text"] for one in found["serious"]] == says
