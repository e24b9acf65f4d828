"""Keys, names and arguments in the configuration of Volcano's scheduler.

Sources: volcano-sh/volcano master pkg/scheduler/conf/scheduler_conf.go (PluginOption), with names of former releases;
actions/factory.go, plugins/factory.go, and the arguments that the plugins read with GetInt, GetFloat64 and Get.
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

# `elect` and `reserve` are actions of former releases.
ACTIONS = (
    "enqueue", "allocate", "backfill", "preempt", "reclaim", "gangpreempt", "gangreclaim", "shuffle", "elect",
    "reserve",
)  # fmt: skip
PLUGINS = (
    "binpack", "capacity", "cdp", "conformance", "deviceshare", "drf", "extender", "gang", "network-topology-aware",
    "nodegroup", "nodeorder", "numa-aware", "overcommit", "pdb", "predicates", "priority", "proportion", "rescheduling",
    "resource-strategy-fit", "resourcequota", "sla", "task-topology", "tdm", "usage",
)  # fmt: skip

# Whole numbers that a plugin reads, by the plugin. A name with a dot at its end is the beginning of names.
INTEGERS: dict[str, tuple[str, ...]] = {
    "binpack": ("binpack.weight", "binpack.cpu", "binpack.memory", "binpack.resources."),
    "deviceshare": ("deviceshare.ScheduleWeight",),
    "network-topology-aware": ("weight", "hypernode.binpack.cpu", "hypernode.binpack.memory"),
    "nodeorder": (
        "nodeaffinity.weight", "podaffinity.weight", "leastrequested.weight", "balancedresource.weight",
        "mostrequested.weight", "tainttoleration.weight", "imagelocality.weight", "podtopologyspread.weight",
    ),
    "numa-aware": ("weight",),
    "task-topology": ("task-topology.weight",),
    "usage": ("usage.weight", "cpu.weight", "memory.weight"),
}  # fmt: skip
NUMBERS: dict[str, tuple[str, ...]] = {
    "overcommit": ("overcommit-factor",),
    "network-topology-aware": ("hypernode.binpack.normal-pod.fading",),
}
# Whole numbers that end the scheduler if they have another type.
FATAL: dict[str, tuple[str, ...]] = {
    "predicates": (
        "volumebinding.weight", "volumebinding.bindTimeoutSeconds", "dynamicresources.filterTimeoutSeconds",
    ),
    "resource-strategy-fit": ("resourceStrategyFitWeight",),
}  # fmt: skip
