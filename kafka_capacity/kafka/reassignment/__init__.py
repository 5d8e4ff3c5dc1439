"""From one assignment to another: what Kafka moves, how long it takes, the files that make it so."""
