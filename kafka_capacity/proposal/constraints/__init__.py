"""What a placement must not break: one object a constraint, in one registry.

A constraint is a value with a name, what is needed and available where, and a sentence with both; calling it with a
:class:`~kafka_capacity.proposal.constraints.kinds.Proposal` gives an excuse for every place where it is broken. Limits
of brokers stand in :mod:`.brokers`, rules for partitions in :mod:`.partitions`, what may become of the move in
:mod:`.moves`; :mod:`.registry` lists them, judges by them, and makes of them the limits that placers keep. So a new one
is added there, with its parameter.

**Judged against today.** A cluster that is over a limit already is no reason against a change that makes it no worse.
Where a request removes, replaces or renames what there is, or changes something else on the same brokers
(:func:`kafka_capacity.proposal.grid.is_judged_against_today`), an excuse does not count where the same broker (or the
one that it replaces) was over the same limit before and carries no more afterwards: it is *standing*. A new broker must
keep its limits, and a full one that gets fuller is a reason against the change. Where a request asks whether so many
brokers are enough, nothing stands: the smallest count that ends within the limits is the answer.
"""
