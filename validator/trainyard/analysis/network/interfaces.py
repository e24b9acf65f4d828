"""Network interfaces of a pod, as far as the files show them.

Sources: containerd and CRI-O call a pod's own interface `eth0`; k8snetworkplumbingwg/multus-cni docs/how-to-use.md
(`net1`, `net2` and so on, where an attachment names none); Google Kubernetes Engine, "Set up multi-network support
for Pods" (`networking.gke.io/interfaces`).
"""

from __future__ import annotations

from typing import Any

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.network import multus
from trainyard.model.run import Pod, Run

DEFAULT = "eth0"
GKE = "networking.gke.io/interfaces"
# Only chooses the default interface.
_HARMLESS = ("networking.gke.io/default-interface",)
# Parts of annotation names with which other network plugins add or rename interfaces.
_NETWORK_WORDS = ("cni", "network", "interface")


def interfaces(pod: Pod, run: Run | None) -> tuple[str, ...] | None:
    """Returns the interface names except the loopback; None if something outside the files may add more."""
    if pod.host_network or "resourceClaims" in pod.tree or not has_all_pods(run):
        return None
    found = [DEFAULT]
    for name, value in pod.annotations.items():
        if name in _HARMLESS or not any(word in str(name) for word in _NETWORK_WORDS):
            continue
        attached = _multus(pod) if name == multus.ANNOTATION else _gke(value) if name == GKE else None
        if attached is None:
            return None
        found += attached
    return tuple(dict.fromkeys(found))


def _multus(pod: Pod) -> list[str] | None:
    attached = multus.parse_annotation(multus.annotation_text(pod))
    if isinstance(attached, multus.Malformed):
        return None
    return [attachment.interface or f"net{number}" for number, attachment in enumerate(attached, 1)]


def _gke(value: Any) -> list[str] | None:
    import json

    try:
        entries = json.loads(value)
    except (TypeError, ValueError, RecursionError):
        return None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        return None
    names = [entry.get("interfaceName") for entry in entries]
    return [name for name in names if isinstance(name, str)] if all(names) else None
