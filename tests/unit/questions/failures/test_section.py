"""What breaks, in words and tables."""

import dataclasses
import json

import pytest

from kafka_capacity.kafka.controller.quorum.voters import Quorum, Voter
from kafka_capacity.questions.failures.quorum_tables import QUORUM_FAILOVERS, quorum_table
from kafka_capacity.questions.failures.section.controllers import controllers
from kafka_capacity.questions.failures.section.details import MAX_LISTED, groups_table, survivors_table
from kafka_capacity.questions.failures.section.matrix import matrices, overview, pair_map
from kafka_capacity.questions.failures.section.sentences import (
    basis_notes,
    change_word,
    failures_line,
    loss_sentence,
    loss_sentences,
)
from tests.report.decided import build_report, render_all
from tests.report.plans import make_inputs
from tests.report.sized import sized_inputs
from tests.unit.questions.failures.losses import DOCUMENT, loss, problem, side, view


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            [loss(0, "broker 1"), loss(1, "broker 2", loaded_ratio=0.7)],
            "Any one broker may die: nothing goes offline, no partition falls under min ISR, the busiest survivor uses "
            "70.0 % of its network out.",
        ),
        (
            [loss(0, "broker 1", under_min_isr=3, refused_bytes_per_second=2048.0, groups_affected=2)],
            "One broker lost: nothing goes offline, up to 3 partitions fall under min ISR (broker 1, 2.0 "
            "KiB/s), the busiest survivor uses 50.0 % of its network out, up to 2 consumer groups affected.",
        ),
        (
            [
                loss(0, "broker 1"),
                loss(1, "broker 2", offline=4, offline_topics=2, stopped_bytes_per_second=1024.0, loaded_ratio=None),
                loss(2, "broker 3", overloaded_brokers=1, loaded_ratio=1.2, loaded_broker=7),
            ],
            "One broker lost: 1 of 3 losses takes partitions offline, at worst 4 partitions of 2 topics (broker 2, "
            "1.0 KiB/s stopped), no partition falls under min ISR, 1 survivor is over capacity after 1 of 3 losses, "
            "at worst broker 7 at 120 % of its network out.",
        ),
        (
            [loss(0, "broker 1", loaded_ratio=None), loss(1, "broker 2", loaded_ratio=None)],
            "One broker lost: nothing goes offline, no partition falls under min ISR, the load of survivors is "
            "unknown.",
        ),
        (
            [loss(0, "broker 1", loaded_ratio=None, offline=4, offline_topics=2, survivors=0)],
            "One broker lost: the one loss takes partitions offline, at worst 4 partitions of 2 topics (broker 1), no "
            "partition falls under min ISR, no broker survives.",
        ),
    ],
)
def test_a_sentence_says_the_verdict_first(rows, sentence):
    over = [{"broker_id": 7, "kind": "broker", "resource": "network_out"}]
    assert loss_sentence(side(*rows, brokers=over), "broker") == sentence


def test_nothing_may_die_where_it_is_not_known_what_that_does():
    rows = [loss(place, f"rack {name}", "rack") for place, name in enumerate("ab")]
    assert loss_sentences(side(*rows)) == [
        "Any one rack may die: nothing goes offline, no partition falls under min ISR, the busiest survivor uses "
        "50.0 % of its network out."
    ]
    assert loss_sentences(side(*rows, assumed=2)) == [
        "One rack lost: nothing goes offline, no partition falls under min ISR as far as known, the busiest survivor "
        "uses 50.0 % of its network out.",
        "min.insync.replicas of 2 topics is unknown.",
    ]
    assert loss_sentence(side(*rows, rackless=2), "rack").startswith(
        "One rack lost (2 of 3 brokers have no rack): nothing goes offline, no partition falls under min ISR, the"
    )
    # Whoever loses a broker asks for no rack.
    assert loss_sentence(side(loss(0, "broker 1"), rackless=2), "broker").startswith("Any one broker may die: ")
    unknown = [rows[0], {**rows[1], "loaded_ratio": None}]
    assert loss_sentence(side(*unknown), "rack").startswith("One rack lost: nothing goes offline")


