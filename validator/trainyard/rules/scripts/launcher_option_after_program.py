"""An option of a launcher stands after the training script, so the script gets it and the launcher does not.

torchrun, `deepspeed` and `accelerate launch` pass everything after the name of the script to the script. `torchrun
train.py --nproc-per-node=8` starts one process, and `train.py` stops with "unrecognized arguments" or ignores the
option. `deepspeed train.py --hostfile=hosts` uses the GPUs of its own pod alone.

The rule knows those options that scripts hardly have: `--nproc-per-node`, `--nnodes`, `--node-rank`, `--standalone`
and `--rdzv-*` of torchrun, `--hostfile`, `--no-ssh`, `--master-port` and `--master-addr` of DeepSpeed, and
`--num-machines`, `--machine-rank` and `--main-process-*` of Accelerate. It reports one that the launcher does not get
before the script too, and ignores commands in which a second launcher follows.

Move the option before the script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trainyard.analysis.launchers.launcher_options import Start, starts
from trainyard.analysis.launchers.torchrun import torchrun_commands
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.launchers import BY_NAME, launcher_in
from trainyard.model.run import Command, Container

OPTIONS = frozenset(
    (
        "--nproc-per-node", "--nnodes", "--node-rank", "--standalone", "--rdzv-backend", "--rdzv-endpoint", "--rdzv-id",
        "--rdzv-conf",
    )
)  # fmt: skip
DEEPSPEED = frozenset(
    (
        "--hostfile", "--launcher-args", "--force-multi", "--no-ssh", "--no-ssh-check", "--master-port",
        "--master-addr",
    )
)  # fmt: skip
ACCELERATE = frozenset(("--num-machines", "--machine-rank", "--main-process-ip", "--main-process-port"))


@rule(
    code="SC008",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch 2.15.0 torch/distributed/run.py: get_args_parser, training_script_args takes the remainder",
        "pytorch 2.15.0 torchrun on CPU, with --nproc-per-node after the script (seen)",
        "deepspeedai/DeepSpeed 0.19.8 launcher/runner.py: user_args takes the remainder; issues 662, 1656",
        "huggingface/accelerate 1.15.0 commands/launch.py: training_script_args takes the remainder",
    ),
    needs=("torchrun", "torch.distributed", "deepspeed", "accelerate"),
)
def launcher_option_after_program(container: Container) -> Iterator[Problem]:
    """A launcher's options among those of the script."""
    launches = {launch.at: launch for launch in torchrun_commands(container)}
    for command in container.commands:
        start = launcher_in(command.words)
        launch = launches.get(command.at)
        if start is not None and launch is not None:
            behind = start.after + len(launch.words) - 1
            yield from _misplaced(command, behind, "torchrun", OPTIONS, launch.has)
    for other in starts(container):
        options = _own(other)
        if options and other.program is not None:
            yield from _misplaced(other.command, other.program, other.launcher.name, options, other.has)


def _own(start: Start) -> frozenset[str]:
    name = start.launcher.name
    return DEEPSPEED if name.startswith("deepspeed") else ACCELERATE if name.startswith("accelerate") else frozenset()


def _misplaced(
    command: Command, behind: int, launcher: str, options: frozenset[str], has: Callable[[str], bool]
) -> Iterator[Problem]:
    """Reports those of the options that stand behind the script, whose index is `behind`."""
    script = command.words[behind] if behind < len(command.words) else ""
    rest = command.words[behind + 1 :]
    if not script.endswith(".py") or any(word.rsplit("/", 1)[-1] in BY_NAME for word in rest):
        return
    for word, at in zip(rest, command.word_at[behind + 1 :], strict=True):
        name = word.partition("=")[0]
        option = name.replace("_", "-")
        if option in options and not has(option):
            yield Problem(
                at,
                f"`{name}` stands after `{script}`: the script gets it, and {launcher} does not",
                f"move it before `{script}`",
            )
