"""The model server runs as a user without a home folder, so it cannot write its caches.

The image of vLLM has users for root alone. Another user has the home `/`, which belongs to root: vLLM, Triton and the
libraries of Hugging Face write to `/.cache`, `/.triton` and `/.config` there, and the server ends with "Permission
denied". Triton's folder is needed even if all models are on a volume.

The rule applies to `runAsUser` other than 0 with the image `vllm/vllm-openai`, without the variable `HOME`.

Set `HOME` to a writable volume, such as an `emptyDir`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.mounts import mount_of
from trainyard.analysis.pods.users import user_of
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container

IMAGE = "vllm/vllm-openai"
# Folders in the home, and the variables that move them.
FOLDERS = (("/.triton", ("TRITON_CACHE_DIR", "TRITON_HOME")), ("/.cache", ("XDG_CACHE_HOME", "VLLM_CACHE_ROOT")))


@rule(
    code="RF031",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "github.com/llm-d/llm-d issue 1430 and pull 1450: /.triton ends the engine, /.config is reported",
        "github.com/vllm-project/vllm issue 10185: HOME=/tmp mends it; github.com/huggingface/inference-benchmarker "
        "pull 47",
    ),
    needs=(IMAGE,),
)
def home_not_writable(container: Container, context: Context) -> Iterator[Problem]:
    """Report servers of a user without a home."""
    pod = context.pod
    # The registry may be a mirror.
    if pod is None or IMAGE not in (container.image or "") or container.setting("HOME") is not None:
        return
    user, at = user_of(container, pod)
    if not user:
        return
    folder = next(
        (
            path
            for path, names in FOLDERS
            if mount_of(container, path) is None and not any(map(container.setting, names))
        ),
        None,
    )
    if folder is not None:
        yield Problem(
            at,
            f"user {user} has no home in the image of vLLM: `{folder}` cannot be written, and the server stops",
            "set `HOME` to a writable volume, such as an `emptyDir` at `/home/vllm`",
        )
