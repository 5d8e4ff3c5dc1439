"""What the partitions carry: load profiles, growth, forecasts."""
