"""The parts of Java that Kafka's answers rest on: Random, hashCode, order of strings, HashMap and PriorityQueue."""
