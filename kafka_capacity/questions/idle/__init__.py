"""Idle topics: which nobody wrote to or read from, and what they hold that removing them would free."""
