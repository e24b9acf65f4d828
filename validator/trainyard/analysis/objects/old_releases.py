"""Files and folders that are for an old release of Kubernetes as a whole: copies of examples, lessons and programs.

Many of their objects have API versions that are gone, and nothing in them is newer than these. One old object among
current ones is a mistake, except in a copy that is named after a release, as `calico-3.21.2.yaml`, in Go's folder of
vendored code, and in a file that requests GPUs by their name before Kubernetes 1.11. Roles of `v1`, which OpenShift
served before 4, belong to the objects around them.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from trainyard.document.upwards import folders_of
from trainyard.facts.kubernetes.introduced_apis import INTRODUCED
from trainyard.facts.kubernetes.removed_apis import REMOVED
from trainyard.loaders.schemas.former_releases import is_of_former_release
from trainyard.loaders.schemas.partial import is_unused_patch
from trainyard.loaders.schemas.served import OPENSHIFT_ROLES
from trainyard.model.last_index import LastIndex
from trainyard.startup import pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainyard.document.document import Place
    from trainyard.model.run import Misfit, Project, Resource

# Fewer old objects may each be a mistake.
_MANY = 5
# Old objects for each object of the same kinds that is current.
_SHARE = 4
# A copy of a release of a program is named after it, or after the version of the API.
_RELEASE = pattern(r"(?:^|[-_.])v?\d+\.\d+(?:\.\d+)*(?=[-_.]|$)|v\d+(?:alpha|beta)\d+")
_COPY = pattern(r"(?:^|[-_])v?\d+\.\d+\.\d+(?=[-_.]|$)")
# The folder in which Go keeps the releases of other programs.
_VENDORED = "vendor"
# The name of NVIDIA's GPUs before device plugins.
OLD_GPU = "alpha.kubernetes.io/nvidia-gpu"
# Versions of the API before 1.0.
_FIRST = frozenset(("v1beta1", "v1beta2", "v1beta3"))

_Key = tuple[int, tuple[str | int, ...]]


class FilesOfRelease:
    """Objects of a file or folder: those whose versions are gone, and what the others say about the cluster's release.

    `path` is the file or folder. `gone` is the first release that does not serve all old objects, empty if unknown.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.misfits: list[Misfit] = []
        self.gone: tuple[int, ...] = ()
        self.came: tuple[int, ...] = ()
        self._old: set[str] = set()
        self._current: Counter[str] = Counter()
        self._has_old_gpus = False

    def add(self, resource: Resource, misfit: Misfit | None) -> None:
        """Adds an object, with its fault if its API version is gone."""
        version, kind = resource.api_version, resource.kind
        if misfit is None and REMOVED.keys() & {(version, kind), (version, "")}:
            # Beyond the most that are reported, or left alone.
            return
        if misfit is None:
            self._current[kind] += 1
            self.came = max(self.came, _came(version, kind))
            return
        if misfit.fault == "dropped":
            # By an operator, whose releases have other numbers.
            return
        self.misfits.append(misfit)
        source = resource.at.document.source
        self._has_old_gpus = self._has_old_gpus or (source.name == self.path and OLD_GPU in source.text)
        # `v1` is as old as the versions before it.
        self._old |= {kind} if misfit.fault == "not served" else set()
        gone = tuple(int(part) for part in str(misfit.value or "").split(".") if part)
        self.gone = min(filter(None, (self.gone, gone)), default=())

    @property
    def are_of_one_release(self) -> bool:
        """True if an old release served all objects, and few of the same kinds are current."""
        current = sum(self._current[kind] for kind in self._old)
        is_possible = not self.gone or self.came < self.gone
        name = self.path.rpartition("/")[2]
        is_named = name == _VENDORED or _RELEASE.search(name) is not None
        least = 1 if is_named or self._has_old_gpus else _MANY
        # A copy of a release may have old and new objects, as long as one release of Kubernetes serves all of them.
        is_copy = name == _VENDORED or _COPY.search(name) is not None
        are_few = current * _SHARE <= len(self.misfits) or is_copy
        return len(self.misfits) >= least and is_possible and are_few


def of_old_release(project: Project) -> tuple[FilesOfRelease, ...]:
    """Returns the files and folders that are for an old release, without those inside of others."""
    return tuple(dict.fromkeys(_by_object.of(project).values()))


def is_of_old_release(misfit: Misfit, project: Project) -> bool:
    """True if the object with this version is one of many that are for an old release, or of a chart among them."""
    return _key(misfit.at) in _by_object.of(project) or _is_of_old_chart(misfit, project)


def lies_in_old_release(at: Place, project: Project) -> bool:
    """True if a place is in a file or folder that is for an old release."""
    path = _normal(at.document.source.name)
    return any(path.startswith(_normal(one.path)) for one in of_old_release(project))


def _is_of_old_chart(misfit: Misfit, project: Project) -> bool:
    """True if a chart lies in a folder for an old release, which served all of its objects."""
    around = of_old_release(project.around) if project.around is not None else ()
    if not around:
        return False
    path, came = _normal(misfit.at.document.source.name), _newest.of(project)
    return any(path.startswith(_normal(one.path)) and (not one.gone or came < one.gone) for one in around)


def _find_newest(project: Project) -> tuple[int, ...]:
    return max((_came(one.api_version, one.kind) for one in project.resources), default=())


def _normal(path: str) -> str:
    """Returns a path without the dot of the current folder, which is empty."""
    return f"{path}/".removeprefix("./") if path else ""


def _find(project: Project) -> dict[_Key, FilesOfRelease]:
    """Returns the old objects that are for an old release, each with the largest folder of such."""
    old = {_key(one.at): one for one in project.misfits if _is_version(one) and not _is_left_alone(one)}
    if not old:
        return {}
    known: dict[str, FilesOfRelease] = {}
    for resource in project.resources:
        misfit = old.get((id(resource.at.document), resource.at.path))
        if misfit is not None and misfit.fault == "unknown kind" and resource.api_version not in _FIRST:
            if _is_role_of_openshift(resource):
                continue
            del old[_key(misfit.at)]
            misfit = None
        for path in _paths(resource.at):
            known.setdefault(path, FilesOfRelease(path)).add(resource, misfit)
    suited = {path for path, one in known.items() if one.are_of_one_release}
    found = {key: [path for path in _paths(one.at) if path in suited] for key, one in old.items()}
    return {key: known[paths[-1]] for key, paths in found.items() if paths}


def _is_role_of_openshift(resource: Resource) -> bool:
    """True for a role of `v1`: alone it is a mistake, and among old objects one of them."""
    return resource.api_version == "v1" and resource.kind in OPENSHIFT_ROLES


def _paths(at: Place) -> Iterator[str]:
    """Yields the file of an object, and the folders that it is in."""
    source = at.document.source
    yield source.name
    yield from folders_of(source)


def _is_version(misfit: Misfit) -> bool:
    return misfit.fault in ("not served", "unknown kind") and misfit.at.path[-1:] == ("apiVersion",)


def _is_left_alone(misfit: Misfit) -> bool:
    """True for the objects of a former release, and for patches that nothing uses."""
    source = misfit.at.document.source
    return is_unused_patch(source.name) or is_of_former_release(source)


def _key(at: Place) -> _Key:
    return id(at.document), at.path[:-1]


def _came(version: str, kind: str) -> tuple[int, ...]:
    return INTRODUCED.get((version, kind), INTRODUCED.get((version, ""), ()))


_newest: LastIndex[Project, tuple[int, ...]] = LastIndex(_find_newest)
_by_object: LastIndex[Project, dict[_Key, FilesOfRelease]] = LastIndex(_find)
