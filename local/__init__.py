"""Run everything on one machine: no Docker, no services, no Java needed beforehand."""
