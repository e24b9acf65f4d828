"""The options have dashes, and torchrun of this release knows them with underscores alone: it stops at once.

PyTorch 2.0 added the names with dashes. Before, `torchrun --nproc-per-node=8` ends with "unrecognized arguments".

The release comes from the image, or from `--torch`.

Write `--nproc_per_node`, which every release takes.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis import versions
from trainyard.analysis.launchers.torchrun import torchrun_commands
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.launchers import BY_NAME
from trainyard.model.run import Container

SINCE = (2, 0)
OPTIONS = frozenset(
    (
        "--nproc-per-node", "--node-rank", "--rdzv-backend", "--rdzv-endpoint", "--rdzv-id", "--rdzv-conf",
        "--max-restarts", "--monitor-interval", "--start-method", "--no-python", "--run-path", "--log-dir",
        "--master-addr", "--master-port",
    )
)  # fmt: skip


@rule(
    code="TD029",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch v1.13.1 torch/distributed/run.py: get_args_parser; v2.0.0 accepts dashes (pull 94505)",
        "github.com/huggingface/pytorch-image-models issue 1742",
    ),
    needs=tuple(BY_NAME),
)
def torchrun_dashes_too_new(container: Container, context: Context) -> Iterator[Problem]:
    """Report options with dashes for PyTorch 1."""
    release = versions.torch(context, container)
    if release.version is None or tuple(release.version[:2]) >= SINCE:
        return
    for launch in torchrun_commands(container):
        found = ((word.partition("=")[0], at) for word, at in zip(launch.words, launch.word_at, strict=True))
        name, at = next((one for one in found if one[0] in OPTIONS), ("", launch.at))
        if name:
            yield Problem(
                at,
                f"torchrun of this release does not know `{name}`: it stops with `unrecognized arguments`",
                f"write `--{name[2:].replace('-', '_')}`",
                rests_on=release,
            )
