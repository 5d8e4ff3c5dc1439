from __future__ import annotations

import numpy as np
import pytest

from kafka_capacity.demand.expectation import class_series
from kafka_capacity.demand.history import TopicHistory, total_of
from kafka_capacity.demand.topic_classes import class_topics

X = np.nan


def total(rates, *, gone=()):
    names = tuple(f"t{i}" for i in range(len(rates)))
    history = TopicHistory(first_day="2026-01-01", topics=names, rate_bytes_per_second=np.array(rates, dtype=float))
    return total_of(history, range(len(rates)), frozenset(names) - set(gone))


def test_a_topic_counts_nothing_before_its_first_day():
    assert total([[10, 10, 10, 10], [X, X, 5, 5]]).rate_bytes_per_second.tolist() == [10, 10, 15, 15]


def test_a_topic_that_is_gone_counts_nothing_after_its_last_day_and_one_that_is_there_has_a_gap():
    rates = [[10, 10, 10, 10], [5, 5, X, X]]
    assert total(rates, gone=["t1"]).rate_bytes_per_second.tolist() == [15, 15, 10, 10]
    assert total(rates).rate_bytes_per_second.tolist() == [15, 15]


def test_a_small_gap_is_scaled_up_and_a_large_one_is_not_known():
    # t1 carries 5 of 100: what is known is 95 % of the total.
    assert total([[95, 95, 95], [5, X, 5]]).rate_bytes_per_second.tolist() == [100, 100, 100]
    series = total([[95, X, 95], [5, 5, 5]])
    assert np.isnan(series.rate_bytes_per_second).tolist() == [False, True, False]
    assert (series.days, series.last_day) == (3, "2026-01-03")


def test_the_series_begins_and_ends_with_days_that_are_known():
    series = total([[X, 7, X, 9, X]])
    assert series.first_day == "2026-01-02"
    assert series.rate_bytes_per_second[[0, -1]].tolist() == [7, 9]
    assert series.last_day == "2026-01-04"


def test_nothing_known_is_no_series():
    for series in (total([[X, X]]), total(np.zeros((0, 0)))):
        assert (series.first_day, series.days, series.last_day) == ("", 0, "")


def test_topics_that_are_gone_belong_to_the_class_of_their_names():
    living = ["orders.a", "orders.b", "small"]
    classes = class_topics(living, np.array([50.0, 50.0, 1.0]))
    history = TopicHistory(
        first_day="2026-01-01",
        topics=("odd", "orders.a", "orders.b", "orders.old", "small"),
        rate_bytes_per_second=np.array([[1.0], [50.0], [50.0], [20.0], [1.0]]),
    )
    series = class_series(history, classes, living)
    assert classes.names == ("orders", "other")
    assert [one.rate_bytes_per_second.tolist() for one in series] == [[120.0], [2.0], [122.0]]


@pytest.mark.parametrize("factor", [1e-3, 1e6])
def test_the_unit_scales_the_total(factor):
    rates = np.array([[95, 95, 95], [5, X, 5], [X, 1, 2]])
    one, other = total(rates).rate_bytes_per_second, total(rates * factor).rate_bytes_per_second
    assert other == pytest.approx(one * factor)
