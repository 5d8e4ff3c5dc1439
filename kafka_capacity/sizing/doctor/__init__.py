"""What is wrong with a cluster before anything fails: each thing with the figure at stake and the mend."""

from kafka_capacity.controller.quorum.voters import Voter
from kafka_capacity.sizing.doctor.diagnosis import Diagnosis, Seriousness
from kafka_capacity.sizing.doctor.examine import examine

__all__ = ["Diagnosis", "Seriousness", "Voter", "examine"]
