# Airflow with the planner in it: API server, scheduler, dag processor and triggerer are this image with another command.
#
#   docker build -f docker/airflow.Dockerfile -t kafka-capacity/airflow .
#
# The base is plain Python and not apache/airflow: that image holds providers at the versions of Airflow's own
# constraints, among them ones that requirements.txt does not name, and two sets of pins in one environment are tested
# by nobody. Here the environment is the lock and nothing else.
#
# Executors unpickle what the driver pickled: docker/spark.Dockerfile must have the same Python (tests/docker).
ARG PYTHON_IMAGE=python:3.12.12-slim-trixie@sha256:f3fa41d74a768c2fce8016b98c191ae8c1bacd8f1152870a3f9f87d350920b7c

# hadolint ignore=DL3006
FROM ${PYTHON_IMAGE} AS packages
RUN python -m venv /opt/venv
COPY requirements.txt docker/requirements-postgres.txt /locks/
# One lock for every way to run the planner: it includes the embedded parts of a laptop (a Java runtime, an S3 endpoint
# and a mail sink in Python), which nothing here starts. It is whole, and leaves out one dependency on purpose
# (local/lock_overrides.txt).
RUN /opt/venv/bin/pip install --no-cache-dir --no-deps --require-hashes \
    --requirement /locks/requirements.txt --requirement /locks/requirements-postgres.txt

# hadolint ignore=DL3006
FROM ${PYTHON_IMAGE}
# spark-submit runs the driver here, on the Java that executors have. Debian drops superseded versions from its mirrors,
# so a pinned one would stop building with the next security update.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends openjdk-21-jre-headless \
    && rm -rf /var/lib/apt/lists/*

# 50000 is the user id of Airflow's own images: volumes of theirs fit. The log folder must be there before a volume is
# mounted over it, or the volume would be root's.
RUN useradd --uid 50000 --create-home --home-dir /opt/airflow --shell /usr/sbin/nologin airflow \
    && mkdir /opt/airflow/logs \
    && chown airflow:airflow /opt/airflow/logs

# The same path as on the Spark workers: the driver tells executors which Python to start.
COPY --from=packages /opt/venv /opt/venv

WORKDIR /opt/kafka-capacity
COPY kafka_capacity kafka_capacity
COPY spark_jobs spark_jobs
COPY templates templates
COPY plugins plugins
COPY dags dags
COPY docker/has_heartbeat.py docker/make_bucket.py docker/with_passwords.py docker/

ENV PATH=/opt/venv/bin:$PATH \
    PYTHONPATH=/opt/kafka-capacity \
    PYTHONUNBUFFERED=1 \
    PYSPARK_PYTHON=/opt/venv/bin/python \
    AIRFLOW_HOME=/opt/airflow \
    AIRFLOW__CORE__DAGS_FOLDER=/opt/kafka-capacity/dags \
    AIRFLOW__CORE__PLUGINS_FOLDER=/opt/kafka-capacity/plugins \
    AIRFLOW__CORE__LOAD_EXAMPLES=False

# By number: a cluster that forbids root can tell that this is not root.
USER 50000
# Which part of Airflow this is, and how to ask whether it is well, is the deployment's to say: docker/compose.yaml.
CMD ["airflow", "version"]
