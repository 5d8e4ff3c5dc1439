"""What Kafka's controllers decide: who leads a partition, who is in sync, and which changes of state they refuse.

* :mod:`~kafka_capacity.controller.leadership`: what a controller knows of one partition.
* :mod:`~kafka_capacity.controller.states`: the states of partitions and replicas, and which may follow which (3.9.2).
* :mod:`~kafka_capacity.controller.zk_election`: the elections of the ZooKeeper-era controller (3.9.2).
* :mod:`~kafka_capacity.controller.zk_machine`: that controller's state machines, for one partition (3.9.2).
* :mod:`~kafka_capacity.controller.kraft_change`: elections and every other change in KRaft's controller (4.3.1).
* :mod:`~kafka_capacity.controller.failing`: brokers lost, of a million partitions at once, by either's rules.
* :mod:`~kafka_capacity.controller.quorum`: the quorum of KRaft controllers itself (4.3.1).
* :mod:`~kafka_capacity.controller.copysets`: how often all replicas of a partition are gone at once.
"""
