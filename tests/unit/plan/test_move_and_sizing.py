"""How the move stands to sizing."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

from kafka_capacity.health.problem import info
from kafka_capacity.plan.move_and_sizing import is_done_by, relation_of
from kafka_capacity.questions.capacity.decide import decide_capacity, key_figures
from tests.unit.questions.capacity.sizing_rows import DATES, GROWING, option, passing, view_of


def test_a_step_of_the_same_count_is_a_rebalance_and_the_move_may_already_be_it():
    own, later = option("do-nothing", "do-nothing", 12, until=DATES[1]), option("012", "rebalance", 12, until=DATES[2])
    ends = [passing("do-nothing", "2027-05-02"), passing("012", "2027-09-02")]
    view = view_of([own, later, GROWING[4]], ends, recommended="021")
    assert key_figures(view)[0].note == "12 today; 12 rebalanced by 2027-05-02 and 21 by 2027-09-02"
    rebalanced, more = decide_capacity(view, view.document).actions
    assert rebalanced.text == "Rebalance the 12 brokers: 12 run out of disk space on 2027-05-02."
    assert (rebalanced.as_dict()["id"], more.as_dict()["id"]) == ("rebalance-12-brokers", "have-21-brokers")

    def moving(partitions):
        chosen = SimpleNamespace(broker_count=12, is_moved=partitions > 0, figures={"changed_partitions": partitions})
        return SimpleNamespace(recommended=chosen, nearest=chosen, options=(), fenced_broker_ids=[])

    assert [is_done_by(moving(1), one, None) for one in (rebalanced, more)] == [True, False]
    assert not is_done_by(moving(0), rebalanced, None)
    # What is due now is the move itself: not where that goes to another count, nor where nothing has to move.
    now = dataclasses.replace(more, by=None)
    other = info("other-count", "12 brokers", "The move goes to 12.")
    assert [is_done_by(moving(many), now, problem) for many, problem in ((1, None), (0, None), (1, other))] == [
        True,
        False,
        False,
    ]
    sentence, problem = relation_of(moving(1), view, {})
    assert sentence.endswith("It goes to the 12 that are needed now, which last until 2027-09-01.")
    assert problem is None
    assert relation_of(moving(0), view, {})[0].endswith("which last until 2027-05-01.")


def test_a_move_that_keeps_a_broker_that_sizing_does_without_is_planned_again():
    own, without = (
        option("do-nothing", "do-nothing", 12, until=None),
        option("012", "without-some", 12, until=DATES[-1]),
    )
    without = {**without, "removed_brokers": [3]}
    chosen = SimpleNamespace(broker_count=12, is_moved=False, figures={"changed_partitions": 0})
    move = SimpleNamespace(recommended=chosen, nearest=chosen, options=(), fenced_broker_ids=[])
    view = view_of([own, without], [], recommended="012")
    sentence, problem = relation_of(move, view, {})
    assert sentence.endswith("The move keeps broker 3, which sizing does without.")
    assert problem.remedy == "plan the move to 12 without broker 3 with removed_brokers 3 and broker_counts 12"
    (action,) = decide_capacity(view, view.document).actions
    assert action.text == "Have 12 brokers (without broker 3)."
    # The same of a request that does without it: the move goes there.
    asked = dataclasses.replace(view, document={**view.document, "removed_brokers": [3]})
    assert relation_of(move, asked, {})[1] is None


def test_where_no_planned_move_fits_the_one_to_the_count_needed_is_named():
    needed = option("015", "scale-out", 15, until=DATES[-1])
    view = view_of([option("do-nothing", "do-nothing", 12, until=None), needed], [], recommended="015")

    def planned(*counts):
        options = tuple(SimpleNamespace(broker_count=count, fits=False) for count in counts)
        return SimpleNamespace(recommended=None, nearest=options[0], options=options)

    sentence, problem = relation_of(planned(11), view, {})
    assert sentence.endswith("A run with broker_counts 15 plans the move to 15.")
    assert problem.remedy == "plan the move to 15 with broker_counts 15"
    assert relation_of(planned(11, 15), view, {})[1] is None


def test_a_move_that_keeps_to_other_racks_than_sizing_asks_for_is_planned_again():
    own = option("do-nothing", "do-nothing", 6, until=None)
    needed = {**option("008.1-more-racks", "scale-out", 8, until=DATES[-1]), "extra_racks": 1}
    view = view_of([own, needed], [], recommended="008.1-more-racks")
    chosen = SimpleNamespace(broker_count=8, is_moved=True, fits=True, figures={"changed_partitions": 1})
    move = SimpleNamespace(recommended=chosen, nearest=chosen, options=(chosen,), fenced_broker_ids=[])
    sentence, problem = relation_of(move, view, {})
    asked = "broker_counts 8 and new_broker_racks NAME"
    assert sentence.endswith(
        "The move keeps to other racks than the 8 brokers in 1 new rack that are needed now. "
        f"A run with {asked} plans the move to 8 in 1 new rack."
    )
    assert (problem.severity, problem.remedy) == ("serious", f"plan the move to 8 in 1 new rack with {asked}")
    # Where no move fits, one to as many brokers in today's racks is not the one.
    none = SimpleNamespace(recommended=None, nearest=chosen, options=(chosen,))
    assert relation_of(none, view, {})[1].remedy == problem.remedy
