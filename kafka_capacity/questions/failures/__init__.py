"""What breaks when brokers or racks die: a scenario and a snapshot in, one row for each set of losses out."""
