"""A scenario in, a result out: what an option moves, how long it takes, whether it fits, and if not, why not."""
