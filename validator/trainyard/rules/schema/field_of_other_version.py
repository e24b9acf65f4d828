"""A field belongs to another version of the kind, so the API server drops it or refuses the object.

Kueue renamed fields from `v1beta1` to `v1beta2`: `cohort` became `cohortName`, and the `kubeConfig` of a
MultiKueueCluster moved into `clusterSource`. An object with the version of one and the fields of the other loses its
cohort, or has no cluster. Only kubectl refuses it; other clients drop the field without a word.

Write the field of the version, or the version of the field.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kueue import OF_ONE_VERSION
from trainyard.model.run import Resource

_GROUP = "kueue.x-k8s.io"


@rule(
    code="SM023",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "facts/jobs/kueue.py: the fields of each version",
        "kueue.sigs.k8s.io/docs/reference: kueue.x-k8s.io/v1beta1 and v1beta2",
        "github.com/openshift/openshift-docs pull 108684",
    ),
    needs=(_GROUP,),
)
def field_of_other_version(resource: Resource) -> Iterator[Problem]:
    """Report fields of Kueue's objects that their version does not have."""
    group, _, version = resource.api_version.partition("/")
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
