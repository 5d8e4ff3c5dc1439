"""Problems and actions of made-up reports, and what is kept and said of them."""

from __future__ import annotations

from kafka_capacity.plan.lifecycle import Said, after_saying, entries_of, with_ids
from kafka_capacity.plan.states import with_states

FULL = {
    "code": "disk-over-limit",
    "question": "cluster",
    "severity": "serious",
    "where": "brokers 1, 2",
    "text": "2 brokers are over the limit.",
}
BEHIND = {**FULL, "code": "groups-behind", "severity": "warning", "where": "group etl", "text": "etl is behind."}
RISK = {**BEHIND, "code": "groups-at-risk", "question": "consumers", "text": "2 groups are at risk."}
NOTE = {**FULL, "code": "sizes-of-one-day", "severity": "info", "where": "the plan"}
HAVE = {
    "id": "have-15-brokers",
    "code": "brokers",
    "text": "Have 15 brokers.",
    "broker_count": 15,
    "about": "have 15 brokers",
    "by": None,
}
MOVE = {
    **HAVE,
    "id": "move-to-15-brokers",
    "code": "move",
    "text": "Move to 15 brokers.",
    "about": "move to 15 brokers",
}
REBALANCE = {
    "id": "move-to-12-brokers",
    "code": "move",
    "text": "Move.",
    "broker_count": 12,
    "about": "move to 12 brokers",
}


def decided(ds, problems, actions=(), *, brokers=12, disk=0.95, usd=13_140.0):
    today = {"broker_count": brokers, "fullest_disk_ratio": disk, "usd_per_month": usd}
    return {
        "cluster": "shop",
        "ds": ds,
        "problems": with_ids(problems),
        "actions": [*actions],
        "today": today,
    }


def changed(*resolved, is_alike=True, asked=("have-15-brokers",)):
    return {"resolved_ids": [*resolved], "is_alike": is_alike, "asked_ids": [*asked]}


def states(document, decision):
    told = with_states(decision, entries_of(document))
    return {one["id"]: one.get("state") for one in (*told["problems"], *told["actions"])}


def say(document, decision, verb, *ids, on="2026-11-02", **more):
    return after_saying(document, decision, Said(ids=ids, verb=verb, by="ana", on=on, **more))


def boxed(*args, **kwargs):
    return {**decided(*args, **kwargs), "box": {"lines": []}}
