"""The TrainJob has arguments, but neither it nor its runtime has a command, so nothing starts the script.

`mlPolicy.torch` sets the variables of torchrun and does not start it. Without a `command`, the arguments go to the
entry point of the image. Those of PyTorch and NVIDIA run their first argument as a program, and a script is none:
"train.py: Permission denied" or "executable file not found".

The rule looks at these images, and at arguments that begin with a script of Python or with an option.

Write `command: [torchrun]` in the TrainJob, or in the container `node` of the runtime.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import items, mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Role
from trainyard.startup import pattern

# Their entry points run the first argument as a program.
_IMAGE = pattern(r"(?:^|/)(?:pytorch/pytorch|nvidia/pytorch)(?:[:@]|$)")


@rule(
    code="KF053",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubeflow/trainer v2.3.0 pkg/runtime/framework/plugins/torch/torch.go: EnforceMLPolicy sets variables alone",
        "github.com/kubeflow/trainer issue 3492",
    ),
    needs=("TrainJob",),
)
def trainjob_without_program(role: Role, context: Context) -> Iterator[Problem]:
    """Report arguments without a command."""
    run, container = context.run, role.container
    if run is None or run.kind != "TrainJob" or run.runtime is None or container is None or not role.trains:
        return
    trainer = mapping(run.spec, "trainer")
    first = next(iter(items(trainer, "args")), "")
    if (
        not _IMAGE.search(container.image or "")
        or container.command
        or items(trainer, "command")
        or "torch" not in mapping(run.runtime, "mlPolicy")
    ):
        return
    if isinstance(first, str) and (first.endswith(".py") or first.startswith("--")):
        yield Problem(
            run.at.child("spec", "trainer", "args").key(),
            f"neither the TrainJob nor its runtime has a `command`: the image gets `{first}` and starts no torchrun",
            "write `command: [torchrun]` here, or in the container `node` of the runtime",
        )
