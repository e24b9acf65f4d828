"""A program gets an option that its release does not have, so it stops before it does anything.

Releases of vLLM, SGLang, Text Generation Inference, Triton, lm_eval and TRL add, rename and remove options. A manifest
of one release with an image of another ends with "unrecognized arguments": vLLM 0.10 has no `--enable-reasoning`, vLLM
0.13 no `--task`, and 0.17 no `--disable-log-requests`. A misspelt option ends the same way. The container restarts
until a person looks.

The tag of the image or a pin of `pip install` tells the release. Of an unknown release, the rule reports what resembles
an option and is none in any release. It knows that argparse takes the beginning of an option, that vLLM and TRL read
`_` as `-`, and that SGLang does not. Of llama-server, it knows the options of one release.

Write what the message names, remove the option, or use another release.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.scripts.program_faults import option_faults
from trainyard.analysis.scripts.program_starts import program_starts
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.option_tables import WORDS
from trainyard.model.run import Container


@rule(
    code="SC063",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "facts/programs/option_tables.py: the source of each program",
        "github.com/vllm-project/vllm issues 18538, 35603 and 46325, github.com/llm-d/llm-d-benchmark pull 781",
        "github.com/sgl-project/sglang issues 5032 and 12818",
        "github.com/huggingface/text-generation-inference issue 1456",
    ),
    needs=WORDS,
)
def program_option_refused(container: Container) -> Iterator[Problem]:
    """Report options that a program or its release does not have."""
    for start in program_starts(container):
        for fault in option_faults(start):
            image = container.at.child("image")
            is_told = fault.is_of_release and start.is_of_image
            related = ((image, "the tag of this image names the release"),) if is_told else ()
            yield Problem(start.command.word_at[fault.word], fault.message, fault.help, related=related)
