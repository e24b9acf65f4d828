"""Feature gates of Kueue that need another one: with that one off, its manager exits at start.

Source: kubernetes-sigs/kueue pkg/config/validation.go at each tag from v0.12.0 to v0.19.2 (LoadAndValidateFeatureGates,
before 0.18 in cmd/kueue/main.go as well): a check has the first patch of each minor release that has it.
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.facts.feature_gates import Version
from trainyard.startup import NamedTuple

_TOPOLOGY, _REPLACEMENT, _DEVICES = "TopologyAwareScheduling", "TASFailedNodeReplacement", "KueueDRAIntegration"
_ELASTIC = "ElasticJobsViaWorkloadSlicesWithTAS"
# Minor releases from 0.16 on that check most gates, by their first patch.
_MOST = {16: 9, 17: 4, 18: 0, 19: 0}
_LATER = {17: 8, 18: 4, 19: 0}
_FROM_17 = {17: 0, 18: 0, 19: 0}
_FROM_18 = {18: 0, 19: 0}


class Requirement(NamedTuple):
    """A gate that needs another one, in the releases `since`: the first patch of each release 0.x."""

    gate: str
    other: str
    since: Mapping[int, int]

    def holds(self, version: Version) -> bool:
        """True if a version checks it."""
        major, minor, patch = (*version, 0, 0)[:3]
        return major == 0 and minor in self.since and patch >= self.since[minor]


REQUIREMENTS = (
    *(Requirement(gate, _TOPOLOGY, _MOST) for gate in (
        "TASBalancedPlacement", _REPLACEMENT, "TASFailedNodeReplacementFailFast", "TASHandleOverlappingFlavors",
        "TASReplaceNodeOnNodeTaints", "TASReplaceNodeOnPodTermination",
    )),
    Requirement("TASFailedNodeReplacementFailFast", _REPLACEMENT, _MOST),
    Requirement("TASReplaceNodeOnPodTermination", _REPLACEMENT, _MOST),
    Requirement("TASMultiLayerTopology", _TOPOLOGY, {17: 4, 18: 0, 19: 0}),
    Requirement("TASReplaceNodeDueToNotReadyOverFixedTime", _TOPOLOGY, _LATER),
    Requirement("TASReplaceNodeDueToNotReadyOverFixedTime", _REPLACEMENT, _LATER),
    Requirement("TASRespectNodeAffinityPreferred", _TOPOLOGY, _FROM_18),
    Requirement("TASRecomputeAssignmentWithinSchedulingCycle", _TOPOLOGY, {18: 5, 19: 1}),
    Requirement("TASProfileMixed", _TOPOLOGY, dict.fromkeys(range(12, 20), 0)),
    Requirement("TASProfileLeastFreeCapacity", _TOPOLOGY, dict.fromkeys(range(12, 17), 0)),
    Requirement(_ELASTIC, "ElasticJobsViaWorkloadSlices", _FROM_17),
    Requirement(_ELASTIC, _TOPOLOGY, _FROM_17),
    Requirement("DRAExtendedResources", "DynamicResourceAllocation", {17: 0}),
    Requirement("KueueDRAIntegrationExtendedResource", _DEVICES, _FROM_18),
    Requirement("KueueDRAIntegrationPartitionableDevices", _DEVICES, _FROM_18),
    Requirement("KueueDRAIntegrationConsumableCapacity", _DEVICES, {19: 0}),
    Requirement("UnadmittedWorkloadsExplicitStatus", "UnadmittedWorkloadsObservability", {18: 5, 19: 0}),
)  # fmt: skip
