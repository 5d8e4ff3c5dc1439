"""Which option of a change is taken: one rule, and one notion of distance for all questions."""

from __future__ import annotations

import dataclasses

import pytest

from kafka_capacity.proposal.excuse import distance
from kafka_capacity.questions.change.choice import Option, choose, counts_by_fit

TIB, PIB = 1024**4, 1024**5


def excuse(constraint="disk", needed=110.0, available=100.0):
    return {"reason": "too much", "constraint": constraint, "needed": needed, "available": available}


def option(count, *, placer="fewest-bytes", moved=100, excuses=()):
    return Option(
        scenario_id=f"{count:03}-brokers.{placer}",
        label=f"{count} brokers, {placer}",
        placer=placer,
        broker_count=count,
        broker_ids=tuple(range(count)),
        fits=not excuses,
        excuses=tuple(excuses),
        standing=(),
        figures={"moved_bytes": moved, "duration_seconds": 1.0},
    )


def test_the_fewest_brokers_that_fit_whatever_the_order():
    small, good, large = option(12, excuses=[excuse()]), option(15), option(18, moved=1)
    for options in ([small, good, large], [large, good, small]):
        recommended, nearest = choose(options)
        assert recommended is nearest is good
    assert counts_by_fit([small, good, large]) == ([15, 18], [12])


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (3 * TIB, 4 * TIB, "3.0 TiB to 4.0 TiB"),
        (1.81 * PIB, 1.84 * PIB, "1.81 PiB to 1.84 PiB"),
        (3 * TIB, 3 * TIB, "3.0 TiB"),
    ],
)
def test_how_much_draws_copy_is_told_apart(low, high, said):
    drawn = option(9, placer="generate")
    figures = {**drawn.figures, "moved_bytes_low": low, "moved_bytes_high": high}
    assert dataclasses.replace(drawn, figures=figures).drawn_bytes_text == said


def test_what_is_needed_first_is_covered_where_a_count_does():
    options = [option(9, moved=1), option(11), option(15)]
    wanted = {None: 9, 9: 9, 10: 11, 11: 11, 12: 15, 16: 9}
    assert {due: choose(options, count_due=due)[0].broker_count for due in wanted} == wanted


def test_nothing_is_recommended_where_nothing_fits_and_the_nearest_lacks_the_least():
    far, near = option(12, excuses=[excuse(needed=200.0)]), option(15, excuses=[excuse(needed=105.0)])
    both = option(18, excuses=[excuse(needed=101.0), excuse("network_in", needed=101.0)])
    recommended, nearest = choose([far, both, near])
    assert recommended is None
    assert nearest is near


def test_where_planning_finds_no_place_what_it_lacks_is_the_answer():
    refused = option(12, moved=None, excuses=[excuse("placement", 3.0, 2.0)])
    kafkas = option(12, placer="generate", excuses=[excuse("pin")])
    assert choose([refused, kafkas])[1] is refused
    placed = option(15, excuses=[excuse(), excuse("leader")])
    assert choose([refused, kafkas, placed])[1] is kafkas


def test_a_figure_that_is_not_known_is_infinitely_far():
    assert distance([excuse(needed=None)]) == (1, float("inf"))
    assert distance([excuse(available=0.0)]) == (1, float("inf"))
    assert distance([excuse(needed=float("nan"))]) == (1, float("inf"))
