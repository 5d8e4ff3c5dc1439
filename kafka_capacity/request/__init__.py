"""What a user asks for: one model that publishes the form, parses the values and holds the defaults."""

from kafka_capacity.request.plan_request import PlanRequest, parse_plan_request

__all__ = ["PlanRequest", "parse_plan_request"]
