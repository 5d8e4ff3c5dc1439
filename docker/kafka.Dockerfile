# A Kafka broker that tells Prometheus what goes through it: the image of the Kafka project and the JMX exporter.
#
#   docker build -f docker/kafka.Dockerfile -t kafka-capacity/kafka .
ARG KAFKA_IMAGE=apache/kafka:4.3.1@sha256:77e3df9054047a88b520d0cc46e16696d3b22022e1d580aeccd2632df6532837

# hadolint ignore=DL3006
FROM ${KAFKA_IMAGE}
ADD --chmod=644 --checksum=sha256:7d61f737fd661610ccc14aea79764faa1ea94a340cbc8f0029b3d2edea3d80c1 \
    https://repo1.maven.org/maven2/io/prometheus/jmx/jmx_prometheus_javaagent/1.0.1/jmx_prometheus_javaagent-1.0.1.jar \
    /opt/jmx/agent.jar
COPY --chmod=644 docker/jmx_rules.yaml /opt/jmx/rules.yaml
# It goes on as the user of the base, appuser, whose the folders of data are.
