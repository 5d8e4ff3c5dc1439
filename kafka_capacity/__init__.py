"""Plan the capacity of Kafka clusters: what is true of Kafka, of placement, and of a change."""

__version__ = "0.1.0"

MODEL_VERSION = "38"  # part of every plan id: raise it when the same inputs give other numbers
