"""The liveness probe of a model server fails while the server still loads its model, so it restarts again and again.

Kubernetes restarts the container after `initialDelaySeconds` and `failureThreshold` periods without an answer. A server
with a model on several GPUs reads and places hundreds of gigabytes first, which takes minutes. A startup probe holds
the other probes back until it succeeds.

The rule applies to vLLM, SGLang, TGI, TensorRT-LLM and NIM, if the time is below three minutes with two GPUs or more,
or up to one minute with one. It also applies to other servers, up to one minute, if an option of the command names the
folder of a model.

Add a `startupProbe` with `failureThreshold` times `periodSeconds` above the longest load.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container

LONG, LONG_OF_ONE = 180, 60
# An option with the folder of a model, in the command of a server of any kind.
_MODEL = re.compile(r"\s--?[a-z_-]*model[a-z_-]*[= ]/\S")
_SERVER = re.compile(r"\bvllm\b|\bsglang\b|text-generation-(?:inference|launcher)|\btrtllm-serve\b|nvcr\.io/nim/")


@rule(
    code="WL011",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes: slow-starting containers",
        "github.com/kserve/kserve issue 5062",
    ),
    needs=("livenessProbe",),
)
def liveness_before_model(container: Container) -> Iterator[Problem]:
    """Report probes that restart a server while it loads."""
    probe = container.tree.get("livenessProbe")
    if not isinstance(probe, dict) or container.tree.get("startupProbe") is not None:
        return
    written = " ".join((container.image or "", *container.command, *container.args))
    if not (container.gpus and _SERVER.search(written)) and not _MODEL.search(written):
        return
    failures = _number(probe, "failureThreshold", 3)
    seconds = _number(probe, "initialDelaySeconds", 0) + _number(probe, "periodSeconds", 10) * failures
    if seconds < LONG if container.gpus > 1 else seconds <= LONG_OF_ONE:
        yield Problem(
            container.at.child("livenessProbe").key(),
            f"the liveness probe restarts the server {seconds} s after its start, while it still loads its model",
            "add a `startupProbe`, which holds the liveness probe back",
        )


def _number(probe: dict[str, Any], name: str, default: int) -> int:
    value = probe.get(name, default)
    return value if isinstance(value, int) else default
