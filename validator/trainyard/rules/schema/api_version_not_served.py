"""No current release serves this API version, so `kubectl apply` fails with "no matches for kind".

Kubernetes drops beta versions a few releases after their successor: `extensions/v1beta1` went with 1.16 and 1.22, the
`batch/v1beta1` CronJob with 1.25. The Kubeflow operators serve `kubeflow.org/v1`, and the mpi-operator `v2beta1`. The
versions `v1alpha1` to `v1beta2` of their jobs are years old, and their fields differ: MPIJob of `v1alpha2` has the pod
template directly under `spec`. An object without an `apiVersion` is refused, too.

The replacement often has other fields, so changing the version alone is not enough. Such an object is not checked
against a schema.

With a target such as `kubernetes=1.15`, versions that this release still serves are not reported. Neither are those of
an older operator in the files, or a file with the name of a patch that no kustomization names. A folder such as `1.13`
beside `1.20` is for clusters of its time. `objects-of-old-release` reports many old objects of one folder at once.

Convert the object to the version that the message names.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.controllers import kueue_of
from trainyard.analysis.objects.old_releases import is_of_old_release
from trainyard.analysis.objects.releases import chart_version
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.versions import before
from trainyard.loaders.schemas.former_releases import is_of_former_release
from trainyard.loaders.schemas.partial import is_unused_patch
from trainyard.model.run import Misfit

_KUEUE = "Kueue"


@rule(
    code="SM005",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/reference/using-api/deprecation-guide: removed APIs by release",
        "kubeflow/training-operator v1.9.3 pkg/apis/kubeflow.org/v1",
        "kubeflow/mpi-operator v0.8.0 pkg/apis/kubeflow/v2beta1",
    ),
)
def api_version_not_served(misfit: Misfit, context: Context) -> Iterator[Problem]:
    """Report an API version that was removed, unless the target is an older release."""
    if (
        misfit.fault not in ("not served", "dropped")
        or _is_served(misfit, context)
        or is_of_old_release(misfit, context.project)
    ):
        return
    source = misfit.at.document.source
    if not is_unused_patch(source.name) and not is_of_former_release(source):
        yield Problem(misfit.at, misfit.message, misfit.help)


def _is_served(misfit: Misfit, context: Context) -> bool:
    operator, since = misfit.value if misfit.fault == "dropped" else ("", str(misfit.value or ""))
    gone = tuple(int(part) for part in since.split(".") if part)
    known = _release(operator, context) if operator else context.target.kubernetes
    return bool(gone) and before(known, gone)


def _release(operator: str, context: Context) -> tuple[int, ...] | None:
    """Returns the release of an operator, by its chart or its image in the files, or by the target."""
    known = chart_version(context.project, operator.lower())
    return known or (kueue_of(context.project, context.target.kueue) if operator == _KUEUE else None)
