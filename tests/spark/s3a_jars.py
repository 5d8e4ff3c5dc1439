"""The jars with which Spark reads S3 by itself: hadoop-aws, and of Amazon's SDK what it needs.

python -m tests.spark.s3a_jars          fetch what is missing and print the class path
python -m tests.spark.s3a_jars ivy      the same, although there is a Maven
python -m tests.spark.s3a_jars lock     resolve the roots again and write the lock

hadoop-aws asks for a bundle of the whole SDK, 640 MB; three of its modules do.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.live.java import STATE
from tests.live.locked_jars import LockedJars

SDK = "2.35.4"
JARS = LockedJars(
    what="hadoop-aws",
    roots=(
        "org.apache.hadoop:hadoop-aws:3.5.0",
        f"software.amazon.awssdk:s3:{SDK}",
        f"software.amazon.awssdk:s3-transfer-manager:{SDK}",
        f"software.amazon.awssdk:sts:{SDK}",
    ),
    left_out=(
        "software.amazon.awssdk:bundle",
        "org.apache.hadoop:hadoop-client-api",  # Spark has these two
        "org.apache.hadoop:hadoop-client-runtime",
    ),
    lock=Path(__file__).with_name("s3a_jars.lock"),
    cache=STATE / "s3a-jars",
    module="tests.spark.s3a_jars",
)

if __name__ == "__main__":
    JARS.main(sys.argv[1:])
