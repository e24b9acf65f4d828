"""Device ids of network adapters with virtual functions, by the id of their vendor.

Source: k8snetworkplumbingwg/sriov-network-operator v1.6.0 deployment/sriov-network-operator-chart: supported-nic-ids.
"""

from __future__ import annotations

_OF_E800 = ("1591", "1592", "1593", "1599", "159b", "188a", "124c", "124d", "579c", "579d", "579e", "12d2", "12d3")
# The id of each adapter, with the one of its virtual functions.
ADAPTERS: dict[str, dict[str, str]] = {
    "15b3": {
        "1013": "1014",
        "1015": "1016",
        "1017": "1018",
        "1019": "101a",
        "101b": "101c",
        "101d": "101e",
        "101f": "101e",
        "1021": "101e",
        "1023": "101e",
        "1025": "101e",
        "a2d6": "101e",
        "a2dc": "101e",
    },
    "8086": {
        "158a": "154c",
        "158b": "154c",
        "1572": "154c",
        "1581": "154c",
        "1583": "154c",
        "1589": "154c",
        "15ff": "154c",
        "0d58": "154c",
        "1563": "1565",
        "10c9": "10ca",
        "1249": "1889",
        "124a": "1889",
        **dict.fromkeys(_OF_E800, "1889"),
    },
    "14e4": {"16d7": "16dc", "1750": "1806"},
    "1077": {"1654": "1664"},
    "177d": {"b200": "b203", "b100": "b103", "b600": "b603", "b900": "b903", "ba00": "ba03"},
}
NAMES = {"15b3": "NVIDIA", "8086": "Intel", "14e4": "Broadcom", "1077": "QLogic", "177d": "Marvell"}
FUNCTIONS = {vendor: frozenset(own.values()) for vendor, own in ADAPTERS.items()}


def owners(device: str) -> frozenset[str]:
    """Returns the vendors that have a device id, of an adapter or of its virtual functions; none if it is unknown."""
    written = device.lower()
    return frozenset(one for one, own in ADAPTERS.items() if written in own or written in FUNCTIONS[one])
