"""The tables and the map of losses: in which order, and how many."""

from kafka_capacity.questions.failures.section.matrix import MAX_BROKERS as PAIR_BROKERS
from kafka_capacity.questions.failures.section.matrix import MAX_ROWS, matrices, pair_map, rank
from tests.unit.questions.failures.losses import loss, side, view


def test_the_worst_losses_come_first_and_the_others_are_counted():
    rows = [loss(number, f"broker {number}", offline=number % 20) for number in range(30)]
    (matrix,) = matrices(
        view(side(*rows), side(loss(0, "broker 99", offline=9), placement_id="then")), is_without_pairs=True
    )
    assert matrix["caption"] == "One broker lost: 31"
    assert [row["name"] for row in matrix["rows"][:4]] == ["broker 19", "broker 18", "broker 17", "broker 16"]
    # Losses that do the same share a row.
    names = [row["name"] for row in matrix["rows"]]
    assert "brokers 9, 29" in names
    shown = sum(name.count(",") + 1 for name in names)
    assert len(names) == MAX_ROWS["broker"]
    assert matrix["left_out"] == 31 - shown
    # Today and after stand beside each other; a broker that is not there yet has no figure.
    (new,) = [row for row in matrix["rows"] if row["name"] == "broker 99"]
    assert [cell["text"] for cell in new["cells"][:2]] == ["—", "9"]
    assert [cell["kind"] for cell in matrix["rows"][1]["cells"][:2]] == ["bad", "unknown"]


def test_of_losses_that_stop_nothing_the_worse_is_the_one_that_leaves_less_to_lose():
    rows = [
        loss(0, "idle"),
        loss(1, "much to copy", rebuild_bytes=9e12),
        loss(2, "busy", loaded_ratio=0.6),
        loss(3, "at min ISR", at_min_isr=1),
        loss(4, "groups", groups_affected=1),
        loss(5, "overload", overloaded_brokers=1),
    ]
    order = sorted(rows, key=lambda row: rank([row]))
    assert [row["name"] for row in order] == ["overload", "groups", "at min ISR", "busy", "much to copy", "idle"]


def pair(first, second, **figures):
    return loss(0, f"brokers {first}, {second}", kind="pair", brokers=[first, second], **figures)


def test_of_every_two_brokers_the_map_says_the_worst_today_and_after():
    today = side(pair(1, 2, offline=3, under_min_isr=9), pair(1, 3, under_min_isr=7), pair(2, 3, loaded_ratio=0.25))
    then = side(pair(1, 2), pair(1, 3), pair(2, 3, unclean_leaders=2), placement_id="then")
    found = pair_map(view(today, then))
    texts = {row["name"]: [cell["text"] for cell in row["cells"]] for row in found["cells"]}
    assert texts == {"1": ["", "50", "50"], "2": ["▲ 3", "", "▲ 0, 2 unclean"], "3": ["● 7", "25", ""]}
    assert found["cells"][1]["cells"][0]["title"] == "2 and 1 lost, today: partitions offline 3"


def test_the_map_is_bounded_and_shows_the_worst_pairs():
    rows = [pair(one, one + 1, offline=one) for one in range(1, 100)]
    found = pair_map(view(side(*rows), None))
    assert len(found["heads"]) == PAIR_BROKERS
    assert found["heads"][-1] == "100"
    assert f"Shown are {PAIR_BROKERS} of 100 brokers" in found["note"]
    assert pair_map(view(side(loss(0, "broker 1")), None)) is None
