"""Objects of a live cluster by name, and the APIs that it serves."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from trainyard.commands.audit.cluster import FORBIDDEN, MISSING, Cluster, ClusterError, RequestRefusedError
from trainyard.document.lookup import items, text

Tree = dict[str, Any]


class Live(Collection[str]):
    """A cluster as templates ask for it: `v1`, `apps/v1` or `apps/v1/Deployment` is in it if the cluster serves that.

    `notes` tells what the user may not read.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._kinds: dict[str, dict[str, tuple[str, bool]]] = {}
        self.notes: list[str] = []
        self.read = 0

    def __contains__(self, name: object) -> bool:
        version, _, kind = str(name).rpartition("/")
        return bool(self.kinds(str(name))) or (bool(version) and kind in self.kinds(version))

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)

    def kinds(self, api_version: str) -> dict[str, tuple[str, bool]]:
        """Returns the plural of each kind of an API version, and true if it is namespaced. Raises `ClusterError`."""
        if api_version not in self._kinds:
            self._kinds[api_version] = self._listed(api_version)
        return self._kinds[api_version]

    def _listed(self, api_version: str) -> dict[str, tuple[str, bool]]:
        if api_version.count("/") > 1:
            return {}
        try:
            found = items(self._cluster.get(_path(api_version)), "resources")
        except RequestRefusedError as error:
            if error.status == FORBIDDEN:
                raise ClusterError(f"{self._cluster.address} does not list its APIs for this user: {error}") from error
            return {}
        entries = (entry for entry in found if "/" not in text(entry, "name"))
        return {text(entry, "kind"): (text(entry, "name"), entry.get("namespaced") is True) for entry in entries}

    def get(self, api_version: str, kind: str, name: str, namespace: str = "") -> Tree | None:
        """Returns an object, `{}` if the user may not read it, or None if it is missing. Raises `ClusterError`."""
        plural, namespaced = self.kinds(api_version)[kind]
        inside = f"/namespaces/{namespace}" if namespaced else ""
        try:
            found = self._cluster.get(f"{_path(api_version)}{inside}/{plural}/{name}")
        except RequestRefusedError as error:
            if error.status == MISSING:
                return None
            self._refuse("get", plural, inside, error)
            return {}
        self.read += 1
        return found

    def all(self, api_version: str, kind: str) -> list[Tree] | None:
        """Returns the objects of a kind in all namespaces, or None if the user may not list them."""
        plural, _ = self.kinds(api_version)[kind]
        try:
            found = list(self._cluster.objects(f"{_path(api_version)}/{plural}"))
        except RequestRefusedError as error:
            self._refuse("list", plural, "", error)
            return None
        self.read += len(found)
        return found

    def _refuse(self, verb: str, plural: str, inside: str, error: RequestRefusedError) -> None:
        where = f" in namespace {inside.rpartition('/')[2]}" if inside else ""
        reason = f"the user may not `{verb}` them" if error.status == FORBIDDEN else str(error)
        note = f"{plural} are not checked{where}: {reason}"
        if note not in self.notes:
            self.notes.append(note)


def _path(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
