"""The quorum of KRaft controllers: how it elects, how long it is away, and how much of the time it is there.

* :mod:`~kafka_capacity.kafka.controller.quorum.voters`: closed forms and losses.
* :mod:`~kafka_capacity.kafka.controller.quorum.change`: voters that join and leave, one at a time (KIP-853).
* :mod:`~kafka_capacity.kafka.controller.quorum.failover`: the time without a leader after a failure, run by run.
* :mod:`~kafka_capacity.kafka.controller.quorum.simulation`: the election protocol in time, by Kafka's rules (4.3.1).
"""
