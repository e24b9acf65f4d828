"""`GLOO_SOCKET_IFNAME` has signs of NCCL's lists, which Gloo reads as part of an interface name that does not exist.

PyTorch splits the variable at commas and gives each name to Gloo, which expects an exact name. `^` (exclude) and `=`
(exact) belong to `NCCL_SOCKET_IFNAME` alone. With `^lo,docker0` every process stops at start-up with "Unable to find
address for: ^lo". `TP_SOCKET_IFNAME` of TensorPipe takes one exact name, too.

Write the name of the interface, such as `eth0` in a pod without host network.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import literal_value
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Setting

VARIABLES = ("GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME")


@rule(
    code="TD014",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch 2.15.0 torch/csrc/distributed/c10d/init.cpp: GLOO_SOCKET_IFNAME split by commas",
        "pytorch/gloo gloo/transport/tcp/device.cc: lookupAddrForIface",
        "github.com/aws-samples/aws-do-eks pull request 51",
    ),
    needs=VARIABLES,
)
def gloo_ifname_signs(setting: Setting) -> Iterator[Problem]:
    """A list in the form of NCCL."""
    value = literal_value(setting) if setting.name in VARIABLES else None
    if value is not None and value[:1] in ("^", "="):
        name = value.partition(",")[0]
        yield Problem(
            setting.at,
            f"{setting.name} takes exact interface names: there is no interface `{name}`",
            "write the name of the interface, such as `eth0`",
        )
