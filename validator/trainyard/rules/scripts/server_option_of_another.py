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
from trainyard.model.run import Container

# The option of the server that starts; empty if it has none, or needs none.
_OF_SGLANG = {
    "--mem-fraction-static": "--gpu-memory-utilization",
    "--context-length": "--max-model-len",
    "--max-running-requests": "--max-num-seqs",
    "--model-path": "--model",
    "--tp-size": "--tensor-parallel-size",
    "--chunked-prefill-size": "--max-num-batched-tokens",
    "--disable-radix-cache": "--no-enable-prefix-caching",
    "--enable-metrics": "",
}
_OF_TGI = {
    "--num-shard": "--tensor-parallel-size",
    "--max-total-tokens": "--max-model-len",
    "--max-batch-prefill-tokens": "--max-num-batched-tokens",
    "--max-concurrent-requests": "--max-num-seqs",
    "--cuda-memory-fraction": "--gpu-memory-utilization",
}
_OF_VLLM = {
    "--gpu-memory-utilization": "--mem-fraction-static",
    "--max-model-len": "--context-length",
    "--max-num-seqs": "--max-running-requests",
    "--max-num-batched-tokens": "--chunked-prefill-size",
    "--enforce-eager": "--disable-cuda-graph",
    "--enable-prefix-caching": "",
}
FOREIGN = {
    "vLLM": {**dict.fromkeys(_OF_SGLANG, "SGLang"), **dict.fromkeys(_OF_TGI, "Text Generation Inference")},
    "SGLang": dict.fromkeys(_OF_VLLM, "vLLM"),
}
INSTEAD = {"vLLM": {**_OF_SGLANG, **_OF_TGI}, "SGLang": _OF_VLLM}


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
