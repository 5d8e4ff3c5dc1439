"""Where much of what is stored has no known traffic, every command that rests on it says so."""

import pytest

from kafka_capacity.inventory.files import write_snapshot_files
from tests.builders import GIB, cluster, rows_of, topic, with_rows


@pytest.fixture(scope="module")
def unknown(tmp_path_factory):
    """A snapshot whose large topic has no metrics."""
    raw = cluster(topics=[topic("large", size_bytes=30 * GIB), topic("small", size_bytes=GIB)])
    raw = with_rows(raw, "metrics", [row for row in rows_of(raw, "metrics") if row["topic"] == "small"])
    folder = tmp_path_factory.mktemp("unknown") / "snapshot"
    write_snapshot_files(raw, str(folder), file_format="parquet")
    return folder


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("failures", "--losses", "rack"), "counts as zero: all loads and times are underestimated"),
        (("savings", "--max-savings", "1", "--horizon", "1"), "counts as zero: all loads and times are underestimated"),
        (("chargeback", "--marginal-topics", "0"), "counts as zero: all loads and times are underestimated"),
        (("size", "--horizon", "1"), "As far as known, "),
        (("plan", "--placer", "fewest-bytes", "--broker-counts", "7"), "Not judged whether 7 brokers fit"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_it_is_said(run, unknown, command, words):
    done = run(command[0], unknown, *command[1:])
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert words in said
    assert "the traffic of 6 of 12 partitions" in said.replace("The", "the") or command[0] == "size"
