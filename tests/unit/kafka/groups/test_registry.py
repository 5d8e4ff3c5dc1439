"""Assignors by name: Kafka's, and one that a package brings."""

import importlib
import sys

import pytest

from kafka_capacity.errors import AssignmentError, RequestError
from kafka_capacity.kafka.groups import Assignment, GroupProtocol, assignor, assignor_names
from kafka_capacity.kafka.groups.life import ClassicLife
from kafka_capacity.kafka.groups.own import check_assignment
from tests.unit.kafka.groups.made_up import group, member

PACKAGE = '''
from kafka_capacity.kafka.groups import Assignment


class First:
    """The first subscriber of a topic gets all of it."""

    def assign(self, group):
        lists = {}
        for topic in group.topics:
            readers = [member.member_id for member in group.members if topic.name in member.topics]
            if readers:
                lists.setdefault(readers[0], []).extend((topic.name, p) for p in range(topic.partitions))
        return Assignment.of(group, lists)


class Patient(First):
    is_cooperative = True


class Forgetful:
    def assign(self, group):
        return Assignment.of(group, {})


class Wordy:
    def assign(self, group):
        return "all to everyone"


class Silent:
    pass
'''
ENTRY_POINTS = """[kafka_capacity.assignors]
first-come = made_up_assignors:First
patient = made_up_assignors:Patient
forgetful = made_up_assignors:Forgetful
wordy = made_up_assignors:Wordy
silent = made_up_assignors:Silent
missing = made_up_assignors:Missing
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package with assignors, as an installer leaves it behind."""
    (tmp_path / "made_up_assignors.py").write_text(PACKAGE)
    info = tmp_path / "made_up_assignors-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: made-up-assignors\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    yield
    sys.modules.pop("made_up_assignors", None)


@pytest.mark.parametrize(
    ("protocol", "names"),
    [
        (GroupProtocol.CLASSIC, ("cooperative-sticky", "range", "roundrobin", "sticky")),
        (GroupProtocol.CONSUMER, ("range", "uniform")),
    ],
)
def test_kafkas_assignors_are_found_by_name(protocol, names):
    assert assignor_names(protocol) == names
    assert [assignor(name, protocol).name for name in names] == list(names)


def test_only_one_of_kafkas_is_cooperative():
    assert [name for name in assignor_names() if assignor(name).is_cooperative] == ["cooperative-sticky"]


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(RequestError) as caught:
        assignor("uniform")
    assert str(caught.value) == (
        "assignor: 'uniform' is unknown for classic groups; choose one of cooperative-sticky, range, roundrobin, sticky"
    )


@pytest.mark.usefixtures("installed")
def test_an_assignor_of_a_package_stands_next_to_kafkas():
    assert "first-come" in assignor_names()
    found = assignor("first-come", GroupProtocol.CONSUMER)
    given = group([member("b", "t", "u"), member("a", "t", "v")], t=2, u=1, v=1, unread=5)

    assert (found.name, found.is_cooperative) == ("first-come", False)
    assert found.assign(given).lists() == {"b": [("t", 0), ("t", 1), ("u", 0)], "a": [("v", 0)]}
    assert len(ClassicLife(assignor("patient")).rebalance(given.topics, given.members)) == 1


@pytest.mark.usefixtures("installed")
def test_what_it_answers_is_checked():
    given = group([member("a", "t")], t=2)
    with pytest.raises(AssignmentError, match="'forgetful' gave partition 0 of 't' to 0 members"):
        assignor("forgetful").assign(given)
    with pytest.raises(AssignmentError, match="'wordy' gave a str, not an Assignment"):
        assignor("wordy").assign(given)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("silent", "assignor: 'silent' (made_up_assignors:Silent) has no method assign(group)"),
        (
            "missing",
            "assignor: 'missing' (made_up_assignors:Missing) cannot be loaded: "
            "module 'made_up_assignors' has no attribute 'Missing'",
        ),
    ],
)
def test_one_that_cannot_be_used_is_refused(name, message):
    with pytest.raises(RequestError) as caught:
        assignor(name)
    assert str(caught.value) == message


GIVEN = group([member("a", "t"), member("b", "t", "u")], t=2, u=1, v=1)


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ({"a": [("t", 0), ("t", 1)]}, "'x' gave partition 0 of 'u' to 0 members"),
        ({"a": [("t", 0), ("t", 1)], "b": [("t", 1), ("u", 0)]}, "'x' gave partition 1 of 't' to 2 members"),
        ({"a": [("u", 0)]}, "'x' gave 'a' ('u', 0), which is not for it"),
        ({"a": [("t", 2)]}, "'x' gave 'a' ('t', 2), which is not for it"),
        ({"a": [("v", 0)]}, "'x' gave 'a' ('a topic that nobody subscribes to', 0), which is not for it"),
    ],
)
def test_an_assignment_that_is_none_is_named(lists, message):
    with pytest.raises(AssignmentError) as caught:
        check_assignment(GIVEN, Assignment.of(GIVEN, lists), "x")
    assert str(caught.value) == f"assignor {message}"


def test_a_cooperative_one_may_leave_partitions_for_the_next_round():
    check_assignment(GIVEN, Assignment.of(GIVEN, {}), "x", may_leave_out=True)
    with pytest.raises(AssignmentError, match="members are not those of the group"):
        check_assignment(GIVEN, Assignment.of(group([]), {}), "x")
