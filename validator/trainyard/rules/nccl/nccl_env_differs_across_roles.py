"""The roles of a run have different NCCL settings, so their ranks hang or fail.

Each rank reads its own environment. Both ends of a connection choose the algorithm, the protocol, the transport and the
buffer sizes for themselves. If Master and Worker choose differently, one side waits for data in a form that the other
never sends. The hang starts at the first collective and looks like a network fault.

The launcher of an MPIJob is not a rank: SC010 reports variables that do not leave it. The rule ignores the variables
for interfaces, devices and logging, which may differ.

Keep the shared settings in one place, such as a ConfigMap in `envFrom` or a YAML anchor.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.workloads import is_ray
from trainyard.analysis.pods.environment import has_unknown_variables
from trainyard.analysis.resources.devices import wants_gpu
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container, Run

SHARED = frozenset((
    "NCCL_ALGO", "NCCL_PROTO", "NCCL_NET", "NCCL_IB_DISABLE", "NCCL_BUFFSIZE", "NCCL_NTHREADS", "NCCL_LL128_BUFFSIZE",
    "NCCL_P2P_NET_CHUNKSIZE", "NCCL_COLLNET_ENABLE", "NCCL_NVLS_ENABLE", "NCCL_MNNVL_ENABLE", "NCCL_CUMEM_ENABLE",
    "NCCL_MIN_CTAS", "NCCL_MAX_CTAS", "NCCL_OOB_NET_ENABLE", "NCCL_COMM_ID",
))  # fmt: skip


@rule(
    code="NC036",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("NVIDIA/nccl v2.30.7-1 src/graph/tuning.cc: each rank applies NCCL_ALGO and NCCL_PROTO by itself",),
    inferred=True,
    needs=("NCCL_",),
)
def nccl_env_differs_across_roles(run: Run, context: Context) -> Iterator[Problem]:
    """NCCL settings that differ between roles."""
    # Groups of workers in a Ray cluster may run different programs.
    if run.kind == "MPIJob" or is_ray(run):
        return
    ranks = [
        (role.name, role.container) for role in run.training_roles if role.container is not None and wants_gpu(role.pod)
    ]
    for other in ranks[1:]:
        yield from _compare(*ranks[0], *other, context)


def _compare(first: str, one: Container, other: str, two: Container, context: Context) -> Iterator[Problem]:
    written = {setting.name for container in (one, two) for setting in container.settings}
    for name in sorted(SHARED & written):
        pair = one.setting(name), two.setting(name)
        known = [setting for setting in pair if setting is not None]
        if any(setting.value is None for setting in known):
            continue
        words = f"{first} has {known[0].value}"
        if len(known) == 1:
            lacking, container = (first, one) if pair[0] is None else (other, two)
            if has_unknown_variables(container, context):
                continue
            words = f"{lacking} does not set it"
        elif known[0].value == known[1].value:
            continue
        yield Problem(
            known[-1].at,
            f"{name}={known[-1].value}, but {words}: ranks with different settings hang at the first collective",
            f"set {name} to the same value in {first} and {other}",
        )
