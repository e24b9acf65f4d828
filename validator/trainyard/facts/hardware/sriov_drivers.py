"""Drivers of PCI devices with virtual functions, as sysfs names them.

Sources: Linux v6.12 drivers/net/ethernet/mellanox (mlx4_pci_table, mlx5_core_pci_table); drivers/net/ethernet/intel:
iavf, ixgbevf and igbvf (the tables of PCI ids). iavf had the name i40evf before Linux 4.20.
"""

from __future__ import annotations

# Drivers that take any device.
ANY = frozenset(("vfio-pci", "uio_pci_generic", "igb_uio", "pci-stub"))
# Drivers of the layers above a PCI device, with the driver of the device.
ABOVE = {
    "mlx4_en": "mlx4_core",
    "mlx4_ib": "mlx4_core",
    "mlx5_en": "mlx5_core",
    "mlx5_ib": "mlx5_core",
}
_CONNECTX_3 = ("1003", "1004", "1005", "1006", "1007")
_CONNECTX = (
    "1011", "1012", "1013", "1014", "1015", "1016", "1017", "1018", "1019", "101a", "101b", "101c", "101d", "101e",
    "101f", "1021", "1023", "1025", "a2d2", "a2d3", "a2d6", "a2dc",
)  # fmt: skip
# The drivers of a device, by its vendor and id.
DRIVERS: dict[tuple[str, str], tuple[str, ...]] = {
    **{("15b3", device): ("mlx4_core",) for device in _CONNECTX_3},
    **{("15b3", device): ("mlx5_core",) for device in _CONNECTX},
    **{("8086", device): ("iavf", "i40evf") for device in ("154c", "1889", "37cd")},
    **{("8086", device): ("ixgbevf",) for device in ("10ed", "1515", "1565", "15a8", "15c5")},
    **{("8086", device): ("igbvf",) for device in ("10ca", "1520")},
}
