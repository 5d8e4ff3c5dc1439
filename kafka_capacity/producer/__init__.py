"""Where a producer's records go: Kafka's own partitioners, reproduced, and the skew and remapping they cause."""
