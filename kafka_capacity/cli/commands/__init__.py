"""One module a command or a group of commands; each registers itself when it is imported."""
