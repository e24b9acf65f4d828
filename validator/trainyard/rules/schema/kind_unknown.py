"""The API group has no kind of this name; the name or the group is misspelt.

`kubectl apply` fails with "no matches for kind", and nothing is created. The usual causes are other capitals
(`PytorchJob`), a kind with the version of another group (`Deployment` with `v1`), and a misspelt group (`app/v1`,
`kubeflow.com/v1`).

The rule knows the kinds of Kubernetes and of the operators that `field-unknown` names. Other kinds and groups may
exist, and are reported only if they differ from a known one by a few letters.

Write the kind and the version that the message names.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.old_releases import is_of_old_release
from trainyard.document.document import SetValue
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Misfit


@rule(
    code="SM006",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34.4 api/openapi-spec/swagger.json: x-kubernetes-group-version-kind",
        "schemas/crds: groups, versions and kinds of the CRDs",
    ),
    fix="unsafe",
)
def kind_unknown(misfit: Misfit, context: Context) -> Iterator[Problem]:
    """Report a kind that its group does not have."""
    if misfit.fault == "unknown kind" and not is_of_old_release(misfit, context.project):
        edits = (SetValue(misfit.at, misfit.name),) if misfit.name is not None else ()
        yield Problem(misfit.at, misfit.message, misfit.help, edits)
