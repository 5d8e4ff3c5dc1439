"""What Kafka's controllers decide: who leads a partition, who is in sync, and which changes of state they refuse.

* :mod:`~kafka_capacity.kafka.controller.leadership`: what a controller knows of one partition.
* :mod:`.states`: the states of partitions and replicas, and which may follow which (3.9.2).
* :mod:`~kafka_capacity.kafka.controller.zk_election`: the elections of the ZooKeeper-era controller (3.9.2).
* :mod:`~kafka_capacity.kafka.controller.zk_machine`: that controller's state machines, for one partition (3.9.2).
* :mod:`~kafka_capacity.kafka.controller.kraft_change`: elections and every other change in KRaft's controller (4.3.1).
* :mod:`~kafka_capacity.kafka.controller.failing`: brokers lost, of a million partitions at once, by either's rules.
* :mod:`~kafka_capacity.kafka.controller.quorum`: the quorum of KRaft controllers itself (4.3.1).
* :mod:`~kafka_capacity.kafka.controller.copysets`: how often all replicas of a partition are gone at once.
"""
