"""The SR-IOV plugins do not know this link state, so no pod on the network can be created.

`sriov` and `ib-sriov` compare `link_state` with `auto`, `enable` and `disable`, in lower case, and stop at any other
value: `up`, `down` and `on` are words of `ip link`, not of the plugins. The error appears when a pod starts (`invalid
link_state value`), long after the NetworkAttachmentDefinition was accepted.

Without the field the virtual function keeps its state; `auto` lets it follow its physical port.

Write `auto`, `enable` or `disable`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network import cni
from trainyard.document.document import SetValue
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Network

STATES = ("auto", "enable", "disable")
MEANT = {
    **dict.fromkeys(("up", "on", "enabled", "true", "yes"), "enable"),
    **dict.fromkeys(("down", "off", "disabled", "false", "no"), "disable"),
    **{state: state for state in STATES},
}


@rule(
    code="NT004",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/sriov-cni v2.10.0 pkg/config/config.go: LoadConf",
        "k8snetworkplumbingwg/ib-sriov-cni pkg/config/config.go: LoadConf",
    ),
    fix="safe",
)
def nad_link_state_invalid(network: Network) -> Iterator[Problem]:
    """Report a link state that the plugins do not know."""
    for plugin, at in cni.plugins(network, "sriov", "ib-sriov"):
        state = cni.field_value(plugin, "link_state")
        if not isinstance(state, str) or state in ("", *STATES):
            continue
        place = at.child(cni.field_name(plugin, "link_state"))
        meant = MEANT.get(state.strip().lower())
        yield Problem(
            place,
            f"{cni.field_text(plugin, 'type')} has no link state `{state}`",
            f'write "{meant}"' if meant else "write auto, enable or disable",
            (SetValue(place, meant),) if meant else (),
        )
