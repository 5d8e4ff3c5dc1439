"""A Java is found, or the one from PyPI is made to do."""

from __future__ import annotations

import os
import subprocess

import pytest

from local.java_home import java_home


def fake_java(folder, version):
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    java.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("version", "is_taken"), [("17.0.15", True), ("21", True), ("11.0.2", False), ("1.8.0_392", False)]
)
def test_the_systems_java_is_taken_from_17_on(tmp_path, monkeypatch, version, is_taken):
    home = fake_java(tmp_path / "jdk", version)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(home / "bin"))
    found = java_home(tmp_path / "state")
    assert (found == home) == is_taken


def test_java_home_comes_before_the_path(tmp_path, monkeypatch):
    first, second = fake_java(tmp_path / "first", "17.0.1"), fake_java(tmp_path / "second", "21.0.1")
    monkeypatch.setenv("JAVA_HOME", str(first))
    monkeypatch.setenv("PATH", str(second / "bin"))
    assert java_home(tmp_path / "state") == first


def test_without_a_java_the_one_from_pypi_runs_and_leaves_out_the_module_it_lacks(tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", "/nonexistent")
    home = java_home(tmp_path)
    monkeypatch.setenv("PATH", path)
    done = subprocess.run(
        [home / "bin" / "java", "--add-modules=jdk.incubator.vector", "-XshowSettings:properties", "-version"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "java.specification.version = 21" in done.stderr
