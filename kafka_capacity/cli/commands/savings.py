"""``kafka-capacity savings``: what could be done instead of buying brokers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_capacity.cli.commands.size import NAMED_OTHERWISE, SIZED_BY
from kafka_capacity.cli.console import Steps
from kafka_capacity.cli.one_question import Found, asks
from kafka_capacity.cli.options import CpuSamples, ShapesFile
from kafka_capacity.cli.plan_options import fields_of
from kafka_capacity.questions.savings.parameters import SavingsParameters

_COLUMNS = ("text", "freed_bytes", "saved_brokers", "saved_usd_per_month", "binds", "effort", "needs_restart")
_LEFT_OUT = ("set_id",)  # what the terminal has no use for
_SAID_ABOVE = (*_LEFT_OUT, "text")  # the same where a table is about one set


@asks(
    "savings",
    *fields_of(SavingsParameters),
    *(field for field in SIZED_BY if field != "shapes"),  # it tries the next sizes of today's
    version=1,
    also=NAMED_OTHERWISE,
)
def savings(
    snapshot: str,
    given: Mapping[str, Any],
    begin: Steps,
    shapes_file: ShapesFile = None,
    cpu_samples: CpuSamples = None,
) -> Found:
    """List what you could do instead of buying brokers, and what each action saves.

    Reads a native snapshot, finds actions (retention cut to what consumers were seen to need, idle and write-only
    topics removed, two replicas for what is not critical, compression, tiered storage, fewer partitions, follower
    fetching, rack-aware producers, quotas on the few clients that make the peak, smaller volumes, the next sizes of the
    shape), and sizes the cluster again with each of them and with sets of them, as kafka-capacity size does. If an
    action frees bytes but saves nothing, it says why. docs/savings.md lists the assumptions.

    With --out it writes savings.json with everything into DIR. It changes nothing.
    """
    from kafka_capacity.cli.pieces import run_step_by_step
    from kafka_capacity.cli.sizing import ask_sized
    from kafka_capacity.plan.handing import handed_to_all
    from kafka_capacity.questions.answer import as_far_as_known
    from kafka_capacity.questions.savings.decide import decide_savings, read_savings
    from kafka_capacity.questions.savings.share import SAVINGS

    asked = ask_sized(snapshot, given, begin, shapes_file, cpu_samples)
    begin("projecting demand")
    tables = SAVINGS.simulate(asked, handed_to_all(asked), run_step_by_step(begin, begun=2)).tables
    if not SAVINGS.has_results(tables):
        nothing = "No actions were evaluated: --max-savings sets how many sets of actions to evaluate."
        return Found(of=asked.basis.snapshot, answer=lambda: nothing, document=dict, show=lambda: None)
    answer, view = as_far_as_known(decide_savings(tables), asked.basis.unknown_traffic), read_savings(tables)
    return Found(
        of=asked.basis.snapshot,
        answer=lambda: answer.headline,
        document=lambda: {
            "sentences": [answer.headline, *answer.reasons],
            "instead_of_buying": answer.details,
            **{name.removeprefix("savings_"): table.to_pylist() for name, table in tables.items()},
        },
        show=lambda: _print(answer.reasons, view),
    )


def _print(reasons: Sequence[str], view: Any) -> None:
    from kafka_capacity.cli.console import print_data, print_lines
    from kafka_capacity.questions.savings.decide import answered
    from kafka_capacity.questions.savings.section.savings import actions_table, dates_table, sets_table

    print_lines(reasons)
    best = answered(view)
    by_date = dates_table(view, [] if best is None else [best])
    if best is not None:
        by_date["caption"] += f": {view.clause(best)}"
    for made, unused in (
        (sets_table(view), _LEFT_OUT),
        (actions_table(view, *_COLUMNS), _LEFT_OUT),
        (by_date, _SAID_ABOVE),
    ):
        if made["rows"]:
            print_data({**made, "columns": [one for one in made["columns"] if one["key"] not in unused]})
