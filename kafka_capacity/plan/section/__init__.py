"""What the report shows of a plan as such, whatever it answers."""
