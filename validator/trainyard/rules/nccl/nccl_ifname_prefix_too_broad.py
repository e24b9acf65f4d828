"""A prefix in `NCCL_SOCKET_IFNAME` matches several interfaces, so NCCL mixes different networks.

Without `=`, an entry matches every interface whose name begins with it. In a pod with `eth0` and additional interfaces
`eth1` to `eth8`, as on Google Kubernetes Engine, `eth` matches all nine. NCCL uses the first for its bootstrap and
spreads socket traffic over the others, although they may differ in speed, belong to the GPUs' data plane, or be on
networks that do not reach each other.

The rule takes the interfaces from the annotations of Multus and of Google Kubernetes Engine. It ignores pods with host
network and pods with one interface.

Write the exact name: `=eth0`. If all of them are intended, list them: `=eth1,eth2`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network.interfaces import DEFAULT, interfaces
from trainyard.analysis.pods.environment import role_of_ranks
from trainyard.analysis.pods.settings import change_value, literal_value
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.facts.nccl import lists
from trainyard.model.run import Setting


@rule(
    code="NC015",
    severity="info",
    confidence="medium",
    since="0.1.0",
    sources=("NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_SOCKET_IFNAME",),
    fix="unsafe",
    needs=("_IFNAME",),
)
def nccl_ifname_prefix_too_broad(setting: Setting, context: Context) -> Iterator[Problem]:
    """A prefix of the pod's default interface that matches others too."""
    value = literal_value(setting) if setting.name == lists.INTERFACES else None
    listed = lists.parse_list(value or "")
    if listed.excludes or len(listed.names) != 1:
        return
    role = role_of_ranks(context)
    present = interfaces(role.pod, context.run) if role is not None else None
    fitting = [name for name in present or () if listed.names_it(name)]
    if DEFAULT in fitting and len(fitting) > 1 and listed.names[0] not in fitting:
        yield Problem(
            setting.at,
            f"`{value}` matches {format_list(fitting)}: NCCL mixes these networks",
            f'write "={DEFAULT}"',
            change_value(setting, f"={DEFAULT}"),
        )
