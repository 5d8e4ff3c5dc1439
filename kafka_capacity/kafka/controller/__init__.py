"""What Kafka's controllers decide: who leads a partition and who is in sync after a loss, and the quorum itself.

* :mod:`.failing`: brokers lost, of a million partitions at once, by the rules of KRaft (4.3.1) or ZooKeeper (3.9.2).
* :mod:`.quorum`: the quorum of KRaft controllers itself (4.3.1).
* :mod:`.annual_losses`: how often all replicas of a partition are gone at once.

The same rules for one partition, which recorded answers are compared with, are in
:mod:`kafka_capacity.conformance.models`.
"""
