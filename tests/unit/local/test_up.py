"""What ``make up`` starts, before it is started: who may read the password, and which servers are left out."""

from __future__ import annotations

import json
import stat

from cryptography.fernet import Fernet

from local import up
from local.environment import airflow_home, encryption_key


def test_the_password_is_for_its_owner_alone_and_stays(tmp_path):
    home = airflow_home(tmp_path)
    home.mkdir()
    password = up.make_password(tmp_path)
    (file,) = home.iterdir()
    assert json.loads(file.read_text()) == {"admin": password}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(password) >= 16
    assert up.make_password(tmp_path) == password


def test_one_that_an_earlier_version_left_for_everyone_is_closed(tmp_path):
    home = airflow_home(tmp_path)
    home.mkdir()
    (file := home / "simple_auth_manager_passwords.json.generated").write_text('{"admin": "abc", "other": "long ago"}')
    (tmp_path / "airflow-standalone.log").write_text("Password for user 'admin': abc")
    file.chmod(0o644)
    assert up.make_password(tmp_path) == "abc"
    assert json.loads(file.read_text()) == {"admin": "abc"}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [home]


def test_all_parts_of_airflow_have_one_key_that_stays(tmp_path):
    home = airflow_home(tmp_path)
    home.mkdir()
    key = encryption_key(tmp_path)
    assert Fernet(key).decrypt(Fernet(key).encrypt(b"a variable")) == b"a variable"
    (file,) = home.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert encryption_key(tmp_path) == key


def test_the_key_of_an_earlier_version_is_taken_over(tmp_path):
    home = airflow_home(tmp_path)
    home.mkdir()
    made = Fernet.generate_key().decode()
    (home / "airflow.cfg").write_text(f"[core]\nfernet_key = {made}\nexecutor = %%(no)s\n")
    assert encryption_key(tmp_path) == made


def test_no_server_of_logs_is_started_and_the_api_listens_on_loopback(tmp_path):
    from local.environment import airflow_environment

    servers_of_logs = {"scheduler", "triggerer"}
    for command in up.AIRFLOW_COMMANDS:
        assert ("--skip-serve-logs" in command) == (command[0] in servers_of_logs)
    environment = airflow_environment(tmp_path, s3_endpoint="http://127.0.0.1:9", smtp_port=9)
    assert environment["AIRFLOW__API__HOST"] == "127.0.0.1"
