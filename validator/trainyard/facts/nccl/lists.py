"""NCCL's lists of interfaces and adapters: `^` and then `=` before the whole list, followed by the names.

Source: src/os/linux.cc ncclOsFindInterfaces, src/transport/net_ib/init.cc and src/misc/utils.cc parseStringList and
matchIf of NVIDIA/nccl at v2.30.7-1.
"""

from __future__ import annotations

import functools

from trainyard.startup import NamedTuple, pattern

# Names of RDMA devices: the driver's, and those of rdma-core's renaming; `ib...` is the name of an interface as well.
RDMA_DEVICE = pattern(r"(mlx[45]_(bond_)?\d+|roce[px]\w+|bnxt_re\d+|irdma\d+|rdmap\d+s\d+\w*|efa_\d+|hfi1_\d+)$")
INTERFACES = "NCCL_SOCKET_IFNAME"
ADAPTERS = "NCCL_IB_HCA"
LISTS = (INTERFACES, ADAPTERS, "NCCL_OOB_NET_IFNAME")


class DeviceList(NamedTuple):
    """A parsed list of devices.

    `entries` are written as in the list: a name, for adapters with `:port`; `names` are those without ports.
    """

    excludes: bool
    exact: bool
    entries: tuple[str, ...]
    names: tuple[str, ...]

    def names_it(self, device: str) -> bool:
        """True if the list contains a device."""
        return any(device == name if self.exact else device.startswith(name) for name in self.names)


@functools.lru_cache(maxsize=256)
def parse_list(value: str) -> DeviceList:
    """Returns the list in a variable's value. Cached: most containers have the same, and several rules read each."""
    excludes = value.startswith("^")
    value = value[1:] if excludes else value
    exact = value.startswith("=")
    value = value[1:] if exact else value
    entries = tuple([entry for entry in value.split(",") if entry])
    names = tuple([name for entry in entries if (name := entry.partition(":")[0])])
    return DeviceList(excludes, exact, entries, names)
