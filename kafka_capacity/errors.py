"""The errors a user can meet, all in one tree.

    KafkaCapacityError
    ├── RequestError        a parameter is wrong; the message names the field and the remedy
    ├── InventoryError      an inventory or an input file is wrong or incomplete
    │   ├── DamagedInputError   a file is not what it should be, or too large; the message names the place
    │   └── SourceError     a live source (Kafka, Prometheus) could not be read
    ├── PlacementError      Kafka itself would refuse this placement
    ├── AssignmentError     an assignor would throw, or a user's own gave no valid assignment
    ├── SimulationError     a question of a plan failed; the message names it
    ├── StorageError        objects could not be read or written
    │   ├── MissingManifestError   a folder without a complete manifest: it is not data yet
    │   ├── MissingObjectError     there is no object at a key
    │   ├── DamagedObjectError     what is stored, or what arrives again and again, is not what was written
    │   └── ConflictError          somebody else wrote in between
    └── RenderError         a report could not be drawn

An option that does not fit is not an error: it is an :class:`kafka_capacity.proposal.excuse.Excuse`.
"""


class KafkaCapacityError(Exception):
    """Base of everything this package raises on purpose."""


class RequestError(KafkaCapacityError):
    """A parameter is wrong. The message names the field, the value seen and the remedy."""


class InventoryError(KafkaCapacityError):
    """An inventory or an input file is wrong. The message names the file or the field."""


class DamagedInputError(InventoryError):
    """A file cannot be read as what it should be. The message names it, the place in it, the value and the remedy."""


class SourceError(InventoryError):
    """A live source could not be read."""


class PlacementError(KafkaCapacityError):
    """Kafka would refuse this placement, for the reason in the message.

    ``kafka_type`` is the Java class that Kafka's own code throws here.
    """

    def __init__(self, message: str, *, kafka_type: str) -> None:
        super().__init__(message)
        self.kafka_type = kafka_type


class AssignmentError(KafkaCapacityError):
    """An assignor cannot assign the partitions of a group, for the reason in the message.

    ``kafka_type`` is the Java class that Kafka's own code throws here, ``None`` for an assignor that is not Kafka's.
    """

    def __init__(self, message: str, *, kafka_type: str | None = None) -> None:
        super().__init__(message)
        self.kafka_type = kafka_type


class SimulationError(KafkaCapacityError):
    """Questions of a plan failed; the message names each, with its reason. The others are simulated and stored."""


class StorageError(KafkaCapacityError):
    """Objects could not be read or written."""


class MissingManifestError(StorageError):
    """A folder has no manifest, so nobody has finished writing it."""


class MissingObjectError(StorageError):
    """There is no object at a key."""


class DamagedObjectError(StorageError):
    """An object is not what its manifest, or its own hash, says, however often it is read; nobody wrote it anew."""


class ConflictError(StorageError):
    """Somebody else wrote in between: what was read, or was to be replaced, is of another version."""


class RenderError(KafkaCapacityError):
    """A report could not be drawn."""
