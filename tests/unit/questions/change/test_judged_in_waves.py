"""Whether a move fits is judged by its waves, not as if all of it started at once."""

import dataclasses
import math
from types import SimpleNamespace

import pytest

from kafka_capacity.kafka.reassignment.problem import Throttle
from kafka_capacity.kafka.reassignment.waves import plan_waves
from kafka_capacity.proposal.excuse import Excuse
from kafka_capacity.questions.change.move_schedule import judged_in_waves
from tests.properties.move_problems import move_problem_of


@dataclasses.dataclass(frozen=True)
class Result:
    excuses: tuple

    @property
    def fits(self):
        return not self.excuses


def excuse(constraint):
    return Excuse(reason=constraint, constraint=constraint, where="broker 1", needed=2.0, available=1.0, unit="bytes")


def schedule(*, refusals=(), never_ends=False):
    wave = SimpleNamespace(
        number=1,
        end_seconds=(None, None, None),
        throttle_bytes_per_second=2e6,
        bottleneck_broker=4,
        bottleneck_direction="in",
    )
    return SimpleNamespace(
        refusals=refusals,
        never_ends=never_ends,
        waves=(wave,),
        smallest_throttle_bytes_per_second=(1e6, 3e6, 5e6),
        overruns=(),
        problem=SimpleNamespace(throttle=SimpleNamespace(is_automatic=False)),
    )


def test_what_only_breaks_when_all_starts_at_once_is_no_excuse():
    result = Result(excuses=(excuse("disk_on_the_way"), excuse("throttle")))
    assert judged_in_waves(result, schedule()).fits
    kept = judged_in_waves(dataclasses.replace(result, excuses=(excuse("disk"), excuse("throttle"))), schedule())
    assert [one.constraint for one in kept.excuses] == ["disk"]


def test_what_fits_into_no_wave_is_an_excuse_with_its_numbers():
    refusal = SimpleNamespace(
        reason="broker 4 has room for 1 GB and needs 2 GB",
        constraint="disk",
        where="broker 4",
        needed=2e9,
        available=1e9,
        unit="bytes",
    )
    judged = judged_in_waves(Result(excuses=()), schedule(refusals=(refusal,)))
    assert not judged.fits
    assert [(one.constraint, one.needed, one.available) for one in judged.excuses] == [("disk_on_the_way", 2e9, 1e9)]


def test_a_refusal_of_what_is_told_already_is_not_told_twice():
    refusal = SimpleNamespace(reason="x", constraint="leader", where="x", needed=1.0, available=0.0, unit="partitions")
    judged = judged_in_waves(Result(excuses=(excuse("leader"),)), schedule(refusals=(refusal,)))
    assert [one.reason for one in judged.excuses] == ["leader"]


def test_a_wave_that_never_ends_is_an_excuse():
    judged = judged_in_waves(Result(excuses=()), schedule(never_ends=True))
    assert [one.constraint for one in judged.excuses] == ["throttle"]
    assert judged.excuses[0].reason == (
        "wave 1 of 1 never finishes with a throttle of 2 MB/s: broker 4 needs more than 3 MB/s to keep up with "
        "what is produced meanwhile"
    )


def test_a_wave_that_no_throttle_ends_is_an_excuse_that_names_no_throttle():
    endless = schedule(never_ends=True)
    endless.smallest_throttle_bytes_per_second = (0.0, math.inf, math.inf)
    endless.waves[0].smallest_throttle_bytes_per_second = (0.0, math.inf, math.inf)
    # A larger throttle would do if all started at once, but waves are what is carried out.
    for known in ((), (excuse("throttle"),)):
        (told,) = judged_in_waves(Result(excuses=known), endless).excuses
        assert told.reason == (
            "wave 1 of 1 never finishes, and no throttle helps: the network of broker 4 has nothing left for the copies"
        )
        assert told.as_dict()["needed"] is None


@pytest.mark.parametrize(("read", "left"), [(60, "0 B/s"), (55, "5 B/s")])
def test_an_automatic_throttle_that_is_too_small_is_named_with_whose_it_is(read, left):
    # Broker 1 sends 20 B/s to its follower at peak besides what is read, and 80 of its 100 may be used.
    throttle = Throttle(bytes_per_second=50.0, is_automatic=True, headroom_ratio=0.2)
    endless = plan_waves(
        move_problem_of([[1, 2]], [[1, 3]], rate=10, read=read, network=[100.0, 100.0, 200.0], throttle=throttle)
    )
    # What a throttle that nobody uses would come to is not told.
    (told,) = judged_in_waves(Result(excuses=(excuse("throttle"),)), endless).excuses
    assert told.reason == (
        f"wave 1 of 1 never finishes: the automatic throttle of broker 1 is {left}, all that 20 % headroom leaves at "
        "peak; use a smaller headroom or a fixed throttle"
    )
    assert (told.where, told.needed, told.available) == ("broker 1, out", 20.0, 60.0 - read)


def test_without_a_schedule_nothing_changes():
    result = Result(excuses=(excuse("throttle"),))
    assert judged_in_waves(result, None) is result
