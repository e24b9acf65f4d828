"""Servers of models: their commands, the options of their parallel sizes, and their ports.

Sources: vllm-project/vllm v0.11 vllm/engine/arg_utils.py and entrypoints/openai/cli_args.py (port 8000);
sgl-project/sglang v0.5 python/sglang/srt/server_args.py (port 30000); NVIDIA/TensorRT-LLM v1.0
tensorrt_llm/commands/serve.py (port 8000).
"""

from __future__ import annotations

from trainyard.startup import NamedTuple


class ModelServer(NamedTuple):
    """A server: `modules` start it with `python -m`, `command` are the words of its program, and `image` a part of its.

    `sizes` are the options whose product is the number of its GPUs. With one of `elsewhere`, GPUs of other pods or
    processes take part. `shared` are flags with which the last size adds no GPUs.
    """

    name: str
    command: tuple[str, ...]
    modules: tuple[str, ...]
    image: str
    sizes: tuple[tuple[str, ...], ...]
    elsewhere: tuple[str, ...]
    shared: tuple[str, ...]
    port: int


SERVERS = (
    ModelServer(
        "vLLM",
        ("vllm", "serve"),
        ("vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server"),
        "vllm/vllm-openai",
        (("--tensor-parallel-size", "-tp"), ("--pipeline-parallel-size", "-pp"), ("--data-parallel-size", "-dp")),
        (
            "--distributed-executor-backend", "--data-parallel-size-local", "-dpl", "--data-parallel-address", "-dpa",
            "--data-parallel-rank", "-dpn", "--data-parallel-start-rank", "-dpr", "--data-parallel-backend", "-dpb",
            "--data-parallel-hybrid-lb", "--data-parallel-external-lb", "--headless", "--nnodes", "-n", "--config",
            "--worker-use-ray", "--api-server-count", "--prefill-context-parallel-size", "--omni",
        ),
        (),
        8000,
    ),
    ModelServer(
        "SGLang",
        ("sglang", "serve"),
        ("sglang.launch_server",),
        "",
        (("--tensor-parallel-size", "--tp-size", "--tp"), ("--pipeline-parallel-size", "--pp-size", "--pp"),
         ("--data-parallel-size", "--dp-size", "--dp")),
        ("--nnodes", "--dist-init-addr", "--nccl-init-addr", "--use-ray", "--config"),
        ("--enable-dp-attention",),
        30000,
    ),
    ModelServer(
        "TensorRT-LLM",
        ("trtllm-serve",),
        (),
        "",
        (("--tp-size", "--tensor-parallel-size"), ("--pp-size", "--pipeline-parallel-size")),
        ("--config", "--extra-llm-api-options", "--cp-size", "--cluster-size"),
        (),
        8000,
    ),
)  # fmt: skip

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
