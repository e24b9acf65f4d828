"""The version of the network driver has a form that the operator's webhook refuses.

The network operator builds the tag of the driver's image from `ofedDriver.version`. Its webhook accepts
`24.01-0.3.3.1-0`, `doca3.1.0-25.07-0.6.6.0-0`, both with the kernel behind them, and a digest. With another form, such
as `latest`, or five numbers in the middle, it refuses the policy. Without the webhook, there is no such image, or the
pods of the driver do not get ready.

Write the version as in the release notes of the operator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

_FORMS = re.compile(
    r"sha256:[a-fA-F0-9]{64}"
    r"|doca\d+\.\d+(\.\d+)?-\d+\.\d+-\d+\.\d+\.\d+\.\d+-\d+(-[\w.-]+)*"
    r"|\d+\.\d+-\d+(\.\d+)*(-\d+)?(-[\w.-]+)*"
)
_TO_FILL_IN = re.compile(r"[{}$<>]|__")


@rule(
    code="GO062",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "Mellanox/network-operator v26.4 api/v1alpha1/validator/nicpolicy_webhook.go: isValidOFEDVersion",
        "github.com/Mellanox/network-operator pull 3068",
    ),
    needs=("NicClusterPolicy", "NicNodePolicy"),
)
def network_driver_version_refused(resource: Resource) -> Iterator[Problem]:
    """Report versions of another form."""
    if resource.kind not in ("NicClusterPolicy", "NicNodePolicy"):
        return
    version = mapping(resource.tree, "spec", "ofedDriver").get("version")
    if isinstance(version, str) and version and not _TO_FILL_IN.search(version) and not _FORMS.fullmatch(version):
        yield Problem(
            resource.at.child("spec", "ofedDriver", "version"),
            f"`{version}` has not the form of a version of the driver: the operator's webhook refuses it",
            "write it as `24.10-0.7.0.0-0` or `doca3.1.0-25.07-0.6.6.0-0`",
        )
