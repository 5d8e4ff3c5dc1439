"""The mail sink takes a port of its own and keeps what comes."""

import smtplib
import socket

import pytest

from local.mail_sink import MailSink


def send(port, text):
    with smtplib.SMTP("127.0.0.1", port, timeout=300) as client:
        client.sendmail("a@example.net", ["b@example.net"], f"Subject: x\r\n\r\n{text}\r\n")


def test_sinks_side_by_side_have_ports_of_their_own_and_keep_messages_in_order(tmp_path):
    with MailSink(tmp_path / "one") as one, MailSink(tmp_path / "other") as other:
        assert one.port != other.port
        for text in ("first", "second"):
            send(one.port, text)
        send(other.port, "elsewhere")
    assert [path.name for path in one.messages()] == ["0001.eml", "0002.eml"]
    assert b"second" in one.messages()[1].read_bytes()
    assert [b"elsewhere" in path.read_bytes() for path in other.messages()] == [True]


def test_its_port_is_its_own_from_the_beginning_and_free_at_the_end(tmp_path):
    sink = MailSink(tmp_path)
    with pytest.raises(OSError, match="in use"):
        socket.create_server(("127.0.0.1", sink.port))
    with sink:
        pass
    with socket.create_server(("127.0.0.1", sink.port)) as again:
        assert again.getsockname()[1] == sink.port


def test_a_port_that_is_taken_is_refused(tmp_path):
    with MailSink(tmp_path / "one") as one, pytest.raises(OSError, match="in use"):
        MailSink(tmp_path / "other", one.port)
