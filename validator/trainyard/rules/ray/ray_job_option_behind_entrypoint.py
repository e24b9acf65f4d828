"""An option of `ray job submit` stands behind `--`, so the script gets it and Ray does not.

The words behind `--` are the entrypoint. `ray job submit -- python train.py --working-dir .` uploads no folder, and the
driver fails because it cannot open `train.py`. `--entrypoint-num-gpus` there reserves no GPU.

The rule knows the options that scripts hardly have. It is silent if the option also stands before `--`.

Write the option before `--`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Command

_OPTIONS = frozenset(
    (
        "--working-dir", "--runtime-env", "--runtime-env-json", "--submission-id", "--metadata-json",
        "--entrypoint-num-cpus", "--entrypoint-num-gpus", "--entrypoint-memory", "--entrypoint-resources",
    )
)  # fmt: skip


@rule(
    code="RY042",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "docs.ray.io/en/latest/cluster/running-applications/job-submission/cli.html: ray job submit, warning",
        "github.com/ray-project/ray issue 34561",
    ),
    needs=("submit",),
)
def ray_job_option_behind_entrypoint(command: Command) -> Iterator[Problem]:
    """Report options of `ray job submit` among the words of the entrypoint."""
    words = command.words
    if command.program != "ray" or words[1:3] != ("job", "submit") or "--" not in words:
        return
    end = words.index("--")
    before = {word.partition("=")[0] for word in words[:end]}
    for index in range(end + 1, len(words)):
        name = words[index].partition("=")[0]
        if name in _OPTIONS and name not in before:
            message = f"{name} stands behind `--`: the script gets it, and `ray job submit` does not"
            yield Problem(command.word_at[index], message, "write it before `--`")
