"""Traces that were found before: a chart and values that are the same have the same trace."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from validator.cache_folder import keep, place
from validator.roads.charts import Release
from validator.roads.origins import Origin
from validator.roads.provenance import Trace
from validator.roads.rendering import files, find_helm

# Changes whenever a trace would come out differently, or be written differently.
_FORMAT = 1


def get(release: Release, values: Mapping[str, Any], work: Callable[[], Trace]) -> Trace:
    """The trace of a release with these values: the one that is kept, or the one that `work` finds."""
    path = place("provenance", f"{_digest(release, values)}.json")
    try:
        return _loaded(json.loads(Path(path).read_text("utf-8")))
    except (OSError, ValueError, TypeError, KeyError):
        found = work()
    keep(path, json.dumps(_dumped(found)).encode())
    return found


def _digest(release: Release, values: Mapping[str, Any]) -> str:
    from hashlib import blake2b

    helm = Path(find_helm(release.helm)).stat()
    about = [_FORMAT, release.name, release.namespace, release.kube_version, helm.st_size, helm.st_mtime_ns, values]
    digest = blake2b(json.dumps(about, default=str).encode(), digest_size=16)
    for path in files(release.chart):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(release.chart)}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _dumped(trace: Trace) -> Any:
    return {
        "origins": [[[path, *origin] for path, origin in found.items()] for found in trace.origins],
        "inert": trace.inert,
    }


def _loaded(data: Any) -> Trace:
    return Trace(
        tuple(
            {tuple(path): Origin(tuple(value), *flags) for path, value, *flags in found} for found in data["origins"]
        ),
        tuple(tuple(path) for path in data["inert"]),
    )
