"""Where a producer's records go: Kafka's own partitioners, reproduced."""
