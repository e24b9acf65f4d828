"""torchrun has no option `-c`, so every pod stops with a usage error.

`python -c CODE` runs inline Python, so it is tempting to test a cluster with `torchrun ... -c "import torch; ..."`.
torchrun's parser has no such option. It takes CODE for the name of the training script and then stops with exit code 2
and "unrecognized arguments: -c", before it starts any process.

The rule ignores a `-c` after the training script, which belongs to the script.

Put the code into a file, for example in a ConfigMap, or start another program with
`torchrun --no-python ... python -c CODE`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.torchrun import torchrun_commands
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container


@rule(
    code="SC007",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "pytorch/pytorch 010929fd torch/distributed/run.py: get_args_parser has no -c, parse_args refuses the unknown",
    ),
    needs=("-c",),
)
def torchrun_inline_code(container: Container) -> Iterator[Problem]:
    """`-c` among torchrun's own options."""
    for launch in torchrun_commands(container):
        for word, at in zip(launch.words, launch.word_at, strict=False):
            if word == "-c":
                yield Problem(
                    at,
                    "torchrun has no option `-c` and stops with a usage error",
                    "put the code into a file, or write `torchrun --no-python ... python -c CODE`",
                )
                break
