"""The checks of an inventory, a file for each thing that can be wrong.

Each check is a generator of findings over whole columns; ``validation.validate`` runs them all.
"""
