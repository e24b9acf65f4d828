"""A program gets a value that its option does not take, or an argument that belongs to no option, so it stops.

An option may take one of a few words, and releases add words: vLLM 0.6.2 has no tool parser `llama3_json`. A switch
takes no value: `--enable-prefix-caching True` ends with "unrecognized arguments: True". An option with a value refuses
the next option as its value. An entry of `args` is one argument, so `--port 8000` in one entry is no option of this
name. Text Generation Inference takes each option once. llama-server reads no `--port=8000`, and its `--flash-attn`
takes a value since September 2025.

The rule knows vLLM, SGLang, Text Generation Inference, Triton, lm_eval, TRL and llama-server. Values with variables
are not known.

Write what the message names.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.scripts.program_faults import value_faults
from trainyard.analysis.scripts.program_starts import program_starts
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.option_tables import WORDS
from trainyard.model.run import Container


@rule(
    code="SC064",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "facts/programs/option_tables.py: the source of each program",
        "Python argparse: expected one argument, ignored explicit argument, invalid choice",
        "github.com/vllm-project/vllm issues 8273 and 9312, github.com/triton-inference-server/server issue 5794",
        "github.com/EleutherAI/lm-evaluation-harness issue 1431",
    ),
    needs=WORDS,
)
def program_value_refused(container: Container) -> Iterator[Problem]:
    """Report values and arguments that a program does not take."""
    for start in program_starts(container):
        for fault in value_faults(start):
            image = container.at.child("image")
            is_told = fault.is_of_release and start.is_of_image
            related = ((image, "the tag of this image names the release"),) if is_told else ()
            yield Problem(start.command.word_at[fault.word], fault.message, fault.help, related=related)
