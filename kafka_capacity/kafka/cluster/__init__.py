"""Brokers, topics, partitions and replicas as arrays; an assignment and the diff of two."""
