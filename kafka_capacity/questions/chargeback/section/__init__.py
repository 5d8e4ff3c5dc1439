"""What the report shows of chargeback."""
