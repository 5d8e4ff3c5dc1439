"""``python -m kafka_capacity.kafka.durability``: print the table of outcomes."""

import sys

from kafka_capacity.kafka.durability.outcome_table import outcome_table

if __name__ == "__main__":
    sys.stdout.write("\n".join(outcome_table()) + "\n")
