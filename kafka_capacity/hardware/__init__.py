"""What brokers can do and cost: shapes and prices, limits, the CPU cost of traffic."""
