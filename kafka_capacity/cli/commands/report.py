"""``kafka-capacity report``: the HTML report and its e-mail, without Airflow."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from kafka_capacity.cli.app import app
from kafka_capacity.cli.console import print_answer, print_json, print_lines, progress_bar, say
from kafka_capacity.cli.options import (
    AsJson,
    BrokersFile,
    CpuSamples,
    NeededFolder,
    OwnersFile,
    Quiet,
    ShapesFile,
    file_option,
    takes_snapshot,
)
from kafka_capacity.cli.plan_options import fields_of, takes
from kafka_capacity.errors import RequestError
from kafka_capacity.plan.request import PlanRequest


@app.command("report")
@takes_snapshot(is_needed=False)
@takes(*fields_of(PlanRequest))
def report(
    out: NeededFolder,
    given: Mapping[str, Any],
    snapshot: str | None = None,
    earlier: Annotated[Path | None, file_option("--from report.json", "The report.json to render again.")] = None,
    last: Annotated[
        Path | None, file_option("--last report.json", "The previous report.json, to show what changed since.")
    ] = None,
    owners: OwnersFile = None,
    brokers: BrokersFile = None,
    shapes_file: ShapesFile = None,
    cpu_samples: CpuSamples = None,
    is_json: AsJson = False,
    is_quiet: Quiet = False,
) -> None:
    """Create the report of a plan: the same page and e-mail as from the scheduled plan.

    Takes a snapshot and the options of plan, groups, size, failures and durability, or --from with the report.json of
    an earlier report, to render that one again. Writes index.html (one self-contained page), report.json (its data),
    decision.json (the verdict, the recommendation and the problems), email.html, email.txt, images/ and tables/ (the
    page's tables as CSV) into DIR, and prints the verdict and the serious problems. The same input gives the same
    bytes.

    Amounts may have units: 50MB/s, 1.5TiB, 90s, 7d, 40%.
    """
    if (snapshot is None) == (earlier is None):
        raise RequestError("--snapshot: give the folder of a snapshot, or use --from with a report.json")
    others = (owners, brokers, shapes_file, cpu_samples, last)
    if earlier is not None and (given or any(one is not None for one in others)):
        raise RequestError("--from: renders an earlier report as it is; leave out the options of a plan")
    if earlier is not None and is_json:
        msg = "--json: prints decision.json, which is already next to the report.json of --from; leave it out"
        raise RequestError(msg)
    with progress_bar(is_quiet=is_quiet or is_json) as begin:
        from kafka_capacity.cli.documents import write_files
        from kafka_capacity.cli.report_files import make_report
        from kafka_capacity.objects.dataset import canonical_json
        from kafka_capacity.objects.store import open_store
        from kafka_capacity.plan.plan_dataset import DECISION
        from kafka_capacity.report.render import rerender

        store = open_store(out)
        decision = None
        if earlier is not None:
            begin("drawing")
            rendered = rerender(earlier.read_bytes())
        else:
            files = {"brokers": brokers, "shapes_file": shapes_file, "cpu_samples": cpu_samples}
            rendered, decision = make_report(str(snapshot), given, begin, out=out, last=last, owners=owners, **files)
        decided = {} if decision is None else {DECISION: canonical_json(decision)}
        write_files(store, {**decided, **rendered.files()})  # the page last
    if is_json:
        print_json(decision or {})
        return
    print_answer(rendered.subject, lambda: print_lines([store.uri("index.html")]), is_quiet=is_quiet)
    found = [*rendered.verdict["caveats"], *(() if decision is None else decision["problems"])]
    for text in dict.fromkeys(one["text"] for one in found if one["severity"] == "serious"):
        say(f"serious: {text}", is_quiet=is_quiet)
