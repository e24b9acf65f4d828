"""The launcher gets no training script, or the name of an interpreter in its place, so it ends at once.

torchrun, `deepspeed` and `accelerate launch` start their script with Python themselves. `torchrun python train.py` runs
`python python train.py`: "can't open file 'python'". Without a script, they end with "the following arguments are
required". torchrun is a program and no module: `python -m torchrun` ends with "No module named torchrun".

The rule leaves out TrainJobs and their runtimes, whose arguments come together in the cluster, and pods of a controller
that is not known.

Remove `python`, or add `--no-python`. Write the script behind the options, and `python -m torch.distributed.run`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.launchers.launcher_options import Start, is_option, starts
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.model.run import Container

_INTERPRETERS = ("python", "python3", "bash", "sh")
_HELP = ("-h", "--help", "--version")


@rule(
    code="SC026",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "pytorch 2.15.0 torch/distributed/run.py: training_script, config_from_args; setup.py: entry point torchrun",
        "deepspeedai/DeepSpeed 0.19.8 launcher/runner.py: user_script; huggingface/accelerate 1.15.0 launch.py",
    ),
    needs=("torchrun", "torch.distributed", "deepspeed", "accelerate"),
)
def launcher_without_program(container: Container, context: Context) -> Iterator[Problem]:
    """Report starts without a script."""
    run = context.run
    if run is None or run.kind in ("TrainJob", *RUNTIMES) or not has_all_pods(run):
        return
    for command in container.commands:
        if command.program.startswith("python") and command.words[1:3] == ("-m", "torchrun"):
            yield Problem(
                command.word_at[2],
                "torchrun is a program and no module: Python finds no module `torchrun`",
                "write `torchrun`, or `python -m torch.distributed.run`",
            )
    # Another rule reports options that a line break cuts off, and the script behind them.
    is_cut = any(one.words[:1] and one.words[0].startswith("-") for one in container.commands)
    for start in starts(container):
        if start.program is not None or not is_cut:
            yield from _of_start(start)


def _of_start(start: Start) -> Iterator[Problem]:
    name = start.launcher.name.rsplit(".", 1)[-1] if start.launcher.name == "deepspeed" else start.launcher.name
    if start.has(*_HELP):
        return
    if start.program is None:
        if start.options and not is_option(start.options[-1][0], start.launcher):
            return
        if start.options or start.launcher.name in ("torchrun", "deepspeed"):
            yield Problem(
                start.command.word_at[0], f"{name} gets no training script: it stops", "write the script last"
            )
        return
    word = start.command.words[start.program]
    if word.rsplit("/", 1)[-1] in _INTERPRETERS and not start.has("--no-python", "-m", "--module"):
        yield Problem(
            start.place(start.program),
            f"{name} starts `{word}` with Python, as a script: there is no such file",
            f"remove `{word}`, or add `--no_python`",
        )
