"""`ray start` is told another number of GPUs than its container has.

Ray believes `--num-gpus`. With a higher number it places tasks and actors on GPUs that are not there, and these fail
when they choose their device. With a lower number the other GPUs are idle. Scripts that were written for machines with
eight GPUs fail this way.

Remove `--num-gpus`: Ray counts the GPUs that it sees.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import decimal
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Command


@rule(
    code="RY019",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "ray 2.52 python/ray/scripts/scripts.py: start, --num-gpus overrides the detected number",
        "github.com/aws-samples/aws-do-eks pull 55",
    ),
    needs=("num-gpus",),
)
def ray_start_gpus_mismatch(command: Command, context: Context) -> Iterator[Problem]:
    """Report a number of GPUs that the container does not have."""
    container = context.container
    if command.program != "ray" or "start" not in command.words[:2] or container is None or not container.gpus:
        return
    found = command.option_at("--num-gpus")
    told = decimal(found[0]) if found is not None else None
    if found is None or not told or told == container.gpus or any("mig-" in name for name in container.limits):
        return
    effect = "tasks on the others fail" if told > container.gpus else "the others are idle"
    message = f"Ray is told {told} GPUs, but {container.name} has {container.gpus}: {effect}"
    yield Problem(found[1], message, "remove --num-gpus: Ray counts the GPUs of the container")
