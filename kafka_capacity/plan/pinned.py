"""Pin what a plan rests on, once: nothing after this step reads a date or looks for an inventory."""

from __future__ import annotations

import datetime
import difflib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from kafka_capacity import MODEL_VERSION, __version__
from kafka_capacity.demand.calendar_days import months_later
from kafka_capacity.demand.planned import check_event_topics
from kafka_capacity.errors import InventoryError, RequestError
from kafka_capacity.hardware.shape_catalogue import OWN_SHAPES, chosen_shapes, shapes_beside
from kafka_capacity.inventory.owners import Owners
from kafka_capacity.inventory.staging import inventory_manifest, newest_complete, read_staged_brokers
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.objects.dataset import keep_version, read_table
from kafka_capacity.objects.keys import plan_prefix, report_prefix, request_key
from kafka_capacity.objects.manifest import OWN_HASH, read_with_own_hash, with_own_hash
from kafka_capacity.objects.store import ObjectStore
from kafka_capacity.plan.load_profile import find_profile
from kafka_capacity.plan.owners import topic_rows
from kafka_capacity.plan.request import DELIVERY_FIELDS, PlanRequest, parse_plan_request
from kafka_capacity.proposal.expansion import check_partition_counts
from kafka_capacity.proposal.grid import placement_grid
from kafka_capacity.proposal.pins import check_pins
from kafka_capacity.proposal.scenario import PlacementScenario
from kafka_capacity.questions.accuracy.stored_scores import newest_scores, read_score_document
from kafka_capacity.text.wording import few_names


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedPlan:
    """What a plan rests on; small enough to hand from task to task.

    The hashes are those of manifests; that of the load profile is empty where none was made of the inventory.
    """

    cluster: str
    ds: str
    inventory_sha256: str
    plan_id: str
    profile_sha256: str = ""

    @property
    def request_key(self) -> str:
        """Where the request is."""
        return request_key(self.cluster, self.ds, self.plan_id)

    @property
    def plan_prefix(self) -> str:
        """Where the plan's tables are."""
        return plan_prefix(self.cluster, self.ds, self.plan_id)

    @property
    def pieces_prefix(self) -> str:
        """Where pieces are that are done and in none of its tables yet."""
        return plan_prefix(self.cluster, self.ds, self.plan_id, "pieces")

    @property
    def report_prefix(self) -> str:
        """Where the report is."""
        return report_prefix(self.cluster, self.ds, self.plan_id)

    @property
    def report_key(self) -> str:
        """Where its first page is."""
        return self.report_prefix + "index.html"

    def as_dict(self) -> dict[str, str]:
        """Return plain data."""
        return asdict(self)


def pin_plan(
    store: ObjectStore,
    request: PlanRequest,
    *,
    run_date: datetime.date,
    own_shapes: str = "",
    owners: Owners | None = None,
) -> PinnedPlan:
    """Find the inventory, name the plan, and write down what it is asked.

    The versions that it rests on are kept for its tasks, whatever is staged over them.

    Args:
        store: where inventories and plans are.
        request: what is asked.
        run_date: without a date in the request, the newest complete inventory that is not younger counts.
        own_shapes: the deployment's own shapes and prices, JSON in the form of the shipped catalogue.
        owners: of topics and groups, as the deployment knows them; whose costs are shared out to them.

    Raises:
        InventoryError: there is no such inventory.
        RequestError: the request cannot be asked of this cluster.
    """
    ds = request.ds.isoformat() if request.ds else newest_complete(store, request.cluster, not_after=run_date)
    manifest = inventory_manifest(store, request.cluster, ds)
    observed = read_staged_brokers(store, manifest)
    check_brokers(request, observed)
    chosen_shapes(shapes_beside(own_shapes, OWN_SHAPES), request.shapes)
    grid = request.grid()
    scenarios = placement_grid(observed, grid)
    counts = dict.fromkeys(read_table(store, manifest, "topics").column("topic").to_pylist(), 0)
    if request.partition_counts:
        counts |= {row["topic"]: row["partitions"] for row in topic_rows(read_table(store, manifest, "replicas"))}
    check_changes(request, counts, scenarios)
    demand = request.demand_settings()
    check_event_topics(demand.events, sorted(counts), ds=ds, horizon=months_later(ds, demand.horizon_months))
    check_failures(request, observed, () if grid.is_count_open else scenarios)
    check_groups(request.groups, read_table(store, manifest, "groups"), cluster=request.cluster)
    profile = find_profile(store, request.cluster, ds, inventory_sha256=manifest.sha256)
    profile_sha256 = "" if profile is None else profile.sha256
    scores = newest_scores(store, request.cluster, not_after=ds)
    pinned = PinnedPlan(
        cluster=request.cluster,
        ds=ds,
        inventory_sha256=manifest.sha256,
        plan_id=request.plan_id(
            ds=ds,
            inventory_sha256=manifest.sha256,
            profile_sha256=profile_sha256,
            scores_sha256="" if scores is None else scores.sha256,
            own_shapes=own_shapes,
            owners=json.dumps(owners) if owners else "",
        ),
        profile_sha256=profile_sha256,
    )
    document = {
        "pinned": pinned.as_dict(),
        "request": request.model_dump(mode="json", exclude={*DELIVERY_FIELDS, "ds"}),
        "own_shapes": own_shapes,
        "owners": [list(pair) for pair in (owners or {}).items()],  # the first that matches counts
        "scores": None if scores is None else read_score_document(store, scores),
        "code_version": __version__,
        "model_version": MODEL_VERSION,
    }
    for rests_on in filter(None, (manifest, profile)):
        keep_version(store, rests_on)
    store.write_bytes(pinned.request_key, with_own_hash(document), content_type="application/json")
    return pinned


