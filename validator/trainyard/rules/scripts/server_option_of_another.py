"""A model server gets an option of another model server, so it stops at start-up.

vLLM, SGLang and Text Generation Inference do the same with different options. Each refuses those of the others:
"unrecognized arguments: --enable-metrics". `--mem-fraction-static` of SGLang is `--gpu-memory-utilization` of vLLM, and
`--max-model-len` of vLLM is `--context-length` of SGLang.

The rule knows options that only one of the servers has had in any release.

Write the option that the message names, or remove it.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.model_servers import server_starts
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.model_servers import FOREIGN, INSTEAD
from trainyard.model.run import Container


@rule(
    code="SC025",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "vllm-project/vllm v0.11 vllm/engine/arg_utils.py, vllm/entrypoints/openai/cli_args.py",
        "sgl-project/sglang 0.5.5 python/sglang/srt/server_args.py; text-generation-launcher 3.3 --help",
        "github.com/defilantech/LLMKube issue 1030",
    ),
    needs=("vllm", "sglang"),
)
def server_option_of_another(container: Container) -> Iterator[Problem]:
    """Report options that the server does not have."""
    for start in server_starts(container):
        name = start.server.name
        for word, at in zip(start.command.words, start.command.word_at, strict=True):
            option = word.partition("=")[0].replace("_", "-")
            owner = FOREIGN.get(name, {}).get(option)
            if owner is None or not word.startswith("--"):
                continue
            instead = INSTEAD[name][option]
            yield Problem(
                at,
                f"{option} is an option of {owner}, and {name} has none of this name: it stops at start-up",
                f"write {instead}" if instead else "remove it",
            )
