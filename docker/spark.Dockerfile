# A node of a standalone Spark cluster: master and workers are this image with another command.
#
#   docker build -f docker/spark.Dockerfile -t kafka-capacity/spark .
#
# The planner is not in it: a job brings its code along (--py-files), so that a new release needs no new workers. What
# cannot travel in a zip is: compiled packages, in the very versions that Airflow's side has.
#
# Executors unpickle what the driver pickled: docker/airflow.Dockerfile must have the same Python (tests/docker).
ARG PYTHON_IMAGE=python:3.12.12-slim-trixie@sha256:f3fa41d74a768c2fce8016b98c191ae8c1bacd8f1152870a3f9f87d350920b7c

# hadolint ignore=DL3006
FROM ${PYTHON_IMAGE} AS packages
RUN python -m venv /opt/venv
COPY requirements.txt docker/subset_of_lock.py /locks/
RUN python /locks/subset_of_lock.py /locks/requirements.txt pyspark py4j numpy scipy pyarrow > /locks/spark.txt \
    && /opt/venv/bin/pip install --no-cache-dir --require-hashes --requirement /locks/spark.txt

# hadolint ignore=DL3006
FROM ${PYTHON_IMAGE}
# Debian drops superseded versions from its mirrors, so a pinned one would stop building with the next security update.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends openjdk-21-jre-headless \
    && rm -rf /var/lib/apt/lists/*

RUN useradd --uid 50001 --create-home --home-dir /opt/spark --shell /usr/sbin/nologin spark \
    && mkdir /opt/spark/work \
    && chown spark:spark /opt/spark/work

COPY --from=packages /opt/venv /opt/venv

ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYSPARK_PYTHON=/opt/venv/bin/python

WORKDIR /opt/spark
# By number: a cluster that forbids root can tell that this is not root.
USER 50001
# The package from PyPI ships no start scripts, only what they would call.
CMD ["spark-class", "org.apache.spark.deploy.master.Master"]
