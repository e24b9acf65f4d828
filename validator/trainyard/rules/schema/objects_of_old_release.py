"""Many objects of a file or folder have API versions that are gone, and none is newer: they are for an old cluster.

`kubectl apply` fails for each of them with "no matches for kind" on a current cluster. Copies of old examples, lessons
and releases of other programs look like this. Since they are no slip, one finding stands for all of them, and
`api-version-not-served` is silent there.

That holds for five or more such objects, if one release of Kubernetes served all objects of the file or folder, and if
objects of the same kinds with current versions are rare. One object is enough in a file or folder that is named after
a release, such as `calico-3.21.2.yaml`, in the folder `vendor` of Go, and in a file that requests GPUs as
`alpha.kubernetes.io/nvidia-gpu`. A single old version among current ones is reported by itself. Roles of `v1`, which
OpenShift served before 4, count among such objects.

Convert the objects, leave the folder out with `exclude`, or set the target `kubernetes` to the release of the cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from trainyard.analysis.objects.old_releases import FilesOfRelease, of_old_release
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.versions import before
from trainyard.model.run import Project

_MOST = 8


@rule(
    code="SM019",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=("kubernetes.io/docs/reference/using-api/deprecation-guide: removed APIs by release",),
    needs=("v1beta", "v2beta", "v1alpha"),
)
def objects_of_old_release(project: Project, context: Context) -> Iterator[Problem]:
    """Report files and folders for a release that no current cluster has."""
    for one in of_old_release(project):
        if one.gone and before(context.target.kubernetes, one.gone):
            continue
        first, *others = one.misfits
        others = [other for other in others if other.at.document.source is not first.at.document.source]
        yield Problem(
            first.at,
            f"{_objects(one)} for {_release(one)}: {_versions(one)} gone",
            "convert them, exclude the files, or set the target `kubernetes` to the release of the cluster",
            (),
            tuple((other.at, other.message) for other in islice(others, _MOST)),
        )


def _objects(one: FilesOfRelease) -> str:
    return f"{len(one.misfits)} objects {_where(one)} are" if len(one.misfits) > 1 else "an object of this file is"


def _versions(one: FilesOfRelease) -> str:
    return "their API versions are" if len(one.misfits) > 1 else "its API version is"


def _where(one: FilesOfRelease) -> str:
    from pathlib import Path

    files = {Path(misfit.at.document.source.name) for misfit in one.misfits}
    if len(files) == 1:
        return "of this file"
    first, *others = (file.parents for file in files)
    shared = next(folder for folder in first if all(folder in above for above in others))
    return f"below `{shared}`" if shared.name else "of these files"


def _release(one: FilesOfRelease) -> str:
    return f"Kubernetes before {'.'.join(map(str, one.gone))}" if one.gone else "an old operator or cluster"
