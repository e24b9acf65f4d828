"""The value is outside the variable's range, so NCCL clamps it, passes it on unchecked, or ignores it.

The effect differs by variable, and little of it is logged. More than 128 queue pairs overrun the arrays that hold them.
`NCCL_IB_RETRY_CNT` fills three bits of the adapter's queue pair. `NCCL_IB_SPLIT_DATA_ON_QPS` splits only for exactly 1,
so 4 leaves it off. Thread and channel counts are clamped to their limits with a line at `NCCL_DEBUG=INFO`. In each case
the run differs from the manifest.

The limit of 64 CTAs holds since NCCL 2.25; before that it was 32. Another rule covers values that are not numbers.

Write a value from the range that the finding names, or leave the variable unset.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis import versions
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl.strtoll import parse_integer
from trainyard.facts.versions import before
from trainyard.model.run import Setting
from trainyard.startup import NamedTuple


class Range(NamedTuple):
    """The values that NCCL accepts, and the effect of any other value."""

    low: int
    high: int
    otherwise: str
    multiple_of: int = 1


ANY = "NCCL has no such setting"
CUT = "NCCL clamps it to the nearest limit"
RANGES = {
    "NCCL_IB_RETRY_CNT": Range(0, 7, "the adapter's field has three bits"),
    "NCCL_IB_TC": Range(0, 255, "the traffic class has eight bits"),
    "NCCL_IB_SL": Range(0, 15, "the service level has four bits"),
    "NCCL_IB_QPS_PER_CONNECTION": Range(1, 128, "a connection holds 1 to 128 queue pairs"),
    "NCCL_IB_SPLIT_DATA_ON_QPS": Range(0, 1, "only 1 splits a message"),
    "NCCL_IB_PCI_RELAXED_ORDERING": Range(0, 2, ANY),
    "NCCL_CROSS_NIC": Range(0, 2, ANY),
    "NCCL_NVLS_ENABLE": Range(0, 2, ANY),
    "NCCL_MNNVL_ENABLE": Range(0, 2, ANY),
    "NCCL_P2P_PXN_LEVEL": Range(0, 2, ANY),
    "NCCL_NTHREADS": Range(64, 512, CUT, 32),
    "NCCL_CGA_CLUSTER_SIZE": Range(0, 8, CUT),
    "NCCL_SOCKET_NTHREADS": Range(0, 16, CUT),
    "NCCL_MIN_CTAS": Range(1, 64, CUT),
    "NCCL_MAX_CTAS": Range(1, 64, CUT),
}
FEWER_CTAS, FEWER_CTAS_BEFORE = 32, (2, 25)


@rule(
    code="NC027",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: values accepted by each variable",
        "NVIDIA/nccl v2.30.7-1 src/graph/tuning.cc: getNthreads; src/init.cc: envConfigOverride; "
        "src/transport/net_ib/common.h: NCCL_IB_MAX_QPS; src/transport/net_socket.cc: ncclNetSocketGetNsockNthread",
    ),
    needs=("NCCL_",),
)
def nccl_value_out_of_range(setting: Setting, context: Context) -> Iterator[Problem]:
    """A number outside its variable's range."""
    allowed = RANGES.get(setting.name)
    value = parse_integer(setting.value)
    if allowed is None or value is None:
        return
    release = None
    if setting.name.endswith("_CTAS") and value > FEWER_CTAS:
        release = versions.nccl(context)
        if before(release.version, FEWER_CTAS_BEFORE):
            allowed = allowed._replace(high=FEWER_CTAS)
    if allowed.low <= value <= allowed.high and value % allowed.multiple_of == 0:
        return
    step = f", a multiple of {allowed.multiple_of}" if allowed.multiple_of > 1 else ""
    yield Problem(
        setting.at,
        f"{setting.name}={value} is out of range: {allowed.otherwise}",
        f"write {allowed.low} to {allowed.high}{step}",
        rests_on=release if allowed.high == FEWER_CTAS else None,
    )
