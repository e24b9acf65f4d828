"""Lists the objects of a cluster, and notes those that cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from trainyard.commands.audit import objects, references
from trainyard.commands.audit.cluster import FORBIDDEN, MISSING, Cluster, ClusterError, RequestRefusedError
from trainyard.commands.audit.kinds import OWNERS, Kind, kinds
from trainyard.document.files import File
from trainyard.document.lookup import items, text
from trainyard.document.source import Source

CONFIG_MAP = Kind("", "v1", "ConfigMap")
NETWORK = Kind("k8s.cni.cncf.io", "v1", "NetworkAttachmentDefinition")

Tree = dict[str, Any]


class Api(NamedTuple):
    """A kind as a server offers it: `plural` is its name in URLs and in RBAC rules."""

    kind: Kind
    plural: str
    namespaced: bool

    def path(self, namespace: str) -> str:
        """Returns the URL path of its objects; of all namespaces without a namespace."""
        return f"{self.kind.path}{f'/namespaces/{namespace}' if namespace else ''}/{self.plural}"

    @property
    def resource(self) -> str:
        """The resource name in kubectl's form."""
        return f"{self.plural}.{self.kind.group}" if self.kind.group else self.plural


class Survey:
    """Lists the objects, and collects notes about everything that is skipped."""

    def __init__(self, cluster: Cluster, namespaces: Sequence[str] = ()) -> None:
        self._cluster = cluster
        self._namespaces = tuple(dict.fromkeys(namespaces))
        self.notes: list[str] = []

    def files(self) -> list[File]:
        """Returns every object as a file, and an empty file for each place without objects. Raises `ClusterError`."""
        found = self._objects()
        full = {text(tree, "metadata", "namespace") for tree in found}
        empty = [f"namespace/{name}" for name in self._namespaces if name not in full]
        if not found and not empty:
            empty = ["cluster"]
        return [*map(objects.file, found), *(File(Source(name, "")) for name in empty)]

    def _objects(self) -> list[Tree]:
        apis = self._apis()
        found = [tree for api in apis for tree in self._listed(api) if not owned(tree)]
        wanted = references.config_maps(found)
        found += self._named(Api(CONFIG_MAP, "configmaps", namespaced=True), wanted)
        networks = next((api for api in apis if api.kind == NETWORK), None)
        if networks is not None and self._namespaces:
            elsewhere = [name for name in references.networks(found) if name[0] not in self._namespaces]
            found += self._named(networks, elsewhere)
        return found

    def _apis(self) -> list[Api]:
        known: dict[tuple[str, str], Api] = {}
        served: dict[str, list[Any]] = {}
        for kind in kinds():
            if kind.path not in served:
                served[kind.path] = self._served(kind)
            entry = next((entry for entry in served[kind.path] if _is(entry, kind)), None)
            if entry is not None:
                api = Api(kind, text(entry, "name"), entry.get("namespaced") is True)
                known.setdefault((kind.group, kind.name), api)
        present = {api.kind.title for api in known.values()}
        absent = dict.fromkeys(kind.title for kind in kinds() if kind.title not in present)
        if absent:
            self.notes.append(f"the cluster does not have {', '.join(absent)}")
        return list(known.values())

    def _served(self, kind: Kind) -> list[Any]:
        try:
            return items(self._cluster.get(kind.path), "resources")
        except RequestRefusedError as error:
            if error.status == FORBIDDEN:
                # By default, every authenticated user may read this.
                raise ClusterError(f"{self._cluster.address} does not list its APIs for this user: {error}") from error
            if error.status != MISSING:
                self.notes.append(f"{kind.api_version} is skipped: {error}")
            return []

    def _listed(self, api: Api) -> Iterator[Tree]:
        for namespace in self._namespaces if api.namespaced and self._namespaces else ("",):
            try:
                for tree in self._cluster.objects(api.path(namespace)):
                    yield _typed(tree, api.kind)
            except RequestRefusedError as error:
                self._refused("list", api, namespace, error)

    def _named(self, api: Api, names: Iterable[references.Name]) -> Iterator[Tree]:
        closed: set[str] = set()
        for namespace, name in names:
            if namespace in closed:
                continue
            try:
                yield _typed(self._cluster.get(f"{api.path(namespace)}/{name}"), api.kind)
            except RequestRefusedError as error:
                # A reference may be optional, so a missing object is not an error.
                if error.status != MISSING:
                    closed.add(namespace)
                    self._refused("get", api, namespace, error)

    def _refused(self, verb: str, api: Api, namespace: str, error: RequestRefusedError) -> None:
        where = f" in namespace {namespace}" if namespace else " in all namespaces" if api.namespaced else ""
        reason = f"the user may not `{verb}` `{api.resource}`" if error.status == FORBIDDEN else str(error)
        self.notes.append(f"{api.kind.title} is skipped{where}: {reason}")


def owned(tree: Tree) -> bool:
    """True if the object is created by another one that is linted itself, or that creates and deletes such objects."""
    owners = (owner for owner in items(tree, "metadata", "ownerReferences") if isinstance(owner, dict))
    return any(owner.get("controller") is True and text(owner, "kind") in OWNERS for owner in owners)


def _is(entry: Any, kind: Kind) -> bool:
    # Subresources such as `jobs/status` have entries of their own.
    return text(entry, "kind") == kind.name and "/" not in text(entry, "name")


def _typed(tree: Tree, kind: Kind) -> Tree:
    # The items of a list have no kind of their own.
    return {**tree, "apiVersion": kind.api_version, "kind": kind.name}