def test_where_no_rack_is_known_none_was_lost():
    none = "No rack is known: no rack was lost."
    assert loss_sentences(side(kinds=["rack"], rackless=3)) == [none]
    assert failures_line(view(side(kinds=["rack"], rackless=3))) == none
    both = side(loss(0, "broker 1"), kinds=["rack", "rack+broker"], rackless=3)
    assert loss_sentences(both, ["broker", "rack", "rack+broker"])[1:] == [none]
    assert loss_sentences(side(kinds=["pair"], rackless=3), ["pair"]) == []
    assert loss_sentences(side(kinds=["rack+broker"]), ["rack+broker"]) == []


def test_what_was_down_before_is_not_blamed_on_the_loss():
    before = side(loss(0, "broker 1", offline=5, under_min_isr=2), offline=5, under=2)
    assert loss_sentence(before, "broker").startswith(
        "Any one broker may die: nothing more goes offline, no further partition falls under min ISR"
    )
    shown = overview(view(before))
    assert shown is not None
    (cell, *_) = shown["rows"][0]["cells"]
    assert cell == {"text": "5", "kind": "warn"}


def test_what_is_counted_together_with_what_was_down_before_is_not_told_of_the_loss():
    figures = {"offline_topics": 4, "stopped_bytes_per_second": 9e9, "refused_bytes_per_second": 9e9}
    rows = [loss(0, "broker 1", offline=6, under_min_isr=4, groups_affected=2, **figures)]
    assert loss_sentence(side(*rows, offline=5, under=2), "broker").startswith(
        "One broker lost: the one loss takes partitions offline, at worst 1 more partition (broker 1), up to 2 more "
        "partitions fall under min ISR (broker 1), the busiest survivor"
    )
    assert loss_sentence(side(*rows, offline=5, under=2), "broker").endswith(
        "up to 2 consumer groups affected, including those already affected."
    )


def test_partitions_that_fall_under_min_isr_are_not_netted_with_those_that_go_offline():
    # Five were under min ISR and are offline now; five others fall under it.
    row = loss(0, "broker 1", offline=5, offline_topics=1, under_min_isr=5, newly_under_min_isr=5)
    assert "up to 5 more partitions fall under min ISR (broker 1)" in loss_sentence(side(row, under=5), "broker")
    assert "no further partition falls under" in loss_sentence(
        side({**row, "newly_under_min_isr": 0}, under=5), "broker"
    )


def test_what_is_drawn_is_no_proof_of_all():
    rows = [loss(0, "brokers 1, 2", kind="pair"), loss(1, "brokers 3, 4", kind="pair")]
    assert loss_sentence(side(*rows), "pair").startswith("Any two brokers may die: nothing goes offline")
    assert loss_sentence(side(*rows, possible=66), "pair").startswith(
        "Two brokers lost (2 of 66 evaluated): nothing goes offline"
    )


def test_without_a_majority_of_the_controllers_no_leader_is_elected():
    rows = [loss(0, "rack a", new_leaders=25, has_majority=False), loss(1, "rack b", new_leaders=9, has_majority=True)]
    assert loss_sentence(side(*rows), "broker").startswith(
        "One broker lost: 1 of 2 losses leaves no majority of the controllers, so that no leader is elected and, at "
        "worst, 25 partitions have none (rack a); with a majority, nothing goes offline, no partition"
    )
    safe = side(*({**row, "has_majority": True} for row in rows))
    assert loss_sentence(safe, "broker").startswith("Any one broker may die: nothing goes offline")
    # No row, cell or pair hides that: rack b, with the same figures, is not named with it.
    alike = side(rows[0], {**rows[1], "new_leaders": 25})
    (matrix,) = matrices(view(alike), is_without_pairs=True)
    assert [row["name"] for row in matrix["rows"]] == ["rack a", "rack b"]
    assert matrix["rows"][0]["cells"][0] == {"text": "0, no majority", "kind": "bad"}
    assert matrix["caption"] == "One broker lost: 2"
    shown = overview(view(alike))
    assert shown is not None
    assert shown["rows"][0]["cells"][0] == {"text": "0, no majority", "kind": "bad"}
    pair = {**loss(0, "brokers 1, 2", kind="pair"), "brokers": (1, 2), "has_majority": False}
    drawn = pair_map(view(side(pair)))
    assert drawn is not None
    assert "▲ 0, no majority" in json.dumps(drawn, ensure_ascii=False)
    # Where it is known who votes and not in which rack, it may be none of them that survives.
    unsure = side(*({**row, "has_majority": None} for row in rows))
    assert loss_sentence(unsure, "broker").startswith(
        "One broker lost: nothing goes offline, and whether a majority of the controllers is left is not known (rack a)"
    )
    # A change that leaves no majority after fewer losses is better, whatever else it does.
    assert change_word(view(side(*rows), side(*rows, placement_id="x")), "broker") == "same"
    assert change_word(view(side(*rows), dataclasses.replace(safe, placement_id="x")), "broker") == "better"


