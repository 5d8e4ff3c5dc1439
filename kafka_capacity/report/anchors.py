"""Names of sections, which are their anchors on the page, and which of them says more about a problem."""

from __future__ import annotations

BY_WHEN = "by_when"
COSTS = "options_costs"
FAILURES = "failures"
FINDINGS = "findings"
GROUPS = "groups"
GROWTH = "growth"
SCOREBOARD = "scoreboard"
WAVES = "waves"

OF_PROBLEMS = {
    "growth-assumed": GROWTH,
    "prediction-drift": SCOREBOARD,
    "groups-at-risk": GROUPS,
    "share-groups-at-risk": GROUPS,
    "waves-never-end": WAVES,
    "partitions-in-no-wave": WAVES,
}
"""The section that says more about a kind of problem."""
