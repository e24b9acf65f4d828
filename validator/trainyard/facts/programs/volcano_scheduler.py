"""Keys of a plugin in the configuration of Volcano's scheduler.

Source: volcano-sh/volcano master pkg/scheduler/conf/scheduler_conf.go (PluginOption), with names of former releases.
"""

from __future__ import annotations

PLUGIN_KEYS = frozenset((
    "name", "arguments", "enableJobOrder", "enableHierarchy", "enableJobReady", "enableJobPipelined", "enableTaskOrder",
    "enablePreemptable", "enableReclaimable", "enablePreemptive", "enableQueueOrder", "enabledClusterOrder",
    "enablePredicate", "enableBestNode", "enableNodeOrder", "enableTargetJob", "enableReservedNodes",
    "enableJobEnqueued", "enabledVictim", "enableJobStarving", "enabledOverused", "enabledAllocatable",
    "enabledHyperNodeOrder", "enabledSubJobReady", "enabledSubJobPipelined", "enabledSubJobOrder",
    "enabledHyperNodeGradient", "enableNamespaceOrder", "EnabledClusterOrder", "enableOverused", "enableAllocatable",
))  # fmt: skip
