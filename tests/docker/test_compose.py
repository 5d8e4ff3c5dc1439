"""The compose file is valid, closed to the network, and speaks of things by the names that they have elsewhere."""

from __future__ import annotations

import ast
import copy
import importlib.util
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from kafka_capacity.example import EXAMPLES
from kafka_capacity.inventory.kafka_connection import KafkaConnection
from kafka_capacity.inventory.prometheus_dialects import DIALECTS, Quantity
from tests.docker.files import DOCKER, ROOT, arguments_of, assignments, compose, deployment_env

COMPOSE = compose()
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
ONE_SHOT = {"airflow-init", "make-bucket", "make-topics"}
AIRFLOW = {name for name in SERVICES if name.startswith("airflow-")}
BROKERS = sorted(name for name in SERVICES if re.fullmatch(r"kafka-\d+", name))
INTERPOLATED = re.compile(r"\$\{([A-Z0-9_]+)(:\?|:-)?([^}]*)\}")
TEXT = (DOCKER / "compose.yaml").read_text(encoding="utf-8")
EXAMPLE_ENV = (DOCKER / ".env.example").read_text(encoding="utf-8")

COUNTERS = ("BytesIn", "BytesOut", "ReplicationBytesIn", "ReplicationBytesOut")

every_service = pytest.mark.parametrize("name", sorted(SERVICES))


def schema_errors(document: dict[str, Any]) -> list[str]:
    schema = json.loads((Path(__file__).parent / "compose-spec.json").read_text(encoding="utf-8"))
    return [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(document)]


def filled(text: str) -> str:
    """Put a value where docker compose would put one."""
    return INTERPOLATED.sub(lambda match: match[3] if match[2] == ":-" else "abc123", text)


def airflow_environment(name: str = "airflow-scheduler") -> dict[str, str]:
    own = {key: filled(str(value)) for key, value in SERVICES[name]["environment"].items()}
    return deployment_env() | own


# -- form ----------------------------------------------------------------------------------------


def test_it_fits_the_schema_of_the_compose_specification() -> None:
    assert schema_errors(COMPOSE) == []


def test_the_schema_would_see_a_typing_error() -> None:
    wrong = copy.deepcopy(COMPOSE)
    wrong["services"]["s3"]["enviroment"] = wrong["services"]["s3"].pop("environment")
    assert len(schema_errors(wrong)) == 1


