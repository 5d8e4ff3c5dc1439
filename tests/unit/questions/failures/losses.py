"""Losses, and the sides of a report that tell of them, in a few words."""

from kafka_capacity.health.problem import Problem, Severity
from kafka_capacity.questions.failures.section.view import FailuresView, PlacementFailures

DOCUMENT = {"rules": "kraft", "throttle_bytes_per_second": 5e7, "controllers": None}


def loss(position, name, kind="broker", **figures):
    usual = {
        "offline": 0,
        "offline_topics": 0,
        "under_min_isr": 0,
        "stopped_bytes_per_second": 0.0,
        "refused_bytes_per_second": 0.0,
        "rebuild_seconds": 60.0,
        "loaded_broker": 1,
        "loaded_resource": "network_out",
        "loaded_ratio": 0.5,
        "overloaded_brokers": 0,
        "groups_affected": 0,
        "unclean_leaders": 0,
        "at_min_isr": 0,
        "rebuild_bytes": 0.0,
    }
    return {"position": position, "name": name, "kind": kind, "brokers": (position,), **usual, **figures}


def side(
    *rows,
    placement_id="today",
    offline=0,
    under=0,
    brokers=(),
    groups=(),
    found=(),
    possible=None,
    assumed=0,
    rackless=0,
    kinds=(),
):
    kinds = dict.fromkeys((*kinds, *(row["kind"] for row in rows)))
    return PlacementFailures(
        placement_id=placement_id,
        losses={row["kind"]: [one for one in rows if one["kind"] == row["kind"]] for row in rows},
        kinds={
            kind: {
                "possible": possible or len(rows),
                "looked_at": len(rows),
                "offline_before": offline,
                "under_min_isr_before": under,
                "broker_count": 3,
                "assumed_min_isr_topics": assumed,
                "brokers_without_rack": rackless,
                "peak_basis": "same-hours",
                "resources": ["network_in", "network_out"],
            }
            for kind in kinds
        },
        brokers=list(brokers),
        groups=list(groups),
        problems=list(found),
        are_voters_known=any("has_majority" in row for row in rows),
    )


def view(today, then=None, **more):
    given = {"quorum": [], "failovers": [], "document": DOCUMENT, "is_then_same": False}
    return FailuresView(today=today, then=then, **{**given, **more})


def problem(code, severity="serious"):
    return Problem(severity=Severity(severity), code=code, where="orders", message=f"2 partitions are {code}")
