"""An option of torchrun stands after the training script, so the script gets it and torchrun does not.

torchrun takes the options before the script, and passes all words after it to the script. `--rdzv-endpoint` there
leaves the rendezvous at its default, and `--nproc-per-node` starts one process. The script fails with `unrecognized
arguments`, or ignores them, and the run uses one GPU or the wrong port.

Move the option before the script.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.torchrun import torchrun_scripts
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container

# Options that only torchrun has.
OPTIONS = ("--rdzv-backend", "--rdzv-endpoint", "--rdzv-id", "--rdzv-conf", "--nproc-per-node")


@rule(
    code="TD019",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch 2.15.0 torch/distributed/run.py: training_script_args, REMAINDER",
        "github.com/meta-llama/llama-cookbook issue 186",
    ),
)
def torchrun_option_after_script(container: Container) -> Iterator[Problem]:
    """Options that the script receives in place of torchrun."""
    for launch, script in torchrun_scripts(container):
        for index, word in enumerate(script.words):
            name = word.partition("=")[0].replace("_", "-")
            if name in OPTIONS and index > 0 and not launch.has(name):
                yield Problem(
                    script.word_at[index],
                    f"`{word.partition('=')[0]}` stands after the script {script.words[0]}: torchrun does not read it",
                    "move it before the script",
                )
