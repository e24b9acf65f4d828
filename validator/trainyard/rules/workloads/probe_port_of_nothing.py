"""A probe asks a port at which the model server does not listen, so it fails every time.

A readiness probe at a wrong port keeps the pod out of its Service, and a liveness or startup probe restarts the server
again and again. vLLM listens at port 8000 and SGLang at 30000 unless `--port` says otherwise. `containerPort` is only a
note, and changes neither.

The rule looks at pods with this one container, whose commands name the port of the probe nowhere.

Write the port of the server into the probe, or start the server with `--port`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.admission.pods import PROBES
from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.launchers.model_servers import only_server, port
from trainyard.document.lookup import items, mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container


@rule(
    code="WL014",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "vllm-project/vllm v0.11 entrypoints/openai/cli_args.py: port; sgl-project/sglang v0.5 server_args.py: port",
        "github.com/llm-d/llm-d-benchmark issue 1435",
    ),
    needs=("vllm", "sglang"),
)
def probe_port_of_nothing(container: Container, context: Context) -> Iterator[Problem]:
    """Report probes at a port that the server does not have."""
    pod = context.pod
    if pod is None or len(pod.containers) != 1 or container not in pod.containers or not has_all_pods(context.run):
        return
    # A sidecar may have the port.
    if container.tree.keys().isdisjoint(PROBES) or any("restartPolicy" in one.tree for one in pod.init_containers):
        return
    start = only_server(container)
    own = port(start) if start is not None else None
    if start is None or own is None:
        return
    names = {one.get("name"): one.get("containerPort") for one in map(mapping, items(container.tree, "ports"))}
    for probe in PROBES:
        for action in ("httpGet", "tcpSocket"):
            asked = mapping(container.tree, probe, action).get("port")
            number = names.get(asked) if isinstance(asked, str) else asked
            if isinstance(number, int) and number != own and not _is_named(number, container):
                yield Problem(
                    container.at.child(probe, action, "port"),
                    f"{start.server.name} listens at port {own}, and nothing at {number}: the probe fails every time",
                    f"write {own}, or start the server with `--port {number}`",
                )


def _is_named(number: int, container: Container) -> bool:
    """True if a command or a variable has this number: another process may listen there."""
    word = re.compile(rf"(?<!\d){number}(?!\d)")
    texts = (*container.command, *container.args, *(one.text for one in container.scripts))
    return any(map(word.search, (*texts, *(one.value or "" for one in container.settings))))
