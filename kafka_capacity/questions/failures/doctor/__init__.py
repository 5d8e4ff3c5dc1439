"""What is wrong with a cluster before anything fails: each thing with the figure at stake and the mend."""

from kafka_capacity.kafka.controller.quorum.voters import Voter
from kafka_capacity.questions.failures.doctor.diagnosis import Diagnosis, Seriousness
from kafka_capacity.questions.failures.doctor.examine import examine

__all__ = ["Diagnosis", "Seriousness", "Voter", "examine"]
