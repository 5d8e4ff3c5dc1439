"""Run as ``python -m kafka_capacity.cli``."""

from kafka_capacity.cli.app import main

if __name__ == "__main__":
    main()
