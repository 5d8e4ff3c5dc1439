"""The parameters of sizing: those of a plan, with what is expected of the traffic and what hardware to try."""

from __future__ import annotations

from kafka_capacity.request.demand_parameters import DemandParameters
from kafka_capacity.request.plan_request import PlanRequest
from kafka_capacity.request.sizing_parameters import SizingParameters


class SizeRequest(SizingParameters, DemandParameters, PlanRequest):
    """What sizing is asked to answer."""
