"""``kafka-capacity size`` of clusters whose traffic made a step, was launched, or has more days: never absurd."""

import datetime
import json

import numpy as np
import pytest

from kafka_capacity.inventory.files import write_snapshot_files
from tests.builders import DS, cluster, topic

RETENTION_SECONDS = 604_800
BROKERS, DISK_BYTES, PARTITIONS, COPIES = 6, 4e12, 12, 3
LEVEL = 0.4 * BROKERS * DISK_BYTES / RETENTION_SECONDS / COPIES
"""Bytes/s that fill 40 % of all disks: twice of it is what six brokers hold with a limit of 85 %."""
WEEK = np.array([1.05, 1.1, 1.1, 1.05, 1.0, 0.85, 0.85])


@pytest.fixture(scope="module")
def sized(run, tmp_path_factory):
    """Size six brokers whose traffic had these levels, a day each; returns what is printed as JSON."""

    def invoke(levels):
        end = datetime.datetime.combine(datetime.date.fromisoformat(DS), datetime.time(), datetime.UTC)
        days = [end - datetime.timedelta(days=len(levels) - index) for index in range(len(levels))]
        # The same day has the same noise, however many days there are.
        noise = np.random.default_rng(1).lognormal(0.0, 0.03, 1_000)[-len(levels) :]
        rates = levels * WEEK[[day.weekday() for day in days]] * noise
        raw = cluster(
            brokers=BROKERS,
            disk_capacity_bytes=DISK_BYTES,
            topics=[
                topic(
                    "orders.created",
                    partitions=PARTITIONS,
                    size_bytes=int(levels[-1] * RETENTION_SECONDS / PARTITIONS),
                    bytes_in=levels[-1] / PARTITIONS,
                    bytes_out=2 * levels[-1] / PARTITIONS,
                )
            ],
            history=[
                {
                    "topic": "orders.created",
                    "day": day,
                    "bytes_in_bytes_per_second": float(np.float32(rate)),
                    "bytes_out_bytes_per_second": float(np.float32(2 * rate)),
                }
                for day, rate in zip(days, rates, strict=True)
            ],
        )
        folder = tmp_path_factory.mktemp("history")
        write_snapshot_files(raw, folder)
        done = run("size", "--snapshot", folder, "--broker-counts", "6,9,12", "--json")
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    return invoke


def growth(document, estimate):
    """Return over how many times today's traffic it is at the end of the horizon of a year."""
    return document["traffic"][estimate][-1] / document["traffic"][estimate][0]


def recommended(document):
    """Return how many brokers are recommended; doing nothing keeps those of today."""
    chosen = {option["option_id"]: option["broker_count"] for option in document["options"]}
    return chosen[document["advice"]["recommended"]]


def test_six_brokers_stay_six_after_a_step_that_has_held_for_two_hundred_days(sized):
    """400 days, ×2 on day 200, flat since; 60 brokers were recommended."""
    document = sized(LEVEL * np.repeat([0.5, 1.0], 200))
    assert recommended(document) == BROKERS
    assert growth(document, "middle") < growth(document, "high") < 1.9
    (basis,) = document["classes"]
    assert basis["reason"].startswith("The level rose ×2 on 2026-05-04; fitted to the 200 days since.")


def test_a_launch_fifty_days_ago_needs_what_a_young_topic_may_need(sized):
    """It was forecast at 281 GiB/s."""
    document = sized(LEVEL * np.repeat([0.0, 1.0], [350, 50]))
    # 40 % of the disks are full; 85 % is allowed, which is 2.1 times as much.
    assert growth(document, "high") < 2.3
    assert recommended(document) <= 9


def test_139_and_150_days_of_the_same_traffic_are_answered_alike(sized):
    """The one said do nothing, the other that nothing up to 60 brokers fits."""
    few, more = (sized(LEVEL * np.ones(days)) for days in (139, 150))
    assert recommended(few) == recommended(more) == BROKERS
    assert growth(few, "high") == pytest.approx(growth(more, "high"), rel=0.05)
    assert growth(few, "middle") == pytest.approx(growth(more, "middle"), rel=0.05)


def test_a_year_of_the_same_traffic_grows_less_than_half_a_year_of_it(sized):
    document = sized(LEVEL * np.ones(400))
    assert recommended(document) == BROKERS
    assert 1.0 < growth(document, "high") < 1.45
