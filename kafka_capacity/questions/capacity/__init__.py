"""How many brokers, of what kind, by when, for how much: loads and limits of every broker at every date."""
