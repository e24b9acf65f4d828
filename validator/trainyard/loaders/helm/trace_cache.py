"""Caches traces: the same chart with the same values has the same trace."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gotemplate.origin import Origin
from trainyard.cache_folder import cache_path, save_to_cache
from trainyard.loaders.helm.provenance import Trace
from trainyard.loaders.helm.release import ChartRelease
from trainyard.loaders.helm.rendering import chart_files, find_helm

# Changes with every change of a trace's content or format.
_FORMAT = 1


def cached_trace(release: ChartRelease, values: Mapping[str, Any], work: Callable[[], Trace]) -> Trace:
    """Returns the cached trace of a release with these values, or the one that `work` finds."""
    path = cache_path("provenance", f"{_digest(release, values)}.json")
    try:
        return _loaded(json.loads(Path(path).read_text("utf-8")))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        found = work()
    if found.whole:
        save_to_cache(path, json.dumps(_dumped(found)).encode())
    return found


def _digest(release: ChartRelease, values: Mapping[str, Any]) -> str:
    from hashlib import blake2b

    helm = Path(find_helm(release.helm)).stat()
    about = [_FORMAT, release.name, release.namespace, release.kube_version, helm.st_size, helm.st_mtime_ns, values]
    digest = blake2b(json.dumps(about, default=str).encode(), digest_size=16)
    for path in chart_files(release.chart):
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
