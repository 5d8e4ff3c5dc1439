"""Kafka's own rules for one partition at a time, which only recorded answers are compared with.

What plans use are the same rules for a million partitions at once (:mod:`kafka_capacity.kafka.controller.failing`).
"""
