"""Compares this package with answers recorded from Kafka's own code: ``python -m kafka_capacity.conformance DIR``."""
