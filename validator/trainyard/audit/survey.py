"""Which objects of a cluster are looked at, and what is said of those that cannot be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from validator.audit import objects, references
from validator.audit.cluster import FORBIDDEN, Cluster, ClusterError, RefusedError
from validator.audit.kinds import OWNERS, Kind, kinds
from validator.fields import items, text
from validator.files import File
from validator.source import Source

PAGE = 250
MISSING, GONE = 404, 410
CONFIG_MAP = Kind("", "v1", "ConfigMap")
NETWORK = Kind("k8s.cni.cncf.io", "v1", "NetworkAttachmentDefinition")

Tree = dict[str, Any]


class Api(NamedTuple):
    """A kind as a server has it: `plural` is its name in URLs and in RBAC rules."""

    kind: Kind
    plural: str
    namespaced: bool

    def path(self, namespace: str) -> str:
        """Where its objects are; all of them without a namespace."""
        return f"{self.kind.path}{f'/namespaces/{namespace}' if namespace else ''}/{self.plural}"

    @property
    def resource(self) -> str:
        """As kubectl writes it."""
        return f"{self.plural}.{self.kind.group}" if self.kind.group else self.plural


class Survey:
    """Asks for the objects, and takes notes of what is passed over."""

    def __init__(self, cluster: Cluster, namespaces: Sequence[str] = ()) -> None:
        self._cluster = cluster
        self._namespaces = tuple(dict.fromkeys(namespaces))
        self.notes: list[str] = []

    def files(self) -> list[File]:
        """Every object as a file, and an empty one for each place that has none. Raises `ClusterError`."""
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
        present = {name for _, name in known}
        absent = dict.fromkeys(kind.name for kind in kinds() if kind.name not in present)
        if absent:
            self.notes.append(f"the cluster does not have {', '.join(absent)}")
        return list(known.values())

    def _served(self, kind: Kind) -> list[Any]:
        try:
            return items(self._cluster.get(kind.path), "resources")
        except RefusedError as error:
            if error.status == FORBIDDEN:
                # Whoever is logged in may see this, by default.
                raise ClusterError(f"{self._cluster.address} does not tell this user what it has: {error}") from error
            if error.status != MISSING:
                self.notes.append(f"{kind.api_version} is skipped: {error}")
            return []

    def _listed(self, api: Api) -> Iterator[Tree]:
        for namespace in self._namespaces if api.namespaced and self._namespaces else ("",):
            try:
                for tree in self._pages(api.path(namespace)):
                    yield _typed(tree, api.kind)
            except RefusedError as error:
                self._refused("list", api, namespace, error)

    def _pages(self, path: str) -> Iterator[Tree]:
        token = ""
        while True:
            more = {"continue": token} if token else {}
            try:
                page = self._cluster.get(path, limit=PAGE, **more)
            except RefusedError as error:
                # The state that is being listed is too old by now; the server offers to go on from a newer one.
                if error.status != GONE or not text(error.body, "metadata", "continue"):
                    raise
                page = error.body
            yield from (tree for tree in items(page, "items") if isinstance(tree, dict))
            token = text(page, "metadata", "continue")
            if not token:
                return

    def _named(self, api: Api, names: Iterable[references.Name]) -> Iterator[Tree]:
        closed: set[str] = set()
        for namespace, name in names:
            if namespace in closed:
                continue
            try:
                yield _typed(self._cluster.get(f"{api.path(namespace)}/{name}"), api.kind)
            except RefusedError as error:
                # A reference may be optional, so that nothing needs to be there.
                if error.status != MISSING:
                    closed.add(namespace)
                    self._refused("get", api, namespace, error)

    def _refused(self, verb: str, api: Api, namespace: str, error: RefusedError) -> None:
        where = f" in namespace {namespace}" if namespace else " in all namespaces" if api.namespaced else ""
        reason = f"the user may not `{verb}` `{api.resource}`" if error.status == FORBIDDEN else str(error)
        self.notes.append(f"{api.kind.name} is skipped{where}: {reason}")


def owned(tree: Tree) -> bool:
    """Whether the object was made from another one that is judged itself, or that makes and drops such objects."""
    owners = (owner for owner in items(tree, "metadata", "ownerReferences") if isinstance(owner, dict))
    return any(owner.get("controller") is True and text(owner, "kind") in OWNERS for owner in owners)


def _is(entry: Any, kind: Kind) -> bool:
    # Parts of a kind, as `jobs/status`, have entries of their own.
    return text(entry, "kind") == kind.name and "/" not in text(entry, "name")


def _typed(tree: Tree, kind: Kind) -> Tree:
    # The items of a list do not say what they are.
    return {**tree, "apiVersion": kind.api_version, "kind": kind.name}
