"""What breaks when brokers, racks or controllers die: the section of the form about that."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from kafka_capacity.errors import RequestError
from kafka_capacity.kafka.controller.failing import ElectionRules
from kafka_capacity.kafka.controller.quorum.settings import TIMEOUT_NAMES, timeouts_of
from kafka_capacity.kafka.controller.quorum.voters import MAX_VOTERS, parse_voters
from kafka_capacity.questions.failures.request import ControllerRequest, FailureRequest, lost_together
from kafka_capacity.questions.failures.scenario import FailureScenario, SetKind
from kafka_capacity.questions.form_section import FormSection, Ratio, readable

FAILURES_FORM = FormSection("Failures")

_DEFAULTS, _CONTROLLERS = FailureScenario(), ControllerRequest()
_KINDS = [str(kind) for kind in SetKind if kind is not SetKind.GIVEN]

Kind = Literal["broker", "pair", "rack", "rack+broker"]
Placements = Literal["recommended", "all"]
Lost = Annotated[str, Field(min_length=1, max_length=10_000)]
Controller = Annotated[str, Field(min_length=1, max_length=300)]
PropertyName = Annotated[str, Field(min_length=1, max_length=100)]
Milliseconds = Annotated[int, Field(ge=0, le=2**31 - 1)]


class FailureParameters(BaseModel):
    """Which losses to look at, and the controllers that elect new leaders after them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    failure_kinds: tuple[Kind, ...] = FAILURES_FORM.field(
        tuple(str(kind) for kind in _DEFAULTS.kinds),
        "Losses to evaluate",
        "--losses",
        form={"items": {"type": "string", "enum": _KINDS}},
        min_length=1,
        is_usual=True,
    )("Every broker, every pair of brokers, every rack, every rack plus one more broker.")
    failure_placements: Placements = FAILURES_FORM.field("recommended", "Placements to evaluate")(
        "recommended: today's placement and the one that the report recommends (or the nearest, if none fits); all: "
        "today's and every option's."
    )
    failure_sets: tuple[Lost, ...] = FAILURES_FORM.field(
        (),
        "Custom losses",
        "--lost-together",
        form={"metavar": "ID,rack:NAME", "repeats": True},
        max_length=1_000,
        is_usual=True,
    )("Brokers and racks that are lost together, one set per line: 1,2,rack:a.")
    max_failure_sets: int = FAILURES_FORM.field(
        _DEFAULTS.max_sets, "Max losses per kind", "--max-losses --most-losses --most-sets", ge=2, le=100_000
    )(
        "If there are more pairs, half are those that share the most partitions and the rest is drawn at random; "
        "racks plus a broker are all drawn at random. The report says so."
    )
    election_rules: ElectionRules = FAILURES_FORM.field(
        _DEFAULTS.rules, "Election rules", "--election-rules --controller"
    )("kraft; kraft-elr with eligible leader replicas (KIP-966); or zookeeper.")
    controllers: tuple[Controller, ...] = FAILURES_FORM.field(
        (), "Controllers", "--controllers", form={"metavar": "ID:RACK"}, max_length=MAX_VOTERS
    )(
        "The voters of the metadata quorum, node id and rack, one per line: 1:a. Without a rack, that of the broker "
        "with the same id is used. Empty: those in the inventory, if any; otherwise controllers are not covered."
    )
    wanted_controllers: tuple[Controller, ...] = FAILURES_FORM.field(
        (), "Target controllers", "--wanted-controllers", form={"metavar": "ID:RACK"}, max_length=MAX_VOTERS
    )(
        "All target voters, one per line: 1:a. The report then has the steps, one voter at a time, and what may "
        "fail meanwhile. Empty: the voters stay."
    )
    controller_properties: dict[PropertyName, Milliseconds] = FAILURES_FORM.field(
        {}, "Controller timeouts", "--controller-timeout", form={"metavar": "NAME=MS"}, max_length=len(TIMEOUT_NAMES)
    )(
        "By Kafka's names, in milliseconds, if they differ from Kafka's defaults: "
        '{"controller.quorum.fetch.timeout.ms": 2000}.'
    )
    controller_up_ratio: float = FAILURES_FORM.field(
        _CONTROLLERS.up_ratio, "Controller availability", "--controller-up", gt=0.0, lt=1.0, allow_inf_nan=False
    )("While its rack is up. An assumption: 0.999 is 8.8 hours of downtime a year.")
    rack_up_ratio: Ratio = FAILURES_FORM.field(_CONTROLLERS.rack_up_ratio, "Rack availability", "--rack-up")(
        "An assumption: 0.9999 is 53 minutes of downtime a year."
    )
    failover_runs: int = FAILURES_FORM.field(_CONTROLLERS.runs, "Simulated failovers", ge=10, le=10_000)(
        "How many times to simulate each way of losing the active controller, to predict how long none is active."
    )

    _are_sets = readable("failure_sets", lambda text: _as_value(lambda: lost_together(text)))

    @field_validator("controllers", "wanted_controllers")
    @classmethod
    def _are_controllers(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        _as_value(lambda: parse_voters(value))
        return value

    @field_validator("controller_properties")
    @classmethod
    def _are_timeouts(cls, value: dict[str, int]) -> dict[str, int]:
        unknown = sorted(set(value) - set(TIMEOUT_NAMES))
        if unknown:
            msg = f"{unknown[0]!r} is not a timeout that is simulated; choose from {', '.join(sorted(TIMEOUT_NAMES))}"
            raise ValueError(msg)
        _as_value(lambda: timeouts_of(value))
        return value

    def failure_request(self, *, throttle_bytes_per_second: float, seed: int) -> FailureRequest:
        """Return what is asked of every placement."""
        return FailureRequest(
            asked=FailureScenario(
                kinds=tuple(SetKind(name) for name in dict.fromkeys(self.failure_kinds)),
                rules=self.election_rules,
                max_sets=self.max_failure_sets,
                throttle_bytes_per_second=throttle_bytes_per_second,
                seed=seed,
            ),
            given=tuple(dict.fromkeys(lost_together(text) for text in self.failure_sets)),
            controllers=ControllerRequest(
                voters=parse_voters(self.controllers),
                wanted=parse_voters(self.wanted_controllers),
                timeouts=timeouts_of(self.controller_properties),
                up_ratio=self.controller_up_ratio,
                rack_up_ratio=self.rack_up_ratio,
                runs=self.failover_runs,
                seed=seed,
            ),
        )


def _as_value(parse: Any) -> Any:
    """Let the model name the field and the value of what a parser refuses."""
    try:
        return parse()
    except RequestError as error:
        raise ValueError(str(error)) from None
