"""What a change does to a consumer group while it happens: rebalances, pauses, duplicates, lag and catch-up."""
