"""torchrun's static rendezvous gets port 0, so the ranks of the node never find each other.

Port 0 lets the system choose a free port. The backend `c10d` tells the chosen port to all ranks. The static backend,
which is the default, passes 0 on: each rank waits for rank 0 at port 0 until the timeout.

Add `--rdzv-backend=c10d`, write `--standalone`, or choose a port.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.torchrun import operator_variables, torchrun_commands
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container


@rule(
    code="TD033",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch 2.15.0 torchrun on CPU, --rdzv-endpoint=localhost:0 and --master-port=0: ranks hang (seen)",
        "github.com/pytorch/pytorch issue 130656",
    ),
    needs=(":0", "port=0", '"0"', "port 0", "- 0"),
)
def torchrun_static_port_zero(container: Container, context: Context) -> Iterator[Problem]:
    """Report port 0 without a backend that tells the chosen one."""
    for launch in torchrun_commands(container):
        backend = launch.option("--rdzv-backend")
        if launch.has("--standalone") or backend not in (None, "static") or container.setting("PET_RDZV_BACKEND"):
            continue
        if context.run is not None and "PET_RDZV_BACKEND" in operator_variables(context.run):
            continue
        endpoint, port = launch.option_at("--rdzv-endpoint"), launch.option_at("--master-port")
        at = endpoint[1] if endpoint is not None and endpoint[0].endswith(":0") else None
        if endpoint is None and port is not None and port[0] == "0":
            at = port[1]
        if at is not None:
            yield Problem(
                at,
                "the static rendezvous does not tell the ranks which port the system chose for 0: they wait for ever",
                "add `--rdzv-backend=c10d`, or choose a port",
            )
