"""Measurements: run by hand, never in a test."""
