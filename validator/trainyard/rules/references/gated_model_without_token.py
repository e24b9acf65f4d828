"""The server loads a gated model of Hugging Face, and nothing gives it a token, so the download ends with 401.

Models such as those of `meta-llama` and `google/gemma` ask for a licence. Without the token of an account that accepted
it, the server ends with `GatedRepoError` and restarts. A name such as `meta-llama/Llama-3.1-8B-Instruct` is that of the
hub; a path such as `/models/llama` is not.

The rule applies to vLLM and SGLang in containers without `HF_TOKEN`, `HUGGING_FACE_HUB_TOKEN`, `HF_TOKEN_PATH`, another
`HF_ENDPOINT`, variables from files, or a volume that could hold the token or the model.

The first such server of a file is reported: one Secret serves all.

Set `HF_TOKEN` from a Secret.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.model_servers import ServerStart, server_starts
from trainyard.analysis.pods.caches import is_offline
from trainyard.document.document import Place
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Container, Pod, Project
from trainyard.startup import NamedTuple

# Owners and beginnings of names on the hub whose models are gated.
GATED = (
    "meta-llama/Llama-2-", "meta-llama/Llama-3", "meta-llama/Llama-4", "meta-llama/Meta-Llama-3",
    "meta-llama/CodeLlama", "google/gemma-2b", "google/gemma-7b", "google/gemma-2-", "google/gemma-3-",
)  # fmt: skip
TOKENS = (
    "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACE_HUB_TOKEN", "HF_TOKEN_PATH", "HF_ENDPOINT",
    "VLLM_USE_MODELSCOPE",
)  # fmt: skip
# Volumes of these kinds hold neither tokens nor models.
_EMPTY = ("emptyDir", "downwardAPI")


class _Server(NamedTuple):
    """A server that nothing gives a token; `at` is where it names its gated model."""

    container: Container
    model: str
    at: Place


@rule(
    code="RF036",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "huggingface/huggingface_hub src/huggingface_hub/utils/_auth.py: get_token; errors.py: GatedRepoError",
        "github.com/kubernetes-sigs/lws pull 583, github.com/kserve/kserve issue 4400",
    ),
    needs=("meta-llama/", "google/gemma"),
)
def gated_model_without_token(container: Container, context: Context) -> Iterator[Problem]:
    """Report servers that may not download their model, the first one of each file."""
    first = _first_servers.of(context.project).get(container.at.document.source.name)
    if first is not None and first.container is container:
        yield Problem(
            first.at,
            f"`{first.model}` is gated, and nothing gives the container a token: the download ends with 401",
            "set HF_TOKEN from a Secret",
        )


def _find_first_servers(project: Project) -> dict[str, _Server]:
    found: dict[str, _Server] = {}
    for run in project.runs:
        for role in run.roles:
            for container in (*role.pod.containers, *role.pod.init_containers):
                file = container.at.document.source.name
                server = _server_without_token(container, role.pod) if file not in found else None
                if server is not None:
                    found[file] = server
    return found


def _server_without_token(container: Container, pod: Pod) -> _Server | None:
    if not container.image or "initContainers" in pod.tree:
        return None
    starts = server_starts(container)
    if not starts or container.tree.get("envFrom") or is_offline(container) or _holds_files(pod, container):
        return None
    written = " ".join(script.text for script in container.scripts)
    if any(container.setting(name) is not None or name in written for name in TOKENS) or "hf auth" in written:
        return None
    if "VLLM_USE_MODELSCOPE" in str(container.tree.get("env")):
        return None
    models = (model for model in map(_model, starts) if model is not None and model[0].startswith(GATED))
    return next((_Server(container, *model) for model in models), None)


def _model(start: ServerStart) -> tuple[str, Place] | None:
    told = start.command.option_at("--model", "--model-path")
    if told is not None:
        return told
    words = start.command.words
    if words[1:2] == ("serve",) and len(words) > 2 and not words[2].startswith("-"):
        return words[2], start.command.word_at[2]
    return None


def _holds_files(pod: Pod, container: Container) -> bool:
    for mount in container.mounts:
        volume = pod.volume(mount.volume)
        if mount.mount_path != "/dev/shm" and (volume is None or volume.kind not in _EMPTY):  # noqa: S108
            return True
    return False


_first_servers: LastIndex[Project, dict[str, _Server]] = LastIndex(_find_first_servers)