def test_controllers_that_are_down_already_are_lost_before_the_active_one_is():
    shares = {"down_minutes_per_year": 1.0, "down_in_racks_minutes_per_year": 2.0, "majority": 2, "tolerated": 0}
    asked = {"voters": [{"node_id": one, "rack": None} for one in (1, 2, 3)], "down": [3], **shares}
    document = {**DOCUMENT, "controllers": {**asked, "up_ratio": 0.999, "rack_up_ratio": 0.9999}}
    times = [{"failure": "vanished", "lost_before": lost, "voters": 3, "runs": 9} for lost in (0, 1)]
    times = [{**dict.fromkeys(QUORUM_FAILOVERS.names, 0.0), **row} for row in times]
    told = controllers(view(side(loss(0, "broker 1")), document=document, failovers=times))
    assert [row["lost_before"] for row in told["times"]["rows"]] == [1]


def test_online_at_the_price_of_records_is_no_good_news():
    dear = side(loss(0, "broker 1"), loss(1, "broker 2", unclean_leaders=2))
    assert loss_sentence(dear, "broker").startswith(
        "One broker lost: nothing goes offline, up to 2 partitions are led by a replica that was out of sync, "
        "so that committed records may be lost (broker 2), no partition falls"
    )
    assert change_word(view(dear, side(loss(0, "broker 1"), placement_id="then")), "broker") == "better"
    shown = overview(view(dear))
    assert shown is not None
    assert shown["rows"][0]["cells"][0] == {"text": "0, 2 unclean", "kind": "bad"}
    assert matrices(view(dear), is_without_pairs=False)[0]["rows"][0]["name"] == "broker 2"


def test_where_there_is_nothing_to_lose_the_report_says_so():
    inputs = sized_inputs()
    nothing = {name: inputs.tables[name].slice(0, 0) for name in ("failures", "failure_brokers", "failure_groups")}
    rendered = render_all(dataclasses.replace(inputs, tables={**inputs.tables, **nothing}))
    assert "None of the requested losses is possible on this cluster." in rendered.index_html.decode()


def test_a_change_is_safer_or_not():
    worse = side(loss(0, "broker 1", offline=2), placement_id="then")
    fine = side(loss(0, "broker 1"))
    assert change_word(view(fine, worse), "broker") == "worse"
    assert change_word(view(worse, fine), "broker") == "better"
    assert change_word(view(fine, fine), "broker") == "same"
    assert change_word(view(fine), "broker") is None


def test_survivors_and_groups_are_named_by_the_likeliest_loss():
    def over(kind, lost, ratio):
        return {"broker_id": 4, "resource": "cpu", "kind": kind, "worst_loss": lost, "used_ratio": ratio}

    def affected(group, kind, lost, offline, coordinator, losses=1):
        figures = {"partitions": 9, "offline_partitions": offline, "coordinator": coordinator, "losses": losses}
        return {"group_id": group, "kind": kind, "worst_loss": lost, **figures}

    many = [affected(f"group-{number:02}", "pair", "brokers 1, 2", 1, "stays") for number in range(20)]
    today = side(
        loss(0, "broker 1"),
        brokers=[over("pair", "brokers 1, 2", 1.9), over("broker", "broker 1", 1.1)],
        groups=[
            affected("billing", "rack", "rack a", 0, "offline"),
            affected("billing", "broker", "broker 1", 2, "refuses", 3),
            *many,
        ],
    )
    shown = view(today, side(loss(0, "broker 1"), placement_id="then"))
    assert survivors_table(shown)["rows"] == [
        {"broker": "4", "resource": "CPU", "side_0": "110 % without broker 1", "side_1": "—", "note": None}
    ]
    table = groups_table(shown)
    assert table["rows"][0]["side_0"] == (
        "without broker 1 (and 2 more losses of that kind): 2 of 9 partitions offline, cannot commit offsets"
    )
    assert (len(table["rows"]), table["note"]) == (MAX_LISTED, f"And {21 - MAX_LISTED} more.")
    assert survivors_table(view(side(loss(0, "broker 1")))) is None


