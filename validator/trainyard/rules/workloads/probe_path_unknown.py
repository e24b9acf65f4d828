"""A probe asks a model server for a path that it does not have, and gets 404 every time.

vLLM and SGLang answer `/health`, and have no `/healthz`, `/livez` or `/readyz` as parts of Kubernetes do. With such a
path a readiness probe keeps the pod out of its Service for ever, and a liveness or startup probe restarts the server
again and again, often before its model is loaded.

Write `/health`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.admission.pods import PROBES
from trainyard.analysis.launchers.model_servers import only_server, port
from trainyard.document.lookup import decimal, items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container

_SERVERS = ("vLLM", "SGLang")
# Paths of other programs, which neither of the servers has.
_OTHERS = frozenset((
    "healthz", "livez", "readyz", "ready", "live", "liveness", "readiness", "alive", "healthcheck", "health/live",
    "health/ready", "health/liveness", "health/readiness", "health/startup", "healthz/live", "healthz/ready",
    "v1/health", "v1/health/live", "v1/health/ready", "v2/health/live", "v2/health/ready", "api/health", "status",
))  # fmt: skip
# With one of these, other programs answer too, or there are no paths.
_ELSEWHERE = ("--middleware", "--root-path", "--headless", "--grpc", "--config")


@rule(
    code="WL035",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "vllm-project/vllm vllm/entrypoints/openai/api_server.py: health; issues 1245 and 1343",
        "sgl-project/sglang python/sglang/srt/entrypoints/http_server.py: health, health_generate",
        "github.com/llm-d/llm-d-inference-sim issue 45: restarts after HTTP 404",
    ),
    needs=PROBES,
)
def probe_path_unknown(container: Container) -> Iterator[Problem]:
    """Report paths of other programs."""
    start = only_server(container)
    if start is None or start.server.name not in _SERVERS or start.command.has(*_ELSEWHERE):
        return
    served = port(start)
    for probe in PROBES:
        request = mapping(container.tree, probe, "httpGet")
        path = text(request, "path")
        if path.strip("/").lower() in _OTHERS and served is not None and _number(container, request) == served:
            yield Problem(
                container.at.child(probe, "httpGet", "path"),
                f"{start.server.name} has no path `{path}`: it answers 404, and the probe fails every time",
                "write `/health`",
            )


def _number(container: Container, request: object) -> int | None:
    """Returns the port that a probe asks."""
    told = mapping(request).get("port")
    if isinstance(told, str) and not told.isdigit():
        named = (one for one in items(container.tree, "ports") if text(one, "name") == told)
        told = mapping(next(named, None)).get("containerPort")
    return decimal(str(told)) if told is not None else None
