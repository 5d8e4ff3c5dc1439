"""Parameters of plans that are about something else than how much is simulated."""

UNEVEN_GROUPS = {"groups": ["app-media-billing"], "group_events": ["scale"]}
"""One group of the example ``metrics-uneven`` in one event."""
