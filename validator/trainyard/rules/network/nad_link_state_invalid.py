"""A link state that the SR-IOV plugins do not know keeps every pod of the network from being created.

`sriov` and `ib-sriov` compare `link_state` with `auto`, `enable` and `disable`, in lower case, and stop at anything
else: `up`, `down` and `on` are what `ip link` says and not what the plugins take. The error appears when a pod starts
(`invalid link_state value`), long after the NetworkAttachmentDefinition was accepted.

Without the field the virtual function keeps the state that it has; `auto` lets it follow its physical port.

Write `auto`, `enable` or `disable`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects import cni
from validator.model import Network
from validator.rule import Problem, SetValue, rule

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
    """A link state of another vocabulary."""
    for plugin, at in cni.plugins(network, "sriov", "ib-sriov"):
        state = cni.value(plugin, "link_state")
        if not isinstance(state, str) or state in ("", *STATES):
            continue
        place = at.child(cni.key(plugin, "link_state"))
        meant = MEANT.get(state.strip().lower())
        yield Problem(
            place,
            f"the plugin {cni.string(plugin, 'type')} does not know the link state `{state}`",
            f'write "{meant}"' if meant else "write auto, enable or disable",
            (SetValue(place, meant),) if meant else (),
        )
