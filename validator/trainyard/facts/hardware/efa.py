"""Instance types of AWS without an Elastic Fabric Adapter, and the device plugin for the adapters.

Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html, supported instance types. Only families are listed
whose sizes were checked; any other type may have an adapter.
"""

from __future__ import annotations

PLUGIN = "aws-efa-k8s-device-plugin"

# Families of which no size has an adapter.
_NONE = frozenset(("g3", "g3s", "g5g", "m4", "m5", "m5a", "c4", "c5", "r4", "r5", "p2", "t2", "t3", "t3a", "t4g"))
# Families of which the smaller sizes have no adapter, with the largest one without.
_SMALL = {
    "g4dn": ("xlarge", "2xlarge", "4xlarge"),
    "g5": ("xlarge", "2xlarge", "4xlarge"),
    "g6": ("xlarge", "2xlarge", "4xlarge"),
    "g6e": ("xlarge", "2xlarge", "4xlarge"),
    "p3": ("2xlarge", "8xlarge", "16xlarge"),
    "trn1": ("2xlarge",),
}


def is_plugin(image: str) -> bool:
    """True if an image is the device plugin."""
    return PLUGIN in image


def has_no_adapter(instance_type: str) -> bool:
    """True if an instance type certainly has no adapter."""
    family, _, size = instance_type.partition(".")
    return family in _NONE or size in _SMALL.get(family, ())
