"""Ask the API server whether a part of Airflow is well, for the health check of its container.

python has_heartbeat.py dag_processor
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request

HEALTH = "/api/v2/monitor/health"


def has_heartbeat(part: str, address: str) -> bool:
    """Return whether the API server at an address has heard of a part lately."""
    with urllib.request.urlopen(address + HEALTH, timeout=10) as answer:  # noqa: S310 - an address of ours
        return bool(json.load(answer)[part]["status"] == "healthy")


if __name__ == "__main__":
    server = os.environ["AIRFLOW__CORE__EXECUTION_API_SERVER_URL"].partition("/execution")[0]
    sys.exit(not has_heartbeat(sys.argv[1], server))