def test_docker_compose_itself_takes_it(tmp_path: Path) -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], check=False, capture_output=True).returncode:
        pytest.skip("there is no docker compose here")
    env_file = tmp_path / "filled.env"
    env_file.write_text(re.sub(r"=$", "=abc123abc123", EXAMPLE_ENV, flags=re.MULTILINE), encoding="utf-8")
    command = [docker, "compose", "--env-file", str(env_file), "-f", str(DOCKER / "compose.yaml"), "config", "-q"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")


@every_service
def test_images_are_pinned(name: str) -> None:
    if "build" in SERVICES[name]:
        assert SERVICES[name]["image"] in {
            "kafka-capacity/airflow:${IMAGE_TAG:-local}",
            "kafka-capacity/kafka:${IMAGE_TAG:-local}",
            "kafka-capacity/spark:${IMAGE_TAG:-local}",
        }
        assert (DOCKER / SERVICES[name]["build"]["context"] / SERVICES[name]["build"]["dockerfile"]).is_file()
    else:
        pinned = r"[a-z]+(/[a-z]+)?:v?\d+\.\d+[\w.-]*@sha256:[0-9a-f]{64}"
        assert re.fullmatch(pinned, SERVICES[name]["image"]), f"{name}: no version with the digest of its bytes"


def test_names_that_are_used_are_declared_and_the_other_way_round() -> None:
    networks = {network for service in SERVICES.values() for network in service["networks"]}
    assert networks == set(COMPOSE["networks"])
    mounts = [mount.partition(":")[0] for service in SERVICES.values() for mount in service.get("volumes", [])]
    assert set(mounts) == set(COMPOSE["volumes"])
    configs = {config["source"] for service in SERVICES.values() for config in service.get("configs", [])}
    assert configs == set(COMPOSE["configs"])
    assert all((DOCKER / config["file"]).is_file() for config in COMPOSE["configs"].values())


# -- starting in order -----------------------------------------------------------------------------


@every_service
def test_what_keeps_running_says_whether_it_is_well(name: str) -> None:
    check = SERVICES[name].get("healthcheck", {})
    if name in ONE_SHOT:
        assert not check.get("test")
        assert SERVICES[name]["restart"] == "on-failure:3"
    else:
        assert check["test"][0] == "CMD"
        assert {"interval", "timeout", "retries", "start_period"} <= set(check)
        assert SERVICES[name]["restart"] == "unless-stopped"


@every_service
def test_none_takes_the_memory_of_the_others(name: str) -> None:
    assert re.fullmatch(r"\d+[mg]", SERVICES[name]["mem_limit"])


@every_service
def test_asking_how_it_is_starts_no_jvm_and_no_airflow(name: str) -> None:
    words = SERVICES[name].get("healthcheck", {}).get("test", [])
    assert not [word for word in words if "java" in word or "/opt/kafka/" in word]
    assert words[1:2] != ["airflow"]


@every_service
def test_what_is_waited_for_can_come_about(name: str) -> None:
    for other, wait in SERVICES[name].get("depends_on", {}).items():
        expected = "service_completed_successfully" if other in ONE_SHOT else "service_healthy"
        assert wait == {"condition": expected}, f"{name} waits for {other}"


@every_service
def test_what_is_waited_for_ends_somewhere(name: str) -> None:
    seen: set[str] = set()
    ahead = list(SERVICES[name].get("depends_on", {}))
    while ahead:
        other = ahead.pop()
        assert other != name
        if other not in seen:
            seen.add(other)
            ahead += SERVICES[other].get("depends_on", {})


def test_nothing_of_airflow_starts_before_the_database_is_migrated() -> None:
    for name in AIRFLOW - {"airflow-init"}:
        assert "airflow-init" in SERVICES[name]["depends_on"]
    assert SERVICES["airflow-init"]["command"] == ["airflow", "db", "migrate"]


# -- closed to the network -------------------------------------------------------------------------


@every_service
def test_ports_are_bound_on_loopback(name: str) -> None:
    for port in SERVICES[name].get("ports", []):
        assert re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port)


def test_no_two_services_publish_one_port() -> None:
    published = [port.split(":")[1] for service in SERVICES.values() for port in service.get("ports", [])]
    assert sorted(set(published)) == sorted(published)


@every_service
def test_nobody_gains_privileges(name: str) -> None:
    service = SERVICES[name]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["cap_drop"] == ["ALL"]
    assert not {"privileged", "cap_add", "network_mode", "pid", "devices"} & set(service)


def test_only_airflow_reaches_its_database() -> None:
    assert COMPOSE["networks"]["metadata"] == {"internal": True}
    assert {name for name in SERVICES if "metadata" in SERVICES[name]["networks"]} == AIRFLOW | {"postgres"}
    assert SERVICES["postgres"]["networks"] == ["metadata"]
    assert "ports" not in SERVICES["postgres"]


def test_every_secret_is_asked_for() -> None:
    asked = {match[1]: match[2] for match in INTERPOLATED.finditer(TEXT)}
    blank = {name for name, value in assignments(EXAMPLE_ENV).items() if not value}
    assert {name for name, operator in asked.items() if operator == ":?"} == blank
    assert {name for name, operator in asked.items() if operator == ":-"} == {"IMAGE_TAG"}
    assert set(asked.values()) == {":?", ":-"}
    for match in INTERPOLATED.finditer(TEXT):
        assert match[2] == ":-" or match[3] == "set it in docker/.env"


@pytest.mark.parametrize("word", ["PASSWORD", "SECRET", "KEY", "TOKEN"])
def test_no_secret_is_written_down(word: str) -> None:
    for name, service in SERVICES.items():
        for key, value in service.get("environment", {}).items():
            if word in key and not key.endswith("_FILE"):
                assert INTERPOLATED.search(str(value)), f"{name}: {key} has its value in the file"
    assert not [name for name in deployment_env() if word in name]


def test_git_ignores_what_holds_secrets() -> None:
    assert (DOCKER / ".gitignore").read_text(encoding="utf-8").split() == [".env", "local.env"]


