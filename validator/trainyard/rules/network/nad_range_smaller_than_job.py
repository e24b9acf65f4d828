"""A job needs more addresses than its network's whereabouts range has, so its last pods never start.

Each attachment of each pod takes one address of every range of the network. When they are used up, whereabouts returns
`Could not allocate IP in range` and the pod stays in `ContainerCreating`, while the earlier pods hold their GPUs and
wait. The network address, the broadcast address and the excluded ranges are not available; `range_start` and
`range_end` narrow the range further. A network named twice in the annotation takes two addresses for each pod.

Addresses of pods that did not end cleanly can stay reserved for some time, and other jobs use the same range: leave
room, and give each rail its own range.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.analysis.network import addresses, multus
from trainyard.analysis.network.whereabouts import Pool, pools
from trainyard.document.document import Place
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Network, Run


@rule(
    code="NT011",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=("k8snetworkplumbingwg/whereabouts v0.9.4 pkg/allocate/allocate.go: IterateForAssignment",),
    inferred=True,
    needs=("NetworkAttachmentDefinition",),
)
def nad_range_smaller_than_job(run: Run, context: Context) -> Iterator[Problem]:
    """Report ranges with fewer addresses than a run's pods need."""
    for network, wanted in _wanted(run, context.project.networks):
        for pool in pools(network):
            usable = _usable(pool)
            if usable is not None and usable < wanted:
                yield Problem(
                    pool.range_at,
                    f"{run.kind} {run.name} needs {wanted} addresses of {network.name}, which has {usable}",
                    "make the range larger, or the job smaller",
                    related=((run.at, "the job"),),
                )


def _wanted(run: Run, networks: tuple[Network, ...]) -> Iterable[tuple[Network, int]]:
    """Returns the networks of a run, each with the number of addresses that its pods need."""
    found: dict[Place, tuple[Network, int]] = {}
    for role in run.roles:
        for attachment in multus.attachments(role.pod):
            network = multus.find_network(attachment, run.namespace, networks)
            if network is not None and role.replicas:
                found[network.at] = (network, found.get(network.at, (network, 0))[1] + role.replicas)
    return found.values()


def _usable(pool: Pool) -> int | None:
    bounds = pool.bounds()
    if bounds is None:
        return None
    first, last = (int(limit) for limit in bounds)
    spans = []
    for entry in pool.exclude:
        text = str(entry)
        excluded = addresses.subnet(text if "/" in text else f"{text}/{128 if ':' in text else 32}")
        if excluded is None or excluded.version != bounds[0].version:
            continue
        spans.append((max(first, int(excluded.network_address)), min(last, int(excluded.broadcast_address))))
    count, at = last - first + 1, first
    for start, end in sorted(spans):
        start = max(start, at)
        if end >= start:
            count, at = count - (end - start + 1), end + 1
    return count
