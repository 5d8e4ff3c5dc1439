"""Made-up clusters that look like real ones, to try the planner on before exporting one's own."""

from kafka_capacity.example.generator import EXAMPLE_DS, EXAMPLES, make_example

__all__ = ["EXAMPLES", "EXAMPLE_DS", "make_example"]
