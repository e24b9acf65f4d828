"""`torch.distributed.launch` passes `--local-rank` to the script, under a name that most scripts do not know.

Until PyTorch 1.13 the option was `--local_rank`. Since 2.0 it is `--local-rank`, and a script with the old name stops
with "unrecognized arguments: --local-rank=0". A script without either always stops. torchrun passes the rank in
`LOCAL_RANK` alone, as `--use-env` does. `torch.distributed.launch` is deprecated.

The rule applies from PyTorch 2.0 on, if the image or `--torch` tells the release.

Start the script with `torchrun`, and let it read `os.environ["LOCAL_RANK"]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis import versions
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.launchers import TORCHRUN_MODULES
from trainyard.model.run import Container

_, LAUNCH = TORCHRUN_MODULES


@rule(
    code="TD030",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch v2.0.0 torch/distributed/launch.py: --use-env, --local-rank; torch/distributed/run.py",
        "github.com/OFA-Sys/Chinese-CLIP issue 74",
    ),
    needs=(LAUNCH,),
)
def launch_passes_local_rank(container: Container, context: Context) -> Iterator[Problem]:
    """Report the old launcher with a new release."""
    for command in container.commands:
        if LAUNCH not in command.words or command.has("--use-env"):
            continue
        release = versions.torch(context, container)
        if release.version is not None and tuple(release.version[:2]) >= (2, 0):
            yield Problem(
                command.word_at[command.words.index(LAUNCH)],
                "torch.distributed.launch passes `--local-rank` to the script, which stops if it does not know it",
                "start the script with `torchrun`",
                rests_on=release,
            )
