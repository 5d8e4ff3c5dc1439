"""Cordoned brokers (KIP-1066): too many of them, or one that a placement empties and that is not cordoned."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafka_capacity.health.cluster_view import ClusterView, called
from kafka_capacity.health.problem import Code, Figure, Problem, info, serious, warning
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.kafka.cluster.release import KAFKA_4_3, KafkaRelease
from kafka_capacity.text import plural


def check_cordons(view: ClusterView) -> Iterator[Problem]:
    """Look at brokers that take no new replicas, and whether those that do are enough."""
    brokers = view.snapshot.brokers
    yield from _some_directories(view)
    cordoned, left = brokers.ids[brokers.is_cordoned], int(brokers.takes_replicas.sum())
    if not len(cordoned):
        return
    factor, is_one = int(view.factor.max(initial=0)), len(cordoned) == 1
    message = f"{plural(len(cordoned), 'broker')} of {len(brokers):,} {'is' if is_one else 'are'} cordoned"
    if left < factor:
        message += (
            f" and {plural(left, 'broker')} can take new replicas: no topic with replication factor {factor} can be "
            "created, and none can get more partitions"
        )
    else:
        message += f": {'it keeps its' if is_one else 'they keep their'} replicas but gets no new ones"
    remedy = "delete the broker setting cordoned.log.dirs where replicas may be placed again"
    figure = Figure(float(left), float(factor), "brokers")
    make = serious if left < factor else info
    yield make(Code.CORDONED, called("broker", cordoned.tolist()), message, remedy, figure=figure)


def _some_directories(view: ClusterView) -> Iterator[Problem]:
    """Name the brokers of which some directories are cordoned: what they take goes into the others.

    A directory that has failed takes nothing either, but nobody cordoned it, and what failed is told elsewhere.
    """
    dirs = view.snapshot.log_dirs
    if dirs.is_cordoned is None:
        return
    of = dirs.broker_id[dirs.is_cordoned if dirs.is_failed is None else dirs.is_cordoned & ~dirs.is_failed]
    partly = np.intersect1d(of, dirs.broker_id[dirs.takes_replicas])
    if len(partly):
        count = int(np.isin(of, partly).sum())
        message = (
            f"{plural(count, 'log dir')} {'is' if count == 1 else 'are'} cordoned on brokers that have others: new "
            "replicas go into those"
        )
        yield info(Code.CORDONED_DIRS, called("broker", partly.tolist()), message)


def uncordoned_problems(observed: Brokers, release: KafkaRelease, target: Brokers) -> tuple[Problem, ...]:
    """Name the brokers that a placement empties while Kafka may still put new replicas there (from 4.3 on)."""
    open_ids = observed.ids[observed.takes_replicas & ~np.isin(observed.ids, target.ids)]
    if release < KAFKA_4_3 or not len(open_ids):
        return ()
    is_one = len(open_ids) == 1
    message = (
        f"{plural(len(open_ids), 'broker')} that {'is' if is_one else 'are'} to be emptied {'is' if is_one else 'are'} "
        "not cordoned: topics and partitions created meanwhile land there, so that "
        f"{'it' if is_one else 'they'} may not be empty at the end"
    )
    remedy = "set cordoned.log.dirs=* on each before anything is copied, as the runbook does"
    return (warning("not-cordoned", called("broker", open_ids.tolist()), message, remedy),)
