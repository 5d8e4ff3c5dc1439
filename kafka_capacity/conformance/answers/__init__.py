"""How this package answers the recorded cases: one module a room, found by being here."""
