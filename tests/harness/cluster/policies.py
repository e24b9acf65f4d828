"""NetworkPolicies of one namespace as iptables rules on the nodes: kind's network does not enforce policies.

The API server evaluates the label selectors, so this module does not. Call `enforce` again for every pod or policy
that is created later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError

CHAIN = "TRAINYARD"
SIDES = {"Ingress": ("ingress", "from", "-d", "-s"), "Egress": ("egress", "to", "-s", "-d")}

Peer = Mapping[str, Any]


def enforce(cluster: Cluster, engine: Engine, namespace: str) -> None:
    """Allow what the namespace's policies allow to and from the pods that they select, and drop everything else."""
    connection = api.connect(cluster.kubeconfig)
    policies = [
        policy.to_dict()
        for policy in api.objects(connection, "networking.k8s.io/v1", "NetworkPolicy", namespace=namespace)
    ]
    chains: dict[str, list[str]] = {}
    jumps = ["-m conntrack --ctstate ESTABLISHED,RELATED -j RETURN"]
    for policy in policies:
        for pod in _pods(connection, namespace, policy["spec"].get("podSelector")):
            for side in policy["spec"]["policyTypes"]:
                field, peers, own, _ = SIDES[side]
                chain = f"{field}-{pod.status.podIP}"
                if chain not in chains:
                    jumps.append(f"{own} {pod.status.podIP} -j {chain}")
                # Policies that select the same pod are additive.
                chains.setdefault(chain, []).extend(
                    rule
                    for entry in policy["spec"].get(field) or []
                    for rule in _rules(connection, namespace, pod, side, entry.get(peers), entry.get("ports"))
                )
    _restore(cluster, engine, {CHAIN: jumps, **{name: [*rules, "-j DROP"] for name, rules in chains.items()}})


def lift(cluster: Cluster, engine: Engine) -> None:
    """Stop enforcing policies."""
    _restore(cluster, engine, {CHAIN: []})


def _pods(connection: Any, namespace: str, selector: Peer | None) -> list[Any]:
    found = api.objects(connection, "v1", "Pod", namespace=namespace, label_selector=_labels(selector))
    return [pod for pod in found if pod.status.podIP]


def _labels(selector: Peer | None) -> str:
    """Return a selector as a label query; raise `ClusterError` for `matchExpressions`, which no test uses."""
    if (selector or {}).get("matchExpressions"):
        raise ClusterError(f"matchExpressions are not supported: {selector}")
    return ",".join(f"{key}={value}" for key, value in ((selector or {}).get("matchLabels") or {}).items())


def _rules(
    connection: Any, namespace: str, pod: Any, side: str, peers: list[Peer] | None, ports: list[Peer] | None
) -> Iterator[str]:
    """Yield the rules of one entry of a policy; without peers all peers are allowed, without ports all ports."""
    flag = SIDES[side][3]
    addresses = [""]
    if peers:
        addresses = [f"{flag} {address} " for peer in peers for address in _addresses(connection, namespace, peer)]
    allowed = [
        f"-p {port.get('protocol', 'TCP').lower()} --dport {_number(pod, side, port['port'])} " for port in ports or []
    ]
    for address in addresses:
        for port in allowed or [""]:
            yield f"{address}{port}-j RETURN"


def _addresses(connection: Any, namespace: str, peer: Peer) -> Iterator[str]:
    if block := peer.get("ipBlock"):
        yield str(block["cidr"])
        return
    places = [namespace]
    if (selector := peer.get("namespaceSelector")) is not None:
        found = api.objects(connection, "v1", "Namespace", label_selector=_labels(selector))
        places = [place.metadata.name for place in found]
    for place in places:
        yield from (pod.status.podIP for pod in _pods(connection, place, peer.get("podSelector")))


def _number(pod: Any, side: str, port: int | str) -> int:
    """Return a port's number; a named port is looked up in the pod at the receiving end."""
    if isinstance(port, int):
        return port
    if side == "Ingress":
        for container in pod.spec.containers:
            for own in container.ports or []:
                if own.name == port:
                    return int(own.containerPort)
    raise ClusterError(f"{pod.metadata.name} has no port {port!r}, which a policy's {side} names")


def _restore(cluster: Cluster, engine: Engine, chains: Mapping[str, list[str]]) -> None:
    lines = ["*filter", *(f":{name} - [0:0]" for name in chains)]
    lines += [f"-A {name} {rule}" for name, rules in chains.items() for rule in rules]
    script = "\n".join(
        (
            "set -e",
            "iptables-restore --noflush <<'RULES'",
            *lines,
            "COMMIT",
            "RULES",
            f"iptables -C FORWARD -j {CHAIN} 2>/dev/null || iptables -I FORWARD -j {CHAIN}",
        )
    )
    for node in cluster.node_names:
        if (finished := cluster.exec(engine, node, "sh", "-c", script)).returncode != 0:
            raise ClusterError(f"iptables-restore failed on {node}: {finished.stderr.strip()}")
