"""The catalogue of shapes: what ships with the package, and a user's own file of the same form.

    {"offers": [{"name": "our-racks", "provider": "us", "priced_on": "2026-11-01", "source": "finance", "disk": "own"}],
     "shapes": [{"name": "r740", "offer": "our-racks", "vcpu": 32, "memory_gib": 192, "network_mbit_per_second": 10000,
                 "disk_gib": 14000, "disk_mib_per_second": 900, "usd_per_hour": 0.71}]}

A shape of a user's file takes the place of the shipped one of the same name; offers likewise. ``processors`` say how
much a core of a family does over one of an m5 (``{"families": ["m6i.*"], "core_speed_ratio": 1.3, "source": "…"}``),
and the last that names a family counts. An offer may be of the shapes of another, with other volumes (``shapes_of``);
they are named with its prefix, such as ``io2.m7g.2xlarge``.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import importlib.resources
import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from kafka_capacity.errors import RequestError
from kafka_capacity.hardware.limits import GIB, MIB, Resource
from kafka_capacity.hardware.plain import filled, or_nan
from kafka_capacity.hardware.shapes import TODAY, DiskKind, Shape, Volume, nearest_prices
from kafka_capacity.kafka.cluster.brokers import Brokers
from kafka_capacity.text.validation_errors import naming_mistakes
from kafka_capacity.text.wording import few_names

OWN_SHAPES = "kafka_capacity_shapes"  # where a deployment keeps its own shapes and prices: an Airflow variable
_SHIPPED = "shapes.json"
_MBIT = 1e6 / 8
_MOST_NAMES = 3  # of shapes whose prices are estimates
_OF_RACK_TRAFFIC = " (traffic between racks)"  # follows the shape of which only that price is taken

Name = Annotated[str, Field(min_length=1, max_length=100)]
Positive = Annotated[float, Field(gt=0.0, le=1e15, allow_inf_nan=False)]
Source = Annotated[str, Field(min_length=1, max_length=2000)]
Price = Annotated[float, Field(ge=0.0, le=1e9, allow_inf_nan=False)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _VolumeEntry(_Entry):
    name: Name
    largest_gib: Positive
    usd_per_gib_month: Price
    included_mib_per_second: Positive
    largest_mib_per_second: Positive
    usd_per_mib_per_second_month: Price | None = None
    included_iops: Price = 0.0
    mib_per_second_per_iops: Positive | None = None
    usd_per_iops_month: Price = 0.0

    def volume(self) -> Volume:
        return filled(
            Volume,
            self,
            largest_bytes=self.largest_gib * GIB,
            included_bytes_per_second=self.included_mib_per_second * MIB,
            largest_bytes_per_second=self.largest_mib_per_second * MIB,
            usd_per_mib_per_second_month=or_nan(self.usd_per_mib_per_second_month),
            bytes_per_second_per_iops=(self.mib_per_second_per_iops or math.inf) * MIB,
        )


class _OfferEntry(_Entry):
    name: Name
    provider: Name
    priced_on: datetime.date
    source: Source
    disk: DiskKind
    volume: _VolumeEntry | None = None
    usd_per_gib_month: Price | None = None
    usd_per_gib_in: Price = 0.0
    usd_per_gib_between_racks: Price | None = None
    is_replication_free: bool = False
    has_quotas: bool = False
    is_discounted: bool = True
    shapes_of: Name | None = None
    name_prefix: str = Field("", max_length=100)

    @model_validator(mode="after")
    def _has_what_its_disk_needs(self) -> _OfferEntry:
        if (self.disk is DiskKind.ATTACHED) != (self.volume is not None):
            raise ValueError("give a volume where the disk is attached, and only there")
        if self.disk is not DiskKind.MANAGED and self.usd_per_gib_month is not None:
            raise ValueError("usd_per_gib_month is for managed disks; leave it out, or say it of the volume")
        if (self.shapes_of is None) != (not self.name_prefix):
            raise ValueError(
                "give a name_prefix where the shapes are those of another offer, shapes_of, and only there"
            )
        return self


class _ProcessorEntry(_Entry):
    families: Annotated[tuple[Name, ...], Field(min_length=1)]
    core_speed_ratio: Positive
    source: Source


class _ShapeEntry(_Entry):
    name: Name
    offer: Name
    vcpu: Positive | None = None
    core_speed_ratio: Positive | None = None
    memory_gib: Positive | None = None
    network_mbit_per_second: Positive | None = None
    network_burst_mbit_per_second: Positive | None = None
    network_mib_per_second: Positive | None = None
    disk_mbit_per_second: Positive | None = None
    disk_burst_mbit_per_second: Positive | None = None
    disk_mib_per_second: Positive | None = None
    disk_gib: Positive | None = None
    client_in_mib_per_second: Positive | None = None
    client_in_burst_mib_per_second: Positive | None = None
    client_out_mib_per_second: Positive | None = None
    client_out_burst_mib_per_second: Positive | None = None
    replica_limit: Positive | None = None
    usd_per_hour: Price | None = None

    @model_validator(mode="after")
    def _is_clear(self) -> _ShapeEntry:
        for what, mbit, mib in (
            ("network", self.network_mbit_per_second, self.network_mib_per_second),
            ("disk", self.disk_mbit_per_second, self.disk_mib_per_second),
        ):
            if mbit is not None and mib is not None:
                raise ValueError(f"give the {what} in Mbit/s or in MiB/s, not both")
        if self.name == TODAY:
            raise ValueError(f"{TODAY!r} stands for the existing brokers; choose another name")
        return self

    def shape(self, offer: _OfferEntry, processors: Mapping[str, float]) -> Shape:
        volume = None if offer.volume is None else offer.volume.volume()
        disk_bytes = or_nan(self.disk_gib) * GIB if volume is None else volume.largest_bytes
        return filled(
            Shape,
            offer,
            name=offer.name_prefix + self.name,
            vcpu=or_nan(self.vcpu),
            core_speed_ratio=self.core_speed_ratio or processors.get(_family(self.name), math.nan),
            memory_bytes=or_nan(self.memory_gib) * GIB,
            network_bytes_per_second=_rate(self.network_mbit_per_second, self.network_mib_per_second),
            disk_bytes_per_second=_rate(self.disk_mbit_per_second, self.disk_mib_per_second),
            disk_kind=offer.disk,
            disk_bytes=disk_bytes,
            volume=volume,
            client_in_bytes_per_second=or_nan(self.client_in_mib_per_second) * MIB,
            client_out_bytes_per_second=or_nan(self.client_out_mib_per_second) * MIB,
            replica_limit=or_nan(self.replica_limit),
            usd_per_hour=or_nan(self.usd_per_hour),
            bursts=self._bursts(),
            usd_per_gib_month=or_nan(offer.usd_per_gib_month) if offer.disk is DiskKind.MANAGED else 0.0,
            usd_per_gib_between_racks=or_nan(offer.usd_per_gib_between_racks),
            priced_on=offer.priced_on.isoformat(),
        )

    def _bursts(self) -> dict[Resource, float]:
        network = _rate(self.network_burst_mbit_per_second, None)
        rates = {
            Resource.NETWORK_IN: network,
            Resource.NETWORK_OUT: network,
            Resource.DISK_IO: _rate(self.disk_burst_mbit_per_second, None),
            Resource.CLIENT_IN: _rate(None, self.client_in_burst_mib_per_second),
            Resource.CLIENT_OUT: _rate(None, self.client_out_burst_mib_per_second),
        }
        return {resource: rate for resource, rate in rates.items() if not math.isnan(rate)}


class _Catalogue(_Entry):
    about: str = ""
    offers: tuple[_OfferEntry, ...] = ()
    processors: tuple[_ProcessorEntry, ...] = ()
    shapes: tuple[_ShapeEntry, ...] = ()

    @model_validator(mode="after")
    def _has_each_name_once(self) -> _Catalogue:
        for what, names in (("offer", [o.name for o in self.offers]), ("shape", [s.name for s in self.shapes])):
            for name in names:
                if names.count(name) > 1:
                    raise ValueError(f"the {what} {name!r} is listed {names.count(name)} times; keep one")
        return self


def _rate(mbit_per_second: float | None, mib_per_second: float | None) -> float:
    """Return bytes per second, NaN where neither is given."""
    return or_nan(mib_per_second) * MIB if mbit_per_second is None else mbit_per_second * _MBIT


@functools.lru_cache(maxsize=8)  # every question of a plan asks for them
def shapes_beside(own: str, name: str) -> Mapping[str, Shape]:
    """Return the shipped shapes, and those of a user's own text in their place or beside them.

    The text is JSON in the form of the shipped catalogue, empty for none; ``name`` is what messages call it.

    Raises:
        RequestError: the text is wrong, with a line for each mistake.
    """
    shipped = importlib.resources.files("kafka_capacity.hardware").joinpath(_SHIPPED).read_text(encoding="utf-8")
    found = [_parse(text, file) for text, file in ((shipped, _SHIPPED), (own, name)) if text]
    offers = {offer.name: offer for one in found for offer in one.offers}
    for shape in found[-1].shapes:
        if shape.offer not in offers:
            raise RequestError(
                f"{name}: shape {shape.name!r} is of the offer {shape.offer!r}, which is not listed; "
                f"add it to offers, or name one of {', '.join(sorted(offers))}"
            )
    speeds = {family: entry.core_speed_ratio for one in found for entry in one.processors for family in entry.families}
    entries = {shape.name: shape for one in found for shape in one.shapes}.values()
    made = [entry.shape(offers[entry.offer], speeds) for entry in entries]
    made += [one.shape(offer, speeds) for offer in offers.values() for one in entries if one.offer == offer.shapes_of]
    return MappingProxyType({shape.name: shape for shape in made})


def _family(name: str) -> str:
    return name.rpartition(".")[0] + ".*"


def _parse(text: str, file: str) -> _Catalogue:
    with naming_mistakes(file, RequestError):
        return _Catalogue.model_validate_json(text)


def chosen_shapes(
    shapes: Mapping[str, Shape], names: Iterable[str], *, field: str = "shapes", others: tuple[str, ...] = ()
) -> tuple[Shape, ...]:
    """Return shapes by name, in the order asked; a family such as ``m7g.*`` stands for all of its sizes.

    The field of the request and ``others`` that it takes besides are named in messages.

    Raises:
        RequestError: there is no such shape.
    """
    chosen: dict[str, Shape] = {}
    for name in names:
        family = [s for s in shapes if name.endswith(".*") and s.startswith(name[:-1])]
        if not family and name not in shapes:
            if name == TODAY:
                raise RequestError(
                    f"{field}: {name!r} is always included and not a shape of the catalogue; leave it out"
                )
            choice = ", ".join((*others, *sorted({_family(s) if "." in s else s for s in shapes})))
            raise RequestError(f"{field}: {name!r} is not in the catalogue; choose from {choice}")
        for one in family or [name]:
            chosen[one] = shapes[one]
    return tuple(chosen.values())


def next_sizes(shape: Shape, catalogue: Iterable[Shape]) -> tuple[Shape, ...]:
    """Return the next smaller and the next larger shape of a family, as far as there are any."""
    family = _family(shape.name)
    alike = [one for one in catalogue if one.provider == shape.provider and _family(one.name) == family != ".*"]
    smaller = max((one for one in alike if one.vcpu < shape.vcpu), key=lambda one: one.vcpu, default=None)
    larger = min((one for one in alike if one.vcpu > shape.vcpu), key=lambda one: one.vcpu, default=None)
    return tuple(one for one in (smaller, larger) if one is not None)


def estimated_prices(today: Shape, observed: Brokers, catalogue: Iterable[Shape]) -> tuple[Shape, tuple[Shape, ...]]:
    """Return today's shape with the prices of the nearest one that has attached volumes, and all that lend prices.

    Of equals the cheapest is the first; without any that is near, the shape is returned as it is and there are none.
    New brokers cost what those in the middle do, and the disks there are what volumes of that size would.
    """
    lenders = _lenders(catalogue)
    (middle,) = nearest_prices(today, Brokers.of([0]), lenders)
    if middle is None or middle.volume is None:
        return today, ()
    between_racks = today.usd_per_gib_between_racks
    used = {price.name for price in nearest_prices(today, observed, lenders) if price} or {middle.name}
    priced = dataclasses.replace(
        today,
        usd_per_hour=middle.usd_per_hour,
        usd_per_gib_month=middle.volume.usd_per_gib_month,
        usd_per_gib_between_racks=middle.usd_per_gib_between_racks if math.isnan(between_racks) else between_racks,
        priced_on=middle.priced_on,
        priced_as=few_names((one.name for one in lenders if one.name in used), _MOST_NAMES),
    )
    return priced, lenders


def with_estimated_rack_traffic(today: Shape, catalogue: Iterable[Shape]) -> Shape:
    """Return today's shape, whose machines have a price, with that of traffic between racks of the nearest shape.

    Where none is near, it is the cheapest's: this price does not depend on the machine.
    """
    known = [one for one in _lenders(catalogue) if not math.isnan(one.usd_per_gib_between_racks)]
    if not known:
        return today
    lender = nearest_prices(today, Brokers.of([0]), known)[0] or known[0]
    return dataclasses.replace(
        today,
        usd_per_gib_between_racks=lender.usd_per_gib_between_racks,
        priced_on=lender.priced_on,
        priced_as=f"{lender.name}{_OF_RACK_TRAFFIC}",
    )


def _lenders(catalogue: Iterable[Shape]) -> tuple[Shape, ...]:
    """Return the shapes whose prices may stand in for others, cheapest first."""
    in_order = sorted(
        (one.usd_per_hour, one.volume.usd_per_gib_month, one.name, one)
        for one in catalogue
        if one.volume is not None and not one.has_quotas and not math.isnan(one.usd_per_hour)
    )
    return tuple(one for *_, one in in_order)


def estimated_price_sentence(priced_as: str | None, priced_on: str | None) -> str | None:
    """Return whose prices stand in for those that nobody gave; ``None`` where they are the own ones."""
    if priced_as is None:
        return None
    wanted = prices_wanted(priced_as)
    if (lender := priced_as.removesuffix(_OF_RACK_TRAFFIC)) != priced_as:
        what = f"include an estimate, traffic between racks at the price of {lender}"
    else:
        what = f"are an estimate, at the prices of {priced_as}"
    return f"Dollars of today’s hardware {what} of {priced_on}: {wanted}."


def prices_wanted(priced_as: str | None) -> str:
    """Return which parameters give the prices that are estimates or not known."""
    if priced_as is not None and priced_as.endswith(_OF_RACK_TRAFFIC):
        return "give usd_per_gib_between_racks"
    return "give broker_usd_per_hour or current_shape"