def test_nobody_signs_in_without_a_password_of_the_deployment() -> None:
    environment = airflow_environment("airflow-api-server")
    assert environment["AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS"] == "False"
    assert environment["AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS"] == "abc123:admin"
    assert SERVICES["airflow-api-server"]["command"][1] == "/opt/kafka-capacity/docker/with_passwords.py"
    assert [name for name in SERVICES if "AIRFLOW_PASSWORD" in SERVICES[name].get("environment", {})] == [
        "airflow-api-server"
    ]


# -- names -----------------------------------------------------------------------------------------


def airflow_options() -> set[str]:
    """What Airflow's configuration knows, as environment variables; read without importing Airflow."""
    spec = importlib.util.find_spec("airflow")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    for folder in spec.submodule_search_locations:
        path = Path(folder) / "config_templates" / "config.yml"
        if path.is_file():
            sections = yaml.safe_load(path.read_text(encoding="utf-8"))
            return {
                f"AIRFLOW__{section.upper()}__{option.upper()}"
                for section, content in sections.items()
                for option in content["options"]
            }
    raise AssertionError("Airflow is installed without its config.yml")


def variables_that_are_read() -> set[str]:
    path = ROOT / "plugins" / "kafka_capacity_airflow" / "settings.py"
    documentation = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return {
        f"AIRFLOW_VAR_{name.upper()}" for name in re.findall(r"^(kafka_capacity_\w+) ", documentation, re.MULTILINE)
    }


def environment_that_dags_read() -> set[str]:
    files = [*(ROOT / "dags").glob("*.py"), *(ROOT / "plugins").rglob("*.py")]
    texts = [path.read_text(encoding="utf-8") for path in files]
    return {name for text in texts for name in re.findall(r'(?:os\.environ\.get|_number)\("(KAFKA_\w+)"', text)}


@pytest.mark.parametrize("name", sorted(AIRFLOW))
def test_airflow_knows_what_it_is_told(name: str) -> None:
    told = {key for key in airflow_environment(name) if key.startswith("AIRFLOW__")}
    assert told - airflow_options() == set()


def test_airflow_knows_what_its_image_tells_it() -> None:
    (told,) = arguments_of(DOCKER / "airflow.Dockerfile", "ENV")
    names = set(re.findall(r"(AIRFLOW__\w+)=", told))
    assert names
    assert names - airflow_options() == set()


def test_the_variables_are_those_that_the_planner_reads() -> None:
    told = {key for key in airflow_environment() if key.startswith("AIRFLOW_VAR_")}
    assert told == variables_that_are_read()


def test_the_schedules_are_those_that_the_dags_read() -> None:
    told = {key for key in deployment_env() if not key.startswith("AIRFLOW_")}
    assert told == environment_that_dags_read()


def connections() -> dict[str, dict[str, Any]]:
    prefix = "AIRFLOW_CONN_"
    return {
        key.removeprefix(prefix).lower(): json.loads(value)
        for key, value in airflow_environment().items()
        if key.startswith(prefix)
    }


def clusters() -> list[dict[str, Any]]:
    return json.loads(airflow_environment()["AIRFLOW_VAR_KAFKA_CAPACITY_CLUSTERS"])


def test_there_is_a_connection_for_each_thing_to_reach() -> None:
    kafka = {f"kafka_{cluster['name']}" for cluster in clusters() if cluster["source"] == "kafka"}
    assert kafka == {"kafka_demo"}
    rates = {f"prometheus_{cluster['name']}" for cluster in clusters() if "prometheus" in cluster}
    assert rates == {"prometheus_demo"}
    assert set(connections()) == {"spark_default", "aws_default", "smtp_default"} | kafka | rates


def test_the_examples_exist() -> None:
    assert {cluster["name"] for cluster in clusters() if cluster["source"] == "example"} <= set(EXAMPLES)


