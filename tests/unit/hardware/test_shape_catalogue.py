"""The catalogue of shapes: what ships, a user's own, and what is refused in which words."""

import json
import math

import pytest

from kafka_capacity.errors import RequestError
from kafka_capacity.hardware.limits import GIB, MIB, Resource
from kafka_capacity.hardware.shape_catalogue import chosen_shapes
from kafka_capacity.hardware.shapes import DiskKind, hardware
from kafka_capacity.kafka.cluster.brokers import Brokers
from tests.shapes import read_shapes

OWN = {
    "offers": [
        {"name": "ours", "provider": "us", "priced_on": "2026-11-01", "source": "finance", "disk": "own"},
    ],
    "shapes": [{"name": "r740", "offer": "ours", "vcpu": 32, "network_mbit_per_second": 10_000, "usd_per_hour": 0.71}],
}


@pytest.fixture
def own_file(tmp_path):
    def write(document):
        path = tmp_path / "own.json"
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return path

    return write


def test_shipped_shapes_are_in_base_units():
    shapes = read_shapes()
    small = shapes["m5.large"]
    assert (small.vcpu, small.usd_per_hour) == (2, 0.096)
    assert small.network_bytes_per_second == 750e6 / 8
    assert small.disk_bytes_per_second == 650e6 / 8
    assert small.bursts[Resource.DISK_IO] == 4750e6 / 8
    assert small.bursts[Resource.NETWORK_IN] == small.bursts[Resource.NETWORK_OUT] == 10e9 / 8
    assert small.disk_bytes == 65_536 * GIB
    assert small.volume.largest_bytes_per_second == 2_000 * MIB
    assert small.volume.usd_per_gib_month == 0.08
    large = shapes["kafka.m7g.2xlarge"]
    assert large.disk_bytes_per_second == 312.5 * MIB
    assert hardware(large, Brokers.of([1]))[Resource.DISK_IO] == 312.5 * MIB
    # The volume of an xlarge can be provisioned with no more than 250, but its line gives less than that.
    assert shapes["kafka.m7g.xlarge"].volume.largest_bytes_per_second == 250 * MIB
    assert shapes["express.m7g.large"].client_in_bytes_per_second == 15.625 * MIB
    assert shapes["i3en.large"].disk_bytes == 1164 * GIB


def test_every_shipped_shape_says_where_it_is_from_and_of_which_day():
    for shape in read_shapes().values():
        assert shape.source.startswith("https://")
        assert len(shape.priced_on) == 10
        assert shape.usd_per_hour > 0


def test_every_shipped_shape_has_networks_and_disks_or_quotas_of_clients():
    for shape in read_shapes().values():
        rates = (shape.network_bytes_per_second, shape.disk_bytes_per_second)
        if shape.disk_kind is DiskKind.MANAGED:
            rates = (shape.client_in_bytes_per_second, shape.client_out_bytes_per_second)
        assert all(rate > 0 for rate in rates), shape.name
        assert all(rate > 0 for rate in shape.bursts.values())
        sustained = hardware(shape, Brokers.of([1]))
        assert all(rate > sustained[resource][0] for resource, rate in shape.bursts.items()), shape.name


def test_what_is_not_known_is_not_made_up(own_file):
    ours = read_shapes(own_file(OWN))["r740"]
    assert math.isnan(ours.memory_bytes)
    assert math.isnan(ours.disk_bytes_per_second)


def test_a_provider_with_quotas_is_judged_by_these_and_not_by_figures_of_processors():
    shapes = read_shapes()
    for name in ("kafka.m7g.large", "express.m7g.large"):
        assert math.isnan(hardware(shapes[name], Brokers.of([1]))[Resource.CPU][0])
        assert shapes[name].client_in_bytes_per_second > 0
    assert hardware(shapes["m7g.large"], Brokers.of([1]))[Resource.CPU][0] == 2


