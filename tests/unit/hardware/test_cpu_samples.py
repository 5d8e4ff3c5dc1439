"""Samples of processors from a file."""

import numpy as np
import pytest

from kafka_capacity.errors import RequestError
from kafka_capacity.hardware.cpu import COLUMNS, read_cpu_samples

MIB = 2.0**20


def written(path, lines):
    path.write_text("\n".join([",".join(COLUMNS), *lines]) + "\n")
    return path


def test_samples_are_fitted(tmp_path):
    draw = np.random.default_rng(3)
    rows = draw.uniform(1, 100, (80, 3)) * MIB
    lines = [f"{0.2 + (0.05 * a + 0.01 * b + 0.02 * c) / MIB},{a},{b},{c}" for a, b, c in rows]
    found = read_cpu_samples(written(tmp_path / "samples.csv", lines))
    assert found.is_used
    assert found.costs.leader_in_seconds_per_mib == pytest.approx(0.05)
    assert found.samples == 80


def test_wrong_files_are_refused_with_line_and_mend(tmp_path):
    path = written(tmp_path / "samples.csv", ["1,2,3,4", "1,-2,x,4"])
    with pytest.raises(RequestError) as raised:
        read_cpu_samples(path)
    assert str(raised.value).splitlines() == [
        f"{path}: line 3: leader_in_bytes_per_second is '-2'; write a number of zero or more",
        f"{path}: line 3: follower_in_bytes_per_second is 'x'; write a number of zero or more",
    ]
    (tmp_path / "other.csv").write_text("cores_used\n1\n")
    with pytest.raises(RequestError, match="has no column leader_in_bytes_per_second, follower_in_bytes_per_second"):
        read_cpu_samples(tmp_path / "other.csv")


def test_short_lines_are_refused(tmp_path):
    with pytest.raises(RequestError, match="out_bytes_per_second is None; write a number"):
        read_cpu_samples(written(tmp_path / "samples.csv", ["1,2,3"]))


def test_numbers_with_commas_in_them_are_refused(tmp_path):
    """``3,1`` cores would be 3, and all other values those of the column before."""
    path = written(tmp_path / "samples.csv", ["1,2,3,4", "3,1,41000000,80000000,205000000"])
    with pytest.raises(
        RequestError, match=r"samples\.csv: line 3: has more values than the first line has names; write"
    ):
        read_cpu_samples(path)


def test_few_samples_leave_the_stated_costs(tmp_path):
    assert not read_cpu_samples(written(tmp_path / "samples.csv", ["1,2,3,4"])).is_used
    assert read_cpu_samples(written(tmp_path / "none.csv", [])).samples == 0
