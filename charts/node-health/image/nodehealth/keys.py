"""Names that the agent and the controller write on nodes."""

from __future__ import annotations

# The condition that an agent sets in the status of its node.
CONDITION = "TrainyardHealthy"
# The label and the taint of a node in quarantine. Runs exclude the label by `placement.healthLabels.forbidden`.
QUARANTINED = "trainyard/quarantined"
# An annotation with the record of a quarantine, as JSON. Only a node that has it is ever released.
RECORD = "trainyard/quarantine"
# An annotation with the times of earlier quarantines, as JSON.
HISTORY = "trainyard/quarantine-history"
# An annotation by which an administrator declares a node repaired, with a time as RFC 3339.
REPAIRED = "trainyard/repaired-at"
# An annotation with the value `true` by which an administrator keeps a node in service, whatever its condition.
IGNORED = "trainyard/ignore-health"
# The taint by which Kubernetes deletes the pods of a node that is off, so that their controllers replace them.
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
# An annotation with the record of that taint, as JSON. Only a taint with this record is ever removed.
OUTAGE = "trainyard/out-of-service"
# An annotation by which an administrator, or a program that fences nodes, states when a node was switched off.
POWERED_OFF = "trainyard/powered-off-at"
# The taint by which the cloud controller manager states that the machine of a node is shut down.
SHUT_DOWN = "node.cloudprovider.kubernetes.io/shutdown"