def test_own_shapes_stand_beside_the_shipped_ones_and_in_their_place(own_file):
    shapes = read_shapes(own_file(OWN))
    assert shapes["r740"].network_bytes_per_second == 1.25e9
    assert shapes["r740"].disk_kind is DiskKind.OWN
    assert "m5.large" in shapes
    dearer = {"shapes": [{"name": "m5.large", "offer": "aws-ec2-gp3", "vcpu": 2, "usd_per_hour": 0.2}]}
    assert read_shapes(own_file(dearer))["m5.large"].usd_per_hour == 0.2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vcpu": -1}, "shapes.0.vcpu is -1: give more than 0"),
        ({"cores": 4}, "shapes.0.cores is 4: no such field; remove it or correct its name"),
        ({"offer": "theirs"}, "shape 'r740' is of the offer 'theirs', which is not listed"),
        ({"network_mib_per_second": 3}, "give the network in Mbit/s or in MiB/s, not both"),
        ({"name": "today"}, "'today' stands for the existing brokers; choose another name"),
    ],
)
def test_wrong_shapes_are_refused_with_file_field_and_mend(own_file, change, message):
    path = own_file({**OWN, "shapes": [OWN["shapes"][0] | change]})
    with pytest.raises(RequestError) as raised:
        read_shapes(path)
    assert str(path) in str(raised.value)
    assert message in str(raised.value)


def test_wrong_offers_are_refused(own_file):
    attached = {**OWN, "offers": [OWN["offers"][0] | {"disk": "attached"}]}
    with pytest.raises(RequestError, match="give a volume where the disk is attached"):
        read_shapes(own_file(attached))
    with pytest.raises(RequestError, match=r"'r740' is listed 2 times"):
        read_shapes(own_file({**OWN, "shapes": OWN["shapes"] * 2}))
    with pytest.raises(RequestError, match="fix the JSON"):
        read_shapes(own_file("{"))


def test_shapes_are_chosen_by_name_and_by_family():
    shapes = read_shapes()
    assert [s.name for s in chosen_shapes(shapes, ["m7g.xlarge", "m7g.*"])][:2] == ["m7g.xlarge", "m7g.large"]
    with pytest.raises(RequestError, match=r"'m9\.large' is not in the catalogue; choose from express"):
        chosen_shapes(shapes, ["m9.large"])


def test_every_shape_that_processors_judge_says_how_fast_its_cores_are():
    shapes = read_shapes()
    unknown = [s.name for s in shapes.values() if s.disk_kind is not DiskKind.MANAGED and not s.core_speed_ratio > 0]
    assert unknown == []
    # All cores of an m6i at 3.5 GHz, 1.15 times as much a cycle; those of an m5 at 3.1.
    assert shapes["m6i.large"].core_speed_ratio == pytest.approx(1.15 * 3.5 / 3.1, abs=0.005)
    assert shapes["m5.large"].core_speed_ratio == 1.0


def test_ones_own_file_says_how_fast_cores_are(own_file):
    of_families = [{"families": ["m6i.*", "ours.*"], "core_speed_ratio": 1.1, "source": "our load test"}]
    shapes = [OWN["shapes"][0] | {"name": "ours.big"}, OWN["shapes"][0] | {"name": "ours.odd", "core_speed_ratio": 0.8}]
    found = read_shapes(own_file({**OWN, "processors": of_families, "shapes": shapes}))
    assert [found[name].core_speed_ratio for name in ("m6i.large", "ours.big", "ours.odd")] == [1.1, 1.1, 0.8]
    assert math.isnan(read_shapes(own_file(OWN))["r740"].core_speed_ratio)


def test_the_same_machines_are_offered_with_io2():
    shapes = read_shapes()
    with_gp3 = {name for name, shape in shapes.items() if shape.volume is not None and shape.volume.name == "gp3"}
    assert {name for name in shapes if name.startswith("io2.")} == {f"io2.{name}" for name in with_gp3}
    plain, other = shapes["m7g.2xlarge"], shapes["io2.m7g.2xlarge"]
    assert (other.usd_per_hour, other.core_speed_ratio) == (plain.usd_per_hour, plain.core_speed_ratio)
    assert other.volume.largest_bytes_per_second == 4_000 * MIB
    assert other.volume.usd_per_gib_month == 0.125
    assert all(shape.name.startswith("m7g.") for shape in chosen_shapes(shapes, ["m7g.*"]))


def test_shapes_of_another_offer_have_a_prefix(own_file):
    more = OWN["offers"][0] | {"name": "ours-2", "shapes_of": "ours"}
    with pytest.raises(RequestError, match="give a name_prefix where the shapes are those of another offer"):
        read_shapes(own_file({**OWN, "offers": [*OWN["offers"], more]}))
    found = read_shapes(own_file({**OWN, "offers": [*OWN["offers"], more | {"name_prefix": "two."}]}))
    assert found["two.r740"].vcpu == found["r740"].vcpu
