"""What is wrong with a cluster before anything fails or moves: one kind of problem, found by one function.

Staging, ``doctor``, the plan, its page and its mail all show what is found here; none of them looks for itself.
"""
