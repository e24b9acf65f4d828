"""A prefix in `NCCL_SOCKET_IFNAME` that fits several interfaces lets NCCL mix networks of different speed or reach.

Without `=`, an entry fits every interface whose name begins with it. In a pod with `eth0` and further interfaces
`eth1` to `eth8`, as on Google Kubernetes Engine, `eth` takes all nine. NCCL uses the first for its bootstrap and
spreads socket traffic over the others, although they may belong to the GPUs' data plane, or to networks that do not
reach each other.

The rule knows interfaces from the annotations of Multus and of Google Kubernetes Engine. Pods with the host's network
and pods with one interface are left alone.

Write the exact name: `=eth0`. If all of them are meant, list them: `=eth1,eth2`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.interfaces import DEFAULT, interfaces
from validator.aspects.ranks import role_of
from validator.aspects.settings import changed, literal
from validator.facts import nccl_lists
from validator.model import Setting
from validator.rule import Context, Problem, rule


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
    """A prefix of the pod's own interface that fits others too."""
    value = literal(setting) if setting.name == nccl_lists.INTERFACES else None
    listed = nccl_lists.read(value or "")
    if listed.exact or listed.excludes or len(listed.names) != 1:
        return
    role = role_of(context)
    present = interfaces(role.pod, context.run) if role is not None else None
    fitting = [name for name in present or () if listed.names_it(name)]
    if DEFAULT in fitting and len(fitting) > 1 and listed.names[0] not in fitting:
        yield Problem(
            setting.at,
            f"`{value}` fits {', '.join(fitting)}: NCCL mixes these networks",
            f'write "={DEFAULT}"',
            changed(setting, f"={DEFAULT}"),
        )