def check_brokers(request: PlanRequest, observed: Brokers) -> None:
    """Refuse changes of brokers that there are not, and racks for new brokers where the observed ones have none.

    A RequestError names the field.
    """
    request.grid().broker_changes.check(observed)
    if request.new_broker_racks and not observed.rack_names():
        raise RequestError(
            f"new_broker_racks: {list(request.new_broker_racks)!r} is invalid: no broker of cluster "
            f"{request.cluster!r} has a rack, and Kafka places by racks only when all have one; leave it empty"
        )


def check_changes(request: PlanRequest, counts: Mapping[str, int], scenarios: Sequence[PlacementScenario]) -> None:
    """Refuse changes of topics and brokers that there are not.

    A RequestError names the field, each name that is wrong, and the remedy.
    """
    check_pins(request.grid().pins, counts, [scenario.target for scenario in scenarios])
    check_partition_counts(request.partition_counts, counts)


def check_failures(request: PlanRequest, observed: Brokers, scenarios: Sequence[PlacementScenario]) -> None:
    """Refuse losses of brokers and racks that are there neither today nor in any option.

    A RequestError names the field, each set that is wrong, and the remedy.
    """
    question = request.failure_request(throttle_bytes_per_second=request.throttle_bytes_per_second, seed=request.seed)
    question.check([observed, *(scenario.target for scenario in scenarios)])


def check_groups(asked: Collection[str], groups: pa.Table, *, cluster: str) -> None:
    """Refuse groups that are not in the inventory's table; a RequestError names each and the nearest that there are."""
    known = sorted(groups.column("group_id").to_pylist())
    there = few_names(map(repr, known), 5) or "none at all; leave groups empty"
    complaints = []
    for name in sorted(set(asked) - set(known)):
        near = difflib.get_close_matches(name, known, n=3)
        remedy = f"did you mean {' or '.join(repr(one) for one in near)}?" if near else f"it has {there}"
        complaints.append(f"groups: {name!r} is invalid: cluster {cluster!r} has no such group; {remedy}")
    if complaints:
        raise RequestError("\n".join(complaints))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanInputs:
    """What a plan is made of: what was written down when it was pinned, and what follows from it."""

    pinned: PinnedPlan  # which plan
    request: dict[str, Any]  # as it was parsed, plain data
    # the placements that the request stands for on the pinned inventory; none where it leaves the broker count open,
    # which follows from sizing
    scenarios: tuple[PlacementScenario, ...]
    scores: dict[str, Any] | None  # those of earlier predictions, if any
    own_shapes: str  # the deployment's own shapes and prices
    owners: Owners  # of topics and groups, in the order in which patterns count
    model_version: str  # of the model with which it was pinned


def read_plan_inputs(store: ObjectStore, key: str) -> PlanInputs:
    """Read what :func:`pin_plan` wrote, and derive from the request what it stands for on the pinned inventory.

    What older versions wrote beside the request, the scenarios among it, follows from the request and is ignored.

    Raises:
        InventoryError: it cannot be understood.
        ConflictError: the inventory that was pinned is gone.
        DamagedObjectError: it is not what was written down.
    """
    document = read_with_own_hash(store, key, json.loads)
    try:
        document[OWN_HASH]
        pinned, model_version = PinnedPlan(**document["pinned"]), document["model_version"]
        request = parse_plan_request(document["request"])
        if pinned.request_key != key:
            raise ValueError(f"that of {pinned.request_key}")
    except (RequestError, ValueError, KeyError, TypeError) as error:
        raise InventoryError(f"{store.uri(key)} is not a pinned request ({error!r}); start the plan again") from error
    manifest = inventory_manifest(store, pinned.cluster, pinned.ds, manifest_sha256=pinned.inventory_sha256)
    observed, grid = read_staged_brokers(store, manifest), request.grid()
    return PlanInputs(
        pinned=pinned,
        request=document["request"],
        scenarios=() if grid.is_count_open else placement_grid(observed, grid),
        scores=document.get("scores"),
        own_shapes=document.get("own_shapes", ""),
        owners=dict(document.get("owners", ())),
        model_version=model_version,
    )