def test_connections_lead_to_services_that_airflow_s_tasks_can_reach() -> None:
    given = connections()
    reached = {
        given["spark_default"]["host"]: ("spark://spark-master:7077", "spark-master"),
        given["aws_default"]["extra"]["endpoint_url"]: ("http://s3:7070", "s3"),
        f"{given['smtp_default']['host']}:{given['smtp_default']['port']}": ("mail:1025", "mail"),
    }
    for address, (expected, service) in reached.items():
        assert address == expected
        assert set(SERVICES[service]["networks"]) <= set(SERVICES["airflow-scheduler"]["networks"])
    master = SERVICES["spark-master"]["command"]
    assert master[master.index("--port") + 1] == "7077"
    assert SERVICES["s3"]["command"][:2] == ["--port", ":7070"]


def test_callbacks_of_killed_tasks_can_mail_and_read_the_store() -> None:
    assert {"post", "objects"} <= set(SERVICES["airflow-dag-processor"]["networks"])


def test_the_kafka_connection_is_one_that_the_planner_takes() -> None:
    connection = KafkaConnection.from_airflow_extra(connections()["kafka_demo"]["extra"])
    assert connection.bootstrap_servers == tuple(f"{broker}:19092" for broker in BROKERS)
    assert "brokers" in SERVICES["airflow-scheduler"]["networks"]


def test_reports_are_pages_of_airflow_which_can_read_them() -> None:
    environment = airflow_environment("airflow-api-server")
    bucket = SERVICES["make-bucket"]["environment"]["BUCKET"]
    assert environment["AIRFLOW_VAR_KAFKA_CAPACITY_STORE_URI"].startswith(f"s3://{bucket}/")
    assert not environment["AIRFLOW_VAR_KAFKA_CAPACITY_REPORT_URL"]
    assert environment["AIRFLOW__API__BASE_URL"] == "http://localhost:8080"
    assert "objects" in SERVICES["airflow-api-server"]["networks"]


# -- Spark -----------------------------------------------------------------------------------------


def test_executors_find_their_driver_and_their_python() -> None:
    conf = json.loads(airflow_environment()["AIRFLOW_VAR_KAFKA_CAPACITY_SPARK_CONF"])
    assert conf["spark.driver.host"] == SERVICES["airflow-scheduler"]["hostname"]
    assert "compute" in SERVICES["airflow-scheduler"]["networks"]
    for path in ("airflow.Dockerfile", "spark.Dockerfile"):
        (environment,) = arguments_of(DOCKER / path, "ENV")
        assert f"PYSPARK_PYTHON={conf['spark.pyspark.python']}" in environment.split()
        assert any(copied.endswith(" /opt/venv /opt/venv") for copied in arguments_of(DOCKER / path, "COPY"))


def test_two_jobs_run_side_by_side() -> None:
    conf = json.loads(airflow_environment()["AIRFLOW_VAR_KAFKA_CAPACITY_SPARK_CONF"])
    workers = [SERVICES[name]["command"] for name in ("spark-worker-1", "spark-worker-2")]
    cores, memory = (
        [int(words[words.index(option) + 1].removesuffix("g")) for words in workers]
        for option in ("--cores", "--memory")
    )
    assert 2 * int(conf["spark.cores.max"]) <= sum(cores)
    # A job has an executor on each worker.
    assert 2 * int(conf["spark.executor.memory"].removesuffix("g")) <= min(memory)


def test_spark_gets_the_values_of_options_as_words_of_their_own() -> None:
    for name in ("spark-master", "spark-worker-1", "spark-worker-2"):
        assert not [word for word in SERVICES[name]["command"] if re.match(r"--[a-z-]+=", str(word))]


# -- Kafka -----------------------------------------------------------------------------------------


def test_three_brokers_in_three_racks() -> None:
    settings = [SERVICES[broker]["environment"] for broker in BROKERS]
    assert [setting["KAFKA_NODE_ID"] for setting in settings] == [1, 2, 3]
    assert [setting["KAFKA_BROKER_RACK"] for setting in settings] == ["rack-a", "rack-b", "rack-c"]
    voters = ",".join(f"{setting['KAFKA_NODE_ID']}@kafka-{setting['KAFKA_NODE_ID']}:9093" for setting in settings)
    assert {setting["KAFKA_CONTROLLER_QUORUM_VOTERS"] for setting in settings} == {voters}
    assert len({setting["CLUSTER_ID"] for setting in settings}) == 1
    assert len({SERVICES[broker]["volumes"][0] for broker in BROKERS}) == 3


