"""A field belongs to another version of the kind, so the API server drops it or refuses the object.

Kueue renamed fields from `v1beta1` to `v1beta2`: `cohort` became `cohortName`, and the `kubeConfig` of a
MultiKueueCluster moved into `clusterSource`. An object with the version of one and the fields of the other loses its
cohort, or has no cluster. Only kubectl refuses it; other clients drop the field without a word.

Karpenter moved fields of its NodePool from `v1beta1` to `v1`: `expireAfter` from `disruption` into the template, and
`kubelet` into the EC2NodeClass. Without the field, nodes of a training pool expire after 30 days, and have the default
number of pods.

Write the field of the version, or the version of the field.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kueue import OF_ONE_VERSION
from trainyard.model.run import Resource

_GROUP, _KARPENTER = "kueue.x-k8s.io", "karpenter.sh"
# Fields of a version of a NodePool that another one has elsewhere: the path to each, and what to write.
_MOVED: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]] = {
    "v1": (
        (("disruption", "expireAfter"), "write `expireAfter` into `spec.template.spec`"),
        (("template", "spec", "kubelet"), "write `kubelet` into the spec of the EC2NodeClass"),
        (("template", "spec", "nodeClassRef", "apiVersion"), "write `group` with the part before the slash"),
    ),
    "v1beta1": (
        (("template", "spec", "expireAfter"), "write `expireAfter` into `spec.disruption`, or the version v1"),
        (("template", "spec", "terminationGracePeriod"), "write the version v1"),
        (("template", "spec", "nodeClassRef", "group"), "write `apiVersion`, or the version v1"),
    ),
}


@rule(
    code="SM023",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "facts/jobs/kueue.py: the fields of each version",
        "kueue.sigs.k8s.io/docs/reference: kueue.x-k8s.io/v1beta1 and v1beta2",
        "kubernetes-sigs/karpenter v1.0.0 and v1.14.1 pkg/apis/crds/karpenter.sh_nodepools.yaml: v1beta1 and v1",
        "aws/karpenter-provider-aws website/content/en/docs/upgrading/v1-migration.md: API Moves",
        "github.com/openshift/openshift-docs pull 108684",
    ),
    needs=(_GROUP, _KARPENTER),
)
def field_of_other_version(resource: Resource) -> Iterator[Problem]:
    """Report fields of objects of Kueue and Karpenter that their version does not have."""
    group, _, version = resource.api_version.partition("/")
    if group == _KARPENTER and resource.kind == "NodePool":
        yield from _of_pool(resource, version)
    if group != _GROUP:
        return
    for one in OF_ONE_VERSION.get(resource.kind, ()):
        if version in one.versions or one.field not in mapping(resource.tree, "spec"):
            continue
        written = one.versions[-1]
        right = f"write `{one.other}`, or the version `{written}`" if one.other else f"write the version `{written}`"
        yield Problem(
            resource.at.child("spec", one.field).key(),
            f"`{one.field}` is a field of {written}, and this {resource.kind} is {version}",
            right,
        )


def _of_pool(resource: Resource, version: str) -> Iterator[Problem]:
    for path, right in _MOVED.get(version, ()):
        if path[-1] in mapping(resource.tree, "spec", *path[:-1]):
            yield Problem(
                resource.at.child("spec", *path).key(),
                f"`{'.'.join(path)}` is not a field of the version {version}: the API server drops it",
                right,
            )
