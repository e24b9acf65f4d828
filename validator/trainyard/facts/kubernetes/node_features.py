"""Features that Node Feature Discovery finds on nodes, which its rules can match.

Source: kubernetes-sigs/node-feature-discovery docs/usage/customization-guide.md, available features, and source/.
"""

from __future__ import annotations

# The features of each domain. `rule.matched` has the labels and variables of rules before, `fake` is for tests.
FEATURES: dict[str, frozenset[str]] = {
    "cpu": frozenset(
        ("cpuid", "cstate", "model", "pstate", "rdt", "security", "sst", "topology", "coprocessor", "power", "se")
    ),
    "kernel": frozenset(("config", "loadedmodule", "enabledmodule", "selinux", "kvm", "version")),
    "local": frozenset(("label", "feature")),
    "memory": frozenset(("nv", "numa", "swap", "hugepages")),
    "network": frozenset(("device", "virtual")),
    "pci": frozenset(("device",)),
    "storage": frozenset(("block",)),
    "system": frozenset(("osrelease", "dmiid", "name")),
    "usb": frozenset(("device",)),
    "rule": frozenset(("matched",)),
    "fake": frozenset(("flag", "attribute", "instance")),
}
# Domains that users expect and that no program fills. Vendors have domains of their own.
INVENTED = frozenset(("kubernetes", "node", "label", "labels"))