def test_findings_say_what_becomes_of_them():
    today = side(loss(0, "broker 1"), found=[problem("single-replica"), problem("one-rack", "warning")])
    then = side(loss(0, "broker 1"), placement_id="then", found=[problem("one-rack"), problem("uneven-racks")])
    assert [(one.problem.code, one.then) for one in view(today, then).problems(())] == [
        ("single-replica", "The change resolves this."),
        ("uneven-racks", "New with the change."),
        ("one-rack", ""),
    ]
    assert failures_line(view(today)).startswith("Today: Any one broker may die")


def test_a_change_does_not_resolve_what_is_down_at_the_moment():
    today = side(loss(0, "broker 1"), found=[problem("offline-now"), problem("under-replicated-now", "warning")])
    changed = view(today, side(loss(0, "broker 1"), placement_id="then"))
    assert [one.then[:35] for one in changed.problems(())] == ["The change does not resolve this by"] * 2
    assert any("assumed to be in sync" in note for note in basis_notes(changed))
    assert not any("assumed to be in sync" in note for note in basis_notes(view(today)))


def test_notes_tell_what_was_left_out():
    drawn = side(loss(0, "brokers 1, 2", kind="pair"), possible=1225)
    assert (
        "Today: 1 of 1,225 losses of the kind “two brokers” were evaluated, half of them the pairs that share the "
        "most partitions, the rest drawn at random; the parameter max_failure_sets raises that."
    ) in basis_notes(view(drawn))


def test_controllers_that_nobody_named_are_a_sentence():
    told = controllers(view(side(loss(0, "broker 1"))))
    assert (len(told["sentences"]), told["losses"], told["times"]) == (1, None, None)


def test_no_majority_is_never_said_to_be_impossible():
    shares = {"down_minutes_per_year": 1e-6, "down_in_racks_minutes_per_year": 2.0, "majority": 5, "tolerated": 4}
    voters = [{"node_id": number, "rack": None} for number in range(9)]
    asked = {"voters": voters, "up_ratio": 0.999, "rack_up_ratio": 0.9999, **shares}
    told = controllers(view(side(loss(0, "broker 1")), document={**DOCUMENT, "controllers": asked}))
    assert told["sentences"][1].startswith(
        "There is no majority for less than 1 s a year if each controller is up 99.9 %"
    )
    assert "for 2 min a year if racks" in told["sentences"][1]


def test_a_rack_that_ends_the_quorum_is_the_first_row_however_many_voters_it_holds():
    voters = [Voter(node_id=number, rack="a" if number < 6 else f"r{number}") for number in range(9)]
    shares = {"down_minutes_per_year": 1.0, "down_in_racks_minutes_per_year": 2.0, "majority": 5, "tolerated": 4}
    asked = {"voters": [{"node_id": one.node_id, "rack": one.rack} for one in voters], **shares}
    document = {**DOCUMENT, "controllers": {**asked, "up_ratio": 0.999, "rack_up_ratio": 0.9999}}
    quorum = quorum_table(voters, QUORUM_FAILOVERS.empty_table(), Quorum()).to_pylist()
    told = controllers(dataclasses.replace(view(side(loss(0, "broker 1")), document=document), quorum=quorum))

    first, second = told["losses"]["rows"][:2]
    assert (first["lost"], first["racks"], first["living"]) == ("0, 1, 2, 3, 4, 5", "a", "3 of 5 needed")
    assert first["verdict"].startswith("▲ no majority")
    assert len(second["lost"].split(", ")) == 5


def test_the_report_of_a_plan_has_the_section_and_one_from_before_has_not():
    inputs = sized_inputs()
    names = [section["name"] for section in build_report(inputs)["sections"]]
    assert "failures" in names
    before = make_inputs()
    assert "failures" not in [section["name"] for section in build_report(before)["sections"]]
    assert build_report(before)["verdict"]["serious"] is None


def test_what_is_seriously_wrong_stands_at_the_top_and_in_the_mail():
    rendered = render_all(sized_inputs(controllers=["1:a"]))
    report = json.loads(rendered.report_json)
    message = "there is 1 voter: losing one stops all leader elections and metadata changes"
    (text,) = [one["text"] for one in report["verdict"]["serious"]["problems"] if "voter" in one["text"]]
    assert text == f"T{message[1:]}. Remedy: run 3 or 5 controllers."
    page = rendered.index_html.decode()
    assert page.index("Wrong with the cluster today") < page.index("Key figures of sizing")
    assert message[1:] in rendered.email_text
    assert message[1:] in rendered.email_html.decode()
