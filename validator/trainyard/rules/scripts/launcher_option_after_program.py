"""An option of torchrun stands after the training script, so the script gets it and torchrun does not.

torchrun passes everything after the name of the script to the script. `torchrun train.py --nproc-per-node=8` starts one
process, and `train.py` stops with "unrecognized arguments" or ignores the option.

The rule knows `--nproc-per-node`, `--nnodes`, `--node-rank`, `--standalone` and `--rdzv-*`. It reports one that
torchrun does not get before the script too, and ignores commands in which a second launcher follows.

Move the option before the script.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.torchrun import torchrun_commands
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.launchers import BY_NAME, launcher_in
from trainyard.model.run import Container

OPTIONS = frozenset(
    (
        "--nproc-per-node", "--nnodes", "--node-rank", "--standalone", "--rdzv-backend", "--rdzv-endpoint", "--rdzv-id",
        "--rdzv-conf",
    )
)  # fmt: skip


@rule(
    code="SC008",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch 2.15.0 torch/distributed/run.py: get_args_parser, training_script_args takes the remainder",
        "pytorch 2.15.0 torchrun on CPU, with --nproc-per-node after the script (seen)",
    ),
    needs=("torchrun", "torch.distributed"),
)
def launcher_option_after_program(container: Container) -> Iterator[Problem]:
    """Torchrun's options among those of the script."""
    launches = {launch.at: launch for launch in torchrun_commands(container)}
    for command in container.commands:
        start = launcher_in(command.words)
        launch = launches.get(command.at)
        if start is None or launch is None:
            continue
        behind = start.after + len(launch.words) - 1
        script = command.words[behind] if behind < len(command.words) else ""
        rest = command.words[behind + 1 :]
        if not script.endswith(".py") or any(word.rsplit("/", 1)[-1] in BY_NAME for word in rest):
            continue
        for word, at in zip(rest, command.word_at[behind + 1 :], strict=True):
            option = word.partition("=")[0].replace("_", "-")
            if option in OPTIONS and not launch.has(option):
                yield Problem(
                    at,
                    f"`{word.partition('=')[0]}` stands after `{script}`: the script gets it, and torchrun does not",
                    f"move it before `{script}`",
                )
