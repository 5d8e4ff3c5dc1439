"""Kafka's own rules that only recorded answers are compared with: for one partition at a time, and of old consumers.

What plans use are the same rules for a million partitions at once (:mod:`kafka_capacity.kafka.controller.failing`).
"""
