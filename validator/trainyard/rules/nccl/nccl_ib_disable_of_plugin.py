"""`NCCL_IB_DISABLE` is set in an image of NVIDIA with the network plugin of HPC-X, which does not read it.

NCCL prefers a network plugin to its own code for InfiniBand. The images of NVIDIA for PyTorch have one, with the names
`IBext` and `IBext_v8` in the log. `NCCL_IB_DISABLE=1` turns off NCCL's own code alone, and the ranks still use the
adapters: on nodes whose adapters are not connected they hang or end with a timeout.

The rule applies to jobs of several pods and to images of 2021 to 2024. It leaves out `NCCL_NET` and `NCCL_NET_PLUGIN`.

Set `NCCL_IBEXT_DISABLE=1` as well, or `NCCL_NET=Socket` alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.pods.environment import is_effective, ranks_of
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl.strtoll import parse_integer
from trainyard.model.run import Setting

_NAME = "NCCL_IB_DISABLE"
_OTHERS = ("NCCL_NET", "NCCL_NET_PLUGIN", "NCCL_IBEXT_DISABLE")
_IMAGE = re.compile(r"(?:^|/)nvidia/(?:pytorch|tensorflow|nemo):2[1-4]\.\d\d\b")


@rule(
    code="NC051",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "Mellanox/nccl-rdma-sharp-plugins src/ib_plugin.c: NCCL_PARAM(IbDisable, IBEXT_DISABLE)",
        "github.com/NVIDIA/nccl issue 676; github.com/NVIDIA/nccl-tests issue 373",
    ),
    needs=(_NAME,),
)
def nccl_ib_disable_of_plugin(setting: Setting, context: Context) -> Iterator[Problem]:
    """Report the variable in images whose plugin has one of its own."""
    run = context.run
    if setting.name != _NAME or not parse_integer(setting.value) or run is None or (run.nodes or 1) < 2:
        return
    if not is_effective(setting, context.container):
        return
    ranks = ranks_of(setting, context)
    image = next((one.image for one in ranks if _IMAGE.search(one.image or "")), None)
    seen = (*ranks, *((context.container,) if context.container is not None else ()))
    if image is None or any(one.setting(name) is not None for one in seen for name in _OTHERS):
        return
    yield Problem(
        setting.at,
        f"the network plugin of {image.rpartition('/')[2]} does not read {_NAME}: it still uses InfiniBand or RoCE",
        "set NCCL_IBEXT_DISABLE=1 too, or NCCL_NET=Socket",
    )
