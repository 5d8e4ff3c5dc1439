"""Instead of buying: what could be changed so that fewer brokers, or fewer dollars, are enough."""
