"""Files that a pod's names may refer to: the ConfigMaps of the files, and scripts that lie beside the pod's file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from trainyard.document.document import Place, TextDocument
from trainyard.document.lookup import mapping
from trainyard.document.source import Source
from trainyard.model.run import Resource

Key = tuple[str, str]
Data = tuple[dict[str, Any], Place]
# Returns the script beside a file that a path in a container names.
FindScript = Callable[[str, str], Source | None]


class Neighbourhood:
    """The ConfigMaps of a project by name and place, and the scripts that were found beside its files.

    Folders of environments hold ConfigMaps of one name. An object refers to that of its own file, else to that of its
    folder or the nearest folder above, else to the only one that there is.
    """

    def __init__(self, config_maps: Iterable[Resource], find_script: FindScript | None = None) -> None:
        self._files: dict[tuple[Key, int], Data] = {}
        self._folders: dict[tuple[Key, str], Data] = {}
        self._only: dict[Key, Data | None] = {}
        self._find_script = find_script
        self._scripts: dict[tuple[str, str], TextDocument | None] = {}
        for resource in config_maps:
            key, source = (resource.namespace, resource.name), resource.at.document.source
            data = mapping(resource.tree, "data"), resource.at.child("data")
            known = self._only.get(key, data)
            # Of several in one file, the cluster ends up with the last one.
            is_same = known is not None and known[1].document.source is source
            self._only[key] = data if is_same or key not in self._only else None
            self._files[key, id(source)] = self._folders[key, _folder(source)] = data

    @property
    def scripts(self) -> tuple[TextDocument, ...]:
        """The scripts that were found so far."""
        found = {document.source.name: document for document in self._scripts.values() if document is not None}
        return tuple(found.values())

    def around(self, at: Place) -> Surroundings:
        """Returns what the names of an object refer to."""
        return Surroundings(self, at.document.source)

    def config_map(self, key: Key, source: Source) -> Data | None:
        """Returns the ConfigMap that a name in a file refers to; None if there is none, or it is not clear which."""
        if key not in self._only:
            return None
        found = self._only[key] or self._files.get((key, id(source)))
        folder = _folder(source)
        while found is None:
            found = self._folders.get((key, folder))
            if not folder:
                break
            folder = folder.rpartition("/")[0]
        return found

    def script(self, path: str, source: Source) -> TextDocument | None:
        """Returns the script beside a file that a path in a container names."""
        if self._find_script is None:
            return None
        asked = (source.name, path)
        if asked not in self._scripts:
            found = self._find_script(*asked)
            self._scripts[asked] = TextDocument(found) if found is not None else None
        return self._scripts[asked]


class Surroundings:
    """A neighbourhood as one of its files sees it."""

    def __init__(self, neighbourhood: Neighbourhood, source: Source) -> None:
        self._neighbourhood = neighbourhood
        self._source = source

    def get(self, key: Key) -> Data | None:
        """Returns the ConfigMap of a namespace and a name."""
        return self._neighbourhood.config_map(key, self._source)

    def script(self, path: str) -> TextDocument | None:
        """Returns the script that a path in a container names, if one lies beside the file."""
        return self._neighbourhood.script(path, self._source)


def _folder(source: Source) -> str:
    return source.name.replace("\\", "/").rpartition("/")[0]
