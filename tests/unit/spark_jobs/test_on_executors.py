"""Executors have numpy, scipy and pyarrow, and import the modules of what they are to do."""

from __future__ import annotations

import subprocess
import sys

ABSENT = ("pydantic", "boto3", "botocore", "pandas", "jinja2", "kafka", "typer", "rich", "airflow")


def test_what_they_import_needs_no_more():
    hidden = f"import sys; sys.modules.update(dict.fromkeys({ABSENT!r}))"
    modules = "import spark_jobs.carried, spark_jobs.fetching, spark_jobs.reading, spark_jobs.spread"
    done = subprocess.run([sys.executable, "-c", f"{hidden}\n{modules}"], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
