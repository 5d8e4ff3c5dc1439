"""Ports for servers under test are given once."""

import socket
import subprocess
import sys

from tests import ports


def test_a_port_is_given_to_one_process_until_it_ends():
    (port,) = ports.free_ports(1)
    code = f"from tests import ports; print(ports._keep({port}), ports._is_free({port}))"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.split() == ["False", "True"]
    assert not ports._keep(port)


def test_a_port_that_somebody_listens_on_is_not_given():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert not ports._is_free(taken.getsockname()[1])


def test_they_are_below_those_of_connections_that_go_out(monkeypatch, tmp_path):
    outgoing = tmp_path / "range"
    monkeypatch.setattr(ports, "_OUTGOING", outgoing)
    assert ports._choice().stop == 32_768
    outgoing.write_text("16000\t65535\n")
    assert ports._choice().stop == 16_000
    outgoing.write_text("1024\t65535\n")
    assert ports._choice().stop == 32_000
