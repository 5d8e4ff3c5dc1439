"""The best sets of actions: those of exhaustive search where there are few, and the same every time."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_capacity.questions.savings.search import pareto_front, search_sets


class MadeUpJudge:
    """Frees bytes and traffic by each action; a broker is saved for every ten of whichever is freed less."""

    def __init__(self, freed):
        self.freed = freed
        self.judged = []

    def of(self, some):
        totals = [sum(self.freed[one][kind] for one in some) for kind in (0, 1)]
        return float(min(totals) // 10)

    def __call__(self, sets):
        self.judged += sets
        return [self.of(one) for one in sets]


@st.composite
def problems(draw, most=6):
    count = draw(st.integers(1, most))
    amount = st.integers(0, 25)
    freed = draw(st.lists(st.tuples(amount, amount), min_size=count, max_size=count))
    return freed, draw(st.lists(st.integers(1, 9), min_size=count, max_size=count))


def exhaustive_front(freed, efforts):
    """All pairs of effort and saving that no other set beats, by going through every set."""
    judge = MadeUpJudge(freed)
    places = range(len(freed))
    every = [some for size in places for some in itertools.combinations(places, size + 1)]
    points = {(sum(efforts[one] for one in some), judge.of(some)) for some in every}
    return {
        (effort, saved)
        for effort, saved in points
        if saved > 0 and not any(e <= effort and s >= saved and (e, s) != (effort, saved) for e, s in points)
    }


@given(problems())
@settings(max_examples=200, deadline=None)
def test_few_sets_are_searched_exhaustively(problem):
    freed, efforts = problem
    found = search_sets(efforts, MadeUpJudge(freed), frozenset, 2 ** len(freed) - 1)
    assert found.is_exhaustive
    front = pareto_front(found.saved, efforts)
    points = {(sum(efforts[one] for one in some), found.saved[some]) for some in front}
    assert points == exhaustive_front(freed, efforts)
    assert len(points) == len(front)


@given(problems(most=12), st.integers(1, 60))
@settings(max_examples=200, deadline=None)
def test_no_more_than_may_be_is_judged_each_once_and_the_same_again(problem, most):
    freed, efforts = problem
    judge = MadeUpJudge(freed)
    found = search_sets(efforts, judge, frozenset, most)
    assert len(judge.judged) == len(set(judge.judged)) == len(found.saved) <= most
    again = search_sets(efforts, MadeUpJudge(freed), frozenset, most)
    assert list(again.saved.items()) == list(found.saved.items())


@given(problems(most=8))
@settings(max_examples=200, deadline=None)
def test_greedy_and_exchange_find_the_most_that_can_be_saved(problem):
    freed, efforts = problem
    most = MadeUpJudge(freed).of(range(len(freed)))  # more actions never save less here
    found = search_sets(efforts, MadeUpJudge(freed), frozenset, 2 * len(freed) + 3)
    assert max(found.saved.values()) == most


def test_two_that_save_nothing_alone_are_found_together():
    # Ten actions are more than thirty sets: only the last two together free enough of both.
    freed = [(0, 0)] * 8 + [(10, 0), (0, 10)]
    found = search_sets([1] * 10, MadeUpJudge(freed), frozenset, 100)
    (best,) = pareto_front(found.saved, [1] * 10)
    assert not found.is_exhaustive
    assert best == {8, 9}


def test_what_is_apart_is_judged_alone_unless_all_sets_are():
    freed, efforts = [(25, 25)] * 6, [1] * 6
    judge = MadeUpJudge(freed)
    search_sets(efforts, judge, frozenset, 20, apart=[2])
    assert [one for one in judge.judged if 2 in one] == [frozenset([2])]
    judge = MadeUpJudge(freed)
    assert search_sets(efforts, judge, frozenset, 63, apart=[2]).is_exhaustive
    assert frozenset(range(6)) in judge.judged
