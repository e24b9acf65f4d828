"""Networks between nodes, from `fabrics.csv`, which names the source of each."""

from __future__ import annotations

import re
from typing import NamedTuple

from trainyard.commands.plan import tables
from trainyard.commands.plan.errors import PlanError

# NCCL's bus bandwidth between nodes over the line rate; see 8x400 in the table.
_EFFICIENCY = 0.85
_PORTS = re.compile(r"(?:(\d+)x)?(\d+(?:\.\d+)?)")


class Fabric(NamedTuple):
    """A network: the line rate of a node in bytes per second, and the share of it that collectives reach."""

    name: str
    rate: float
    efficiency: float
    source: str


def fabric_names() -> tuple[str, ...]:
    """Returns the names of all known networks."""
    return tables.names("fabrics")


def fabric_of(name: str) -> Fabric:
    """Returns the network with this name, or of ports such as `4x200` or `100`, in Gbit/s. Raises `PlanError`."""
    if name not in fabric_names() and (ports := _PORTS.fullmatch(name)) is not None:
        return of_gbps(int(ports[1] or 1) * float(ports[2]), name)
    try:
        row = tables.row("fabrics", name, "fabric")
    except PlanError as error:
        raise PlanError(f"{error}; or give ports and Gbit/s, as 8x400") from None
    return Fabric(name, float(row["gbps"]) * 1e9 / 8, float(row["efficiency"]), row["source"])


def of_gbps(gbps: float, name: str = "") -> Fabric:
    """Returns a network of this rate per node. Raises `PlanError`."""
    if gbps <= 0:
        raise PlanError(f"the fabric {name} has no bandwidth; give ports and Gbit/s, as 8x400")
    return Fabric(name or f"{gbps:g} Gbit/s", gbps * 1e9 / 8, _EFFICIENCY, "given by the user")
