"""One list of all that is wrong."""

import dataclasses

from kafka_capacity.health.check import NEW, RESOLVED, list_problems
from kafka_capacity.health.problem import CLUSTER_CODES, RETIRED_CODES, Code, Figure, Problem, Severity


def problem(code, severity=Severity.WARNING, **more):
    return Problem(severity=severity, code=code, where="here", message=f"it is {code}", **more)


def listed(*args):
    return [(one.problem.code, one.then) for one in list_problems(*args)]


def test_what_was_staged_of_the_cluster_by_the_version_before_gives_way_to_what_is_found_now():
    staged = [problem("uneven_racks"), problem("missing_sizes"), problem("missing_sizes")]
    assert listed(staged, None) == [("missing_sizes", ""), ("uneven_racks", "")]
    assert listed(staged, [problem(Code.UNEVEN_RACKS)]) == [("missing_sizes", ""), ("uneven-racks", "")]


def test_what_becomes_of_problems():
    today = [problem(Code.DISK_OVER_LIMIT, Severity.SERIOUS), problem(Code.OFFLINE, Severity.SERIOUS)]
    then = [problem(Code.UNEVEN_RACKS)]
    outcomes = dict(listed([], today, then))
    assert outcomes[Code.DISK_OVER_LIMIT] == RESOLVED
    assert outcomes[Code.UNEVEN_RACKS] == NEW
    assert outcomes[Code.OFFLINE].startswith("The change does not resolve this by itself")
    assert set(dict(listed([], today, None)).values()) == {""}


def test_what_the_change_makes_worse_says_so_with_what_is_there_then():
    few = problem(Code.MIN_ISR_EQUALS_RF, partitions=1)
    many = dataclasses.replace(few, message="33 partitions have it", partitions=33)
    assert listed([], [few], [many]) == [("min-isr-equals-rf", "Worse with the change: 33 partitions have it.")]
    assert listed([], [many], [few]) == listed([], [few], [few]) == [("min-isr-equals-rf", "")]
    hot = problem(Code.CPU_OVER_LIMIT, figure=Figure(3.0, 2.0, "cores"))
    for needed, then in ((3.02, ""), (3.3, "Worse with the change: it is cpu-over-limit."), (2.5, "")):
        after = dataclasses.replace(hot, figure=Figure(needed, 2.0, "cores"))
        assert listed([], [hot], [after]) == [("cpu-over-limit", then)]
    # Another one of its kind is new.
    other = dataclasses.replace(few, about="another")
    assert dict(listed([], [few], [other]))["min-isr-equals-rf"] in {NEW, RESOLVED}


def test_problems_survive_plain_data():
    one = problem(
        Code.CPU_OVER_LIMIT, remedy="add cores", figure=Figure(3.0, 2.0, "cores"), partitions=2, topics=("a", "b")
    )
    assert Problem.from_dict(one.as_dict()) == one
    assert set(problem("x").as_dict()) == {"severity", "code", "where", "message"}
    assert one.sentence == "It is cpu-over-limit"


def test_retired_codes_are_none_of_todays():
    assert not RETIRED_CODES & set(Code)
    assert (RETIRED_CODES | set(Code)) - {Code.LOG_DIR_OFFLINE} == CLUSTER_CODES


def test_a_rack_that_can_be_lost_is_not_resolved_where_only_one_is_left():
    left = problem(Code.ONE_RACK, Severity.SERIOUS)
    outcomes = dict(listed([], [problem(Code.RACK_LOSS)], [left]))
    assert outcomes == {Code.RACK_LOSS: "Worse with the change: it is one-rack.", Code.ONE_RACK: NEW}
