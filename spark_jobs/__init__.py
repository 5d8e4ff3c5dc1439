"""How the work spreads over a cluster: entry points for spark-submit. All that is true of Kafka is elsewhere."""