@pytest.mark.parametrize("broker", BROKERS)
def test_brokers_are_reached_at_what_they_advertise(broker: str) -> None:
    service = SERVICES[broker]
    published = service["ports"][0].split(":")[1]
    advertised = f"PLAINTEXT://{broker}:19092,HOST://localhost:{published}"
    assert service["environment"]["KAFKA_ADVERTISED_LISTENERS"] == advertised
    assert service["hostname"] == broker
    assert service["volumes"] == [f"{broker}-data:{service['environment']['KAFKA_LOG_DIRS']}"]


def test_the_brokers_are_of_the_release_that_the_live_tests_run() -> None:
    locked = (ROOT / "tests" / "live" / "kafka_jars_4.3.1.lock").read_text(encoding="utf-8")
    (release,) = set(re.findall(r"org\.apache\.kafka:kafka-server:([\d.]+)", locked))
    assert len({SERVICES[name]["image"] for name in [*BROKERS, "make-topics"]}) == 1
    (base,) = arguments_of(DOCKER / "kafka.Dockerfile", "ARG")
    assert base.startswith(f"KAFKA_IMAGE=apache/kafka:{release}@sha256:")


def test_the_script_that_makes_topics_is_bash(tmp_path: Path) -> None:
    command = SERVICES["make-topics"]["command"]
    assert command[:2] == ["bash", "-euc"]
    script = tmp_path / "make_topics.sh"
    script.write_text(command[2].replace("$$", "$"), encoding="utf-8")
    done = subprocess.run(
        ["bash", "-n", str(script)], check=False, capture_output=True, text=True, env=dict(os.environ)
    )
    assert (done.returncode, done.stderr) == (0, "")


# -- Prometheus ------------------------------------------------------------------------------------


def test_prometheus_scrapes_every_broker_under_its_id() -> None:
    (job,) = yaml.safe_load((DOCKER / "prometheus.yaml").read_text(encoding="utf-8"))["scrape_configs"]
    settings = {broker: SERVICES[broker]["environment"] for broker in BROKERS}
    found = re.fullmatch(r"-javaagent:(.+)=(\d+):(.+)", settings["kafka-1"]["KAFKA_OPTS"])
    assert found
    agent, port, rules = found.groups()
    assert [(one["targets"], one["labels"]) for one in job["static_configs"]] == [
        ([f"{broker}:{port}"], {"broker_id": str(told["KAFKA_NODE_ID"])}) for broker, told in settings.items()
    ]
    image = (DOCKER / "kafka.Dockerfile").read_text(encoding="utf-8")
    assert f" {agent}\n" in image
    assert f" docker/jmx_rules.yaml {rules}\n" in image
    assert set(SERVICES["prometheus"]["networks"]) <= set(SERVICES["airflow-scheduler"]["networks"])
    assert connections()["prometheus_demo"]["host"] == "http://prometheus:9090"


def test_brokers_tell_what_the_planner_asks_for() -> None:
    rules = yaml.safe_load((DOCKER / "jmx_rules.yaml").read_text(encoding="utf-8"))["rules"]
    metrics = [f"BrokerTopicMetrics, name={way}PerSec{of}><>Count" for way in COUNTERS for of in ("", ", topic=a")]
    offsets = [f"Log, name=Log{end}Offset, topic=a, partition=0><>Value" for end in ("Start", "End")]
    metrics.append("BrokerTopicMetrics, name=RemoteLogSizeBytes, topic=a><>Value")
    beans = [*(f"kafka.server<type={bean}" for bean in metrics), *(f"kafka.log<type={bean}" for bean in offsets)]
    told = set()
    for bean in beans:
        rule, found = next((one, match) for one in rules if (match := re.fullmatch(one["pattern"], bean)))
        told.add(rule["name"].replace("$1", found[1]).lower())
        assert "topic" in rule.get("labels", {}) or ", topic=" not in bean
    # The agent tells of processors by itself.
    asked = {metrics[0].names for name, metrics in DIALECTS["jmx"].items() if name != Quantity.BROKER_CPU_SECONDS}
    assert len(told) == len(asked)
    assert all(told & set(names) for names in asked)
