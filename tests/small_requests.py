"""Parameters of plans that are about something else than how much is simulated."""

SMALL_REQUEST = {
    "groups": ["app-media-billing"],
    "group_events": ["scale"],
    "sizing_broker_counts": [9, 12],
    "failover_runs": 50,
    "max_savings_sets": 0,
    "marginal_topics": 0,
}
"""Of the example ``metrics-uneven``: one group in one event, and little else."""
