"""The patch of a kustomization names an object that its resources do not have, so the build fails or changes nothing.

A patch without a `target` changes the object of its own kind, name and namespace. If there is none,
`kustomize build` ends with "no matches for Id" or "failed to find unique target for patch". The namespace counts: a
patch without one does not change an object that has one. A `target` that selects nothing is silently ignored.

The rule applies if all resources of the kustomization are in the files: folders and files, and neither URLs nor charts,
components, transformers, generators or patches that may change names. It skips a folder to which a Kustomization of
Flux adds components. Names and namespaces that a kustomization sets are known.

Write the kind, the name and the namespace of the object as its own file has them.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.kustomizations import PatchOf, patches
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project


@rule(
    code="RF034",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes-sigs/kustomize api/resmap/reswrangler.go: ApplySmPatch, GetMatchingResourcesByAnyId, Select",
        "kubernetes-sigs/kustomize kyaml/resid/resid.go: Equals, IsNsEquals",
        "github.com/kubernetes-sigs/kueue pull 15696, github.com/kubernetes-sigs/kustomize issues 4522 and 5248",
    ),
    needs=("patches", "patchesStrategicMerge"),
)
def kustomize_patch_without_target(project: Project) -> Iterator[Problem]:
    """Report patches whose object is not among the resources."""
    for patch in patches(project):
        if not any(patch.wants.fits(one) for one in patch.among):
            yield Problem(
                patch.at,
                f"no resource of the kustomization is {patch.wants}: {_effect(patch)}",
                _help(patch),
                related=((patch.written_at, "the patch"),) if patch.written_at is not None else (),
            )


def _effect(patch: PatchOf) -> str:
    return "kustomize ignores the patch" if patch.selects else "`kustomize build` fails with `no matches for Id`"


def _help(patch: PatchOf) -> str:
    near = [one for one in patch.among if one.kind == patch.wants.kind and one.name == patch.wants.name]
    if near:
        place = f"namespace `{near[0].namespaces[0]}`" if near[0].namespaces[0] else "no namespace"
        return f"{near[0].kind} `{near[0].name}` has {place}: write the same in the patch"
    same = sorted({one.name for one in patch.among if one.kind == patch.wants.kind})
    return f"its objects of this kind: {', '.join(same)}" if same else "correct the kind and the name"
