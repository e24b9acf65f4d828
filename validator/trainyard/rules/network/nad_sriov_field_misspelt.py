"""A field of the plugin sriov has other separators or capitals than the plugin reads, so the setting has no effect.

The plugin names its fields in several styles: `max_tx_rate`, `min_tx_rate` and `link_state` have underscores,
`vlanQoS` and `vlanProto` have capitals, and `spoofchk` has neither. Go's reader of JSON ignores the case of letters,
so `vlanqos` works. It does not ignore dashes and underscores: `max-tx-rate` and `maxTxRate` are unknown fields, which
the plugin ignores.

The fields of a SriovNetwork of the SR-IOV operator have other names (`maxTxRate`, `spoofChk`).

Write the name of the message.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network import cni
from trainyard.document.document import Rename
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Network

_FIELDS = (
    "vlan", "vlanQoS", "vlanProto", "deviceID", "min_tx_rate", "max_tx_rate", "spoofchk", "trust", "link_state",
    "logLevel", "logFile", "runtimeConfig",
)  # fmt: skip


def _plain(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()


_MEANT = {_plain(name): name for name in _FIELDS}
_READ = frozenset(name.lower() for name in _FIELDS)


@rule(
    code="NT076",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "k8snetworkplumbingwg/sriov-cni 1b7acc5b pkg/types/types.go: SriovNetConf",
        "github.com/openshift/sriov-cni issue 39",
    ),
    fix="unsafe",
    needs=("sriov",),
)
def nad_sriov_field_misspelt(network: Network) -> Iterator[Problem]:
    """Report fields with other separators."""
    for plugin, at in network.plugins:
        if cni.field_value(plugin, "type") != "sriov":
            continue
        for name in plugin:
            meant = _MEANT.get(_plain(name))
            if meant is not None and name.lower() not in _READ and cni.field_value(plugin, meant) is None:
                key = at.child(name).key()
                message = f"the plugin sriov has no field `{name}`, so the setting has no effect"
                yield Problem(key, message, f"write `{meant}`", (Rename(key, meant),))
