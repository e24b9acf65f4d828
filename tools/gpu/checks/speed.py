"""Speed and memory of a model of half a billion parameters."""

from __future__ import annotations

import json
from dataclasses import dataclass
from statistics import median
from typing import Any

from tools.gpu import training
from tools.gpu.check import Check, Measured
from tools.gpu.errors import CheckFailedError
from tools.gpu.session import Session

STEPS = 30
MFU_BAR = 0.20
# Of the steps per second of the same model in a bare loop.
BARE_BAR = 0.9
# The bar is for these. Others are reported.
BARRED = ("NVIDIA A100", "NVIDIA H100", "NVIDIA H200")
# Weights, gradients and both moments of AdamW, in fp32.
BYTES_PER_PARAMETER = 16
# DDP holds its gradients twice while it lays out its buckets, after the first step: 4 of 16 bytes more.
SURPLUS, CONSTANT_BYTES = 1.3, 1 << 30
_LARGE_GPU_BYTES = 38e9
SAVE_STEPS = 150
# The training thread waits for a copy to the host, which is a small part of a save to a disk.
STALL_BAR = 0.1


@dataclass(frozen=True)
class Size:
    """The size of a GPT: its width and depth, tokens per sample, and samples per step on one GPU."""

    hidden_size: int
    num_layers: int
    context_length: int
    batch_size: int

    def flags(self, ranks: int) -> tuple[str, ...]:
        """Returns the flags of the trainer. A head has 128 channels, as in most GPTs."""
        return (
            f"--hidden-size={self.hidden_size}",
            f"--num-layers={self.num_layers}",
            f"--num-heads={self.hidden_size // 128}",
            f"--context-length={self.context_length}",
            f"--batch-size={self.batch_size * ranks}",
            "--learning-rate=0.0001",
        )


def size_for(memory_bytes: int) -> Size:
    """Returns the size for a GPU: 607 million parameters, or 151 million on a GPU with less than 38 GB."""
    if memory_bytes >= _LARGE_GPU_BYTES:
        return Size(hidden_size=2048, num_layers=12, context_length=1024, batch_size=8)
    return Size(hidden_size=1024, num_layers=12, context_length=1024, batch_size=8)


def mfu(session: Session) -> Measured:
    """Measures the MFU on one GPU in bf16 with torch.compile."""
    from trainer.metrics.mfu import total_peak_flops

    name, size = session.machine.names[0], size_for(session.machine.memory_bytes[0])
    flags = (*size.flags(1), "--precision=bf16", "--compile")
    # The first steps compile, and the others are independent of each other.
    steps = _steps(session, "run", *flags, ranks=1)[STEPS // 2 :]
    seconds = median(event["seconds"] for event in steps)
    parameters, flops = _model(size)
    bare = _bare_step_seconds(session, *flags, f"--steps={STEPS}")
    if bare < BARE_BAR * seconds:
        raise CheckFailedError(
            f"a step takes {seconds:.4f} s, and in a bare loop {bare:.4f} s: at least {BARE_BAR} of it"
        )
    rate = size.batch_size * flops / seconds
    found: dict[str, float | int | str] = {
        "parameters": parameters,
        "step_seconds": seconds,
        "bare_step_seconds": bare,
        "tflops": rate / 1e12,
        "data_seconds": median(event["parts"]["data"] for event in steps),
        "tokens_per_second": size.batch_size * size.context_length / seconds,
    }
    peak = total_peak_flops([name])
    if peak is None:
        return found | {"mfu": f"unknown: the trainer does not know the peak of {name}"}
    share = rate / peak
    if share < MFU_BAR and name.startswith(BARRED):
        raise CheckFailedError(f"the MFU is {share:.3f}: at least {MFU_BAR} on {name}")
    return found | {"mfu": share}


def _bare_step_seconds(session: Session, *flags: str) -> float:
    arguments = ["tools.gpu.programs.bare_loop", *training.TINY, *flags]
    return float(json.loads(session.output_of("bare", arguments, "the bare loop")[-1])["step_seconds"])


def memory(session: Session) -> Measured:
    """Measures the peak of allocated memory, with activations that take next to nothing."""
    ranks = session.machine.gpus
    large = size_for(session.machine.memory_bytes[0])
    size = Size(large.hidden_size, large.num_layers, context_length=128, batch_size=1)
    strategy = "fsdp2" if ranks > 1 else "ddp"
    flags = (*size.flags(ranks), f"--strategy={strategy}", "--activation-checkpointing")
    steps = _steps(session, "run", *flags, ranks=ranks)
    # That of the rank with the highest.
    peak = max(event["gpu_peak_bytes"] for event in steps)
    parameters, _ = _model(size)
    states = parameters * BYTES_PER_PARAMETER / ranks
    limit = states * SURPLUS + CONSTANT_BYTES
    if peak > limit:
        raise CheckFailedError(f"a rank allocates {peak / 1e9:.2f} GB: at most {limit / 1e9:.2f} GB")
    return {
        "ranks": ranks,
        "strategy": strategy,
        "peak_gb": peak / 1e9,
        "states_gb": states / 1e9,
        "limit_gb": limit / 1e9,
    }


def save_stall(session: Session) -> Measured:
    """Measures how long saves hold up training: those in the background, and those that it waits for."""
    ranks = session.machine.gpus
    # Short samples, because the end of an epoch would save as well.
    size = Size(hidden_size=1024, num_layers=12, context_length=128, batch_size=1)
    flags = (*size.flags(ranks), "--precision=bf16", f"--checkpoint-steps={SAVE_STEPS}")
    first, background = _stalls(session, "background", *flags, "--async-checkpoints")
    _, foreground = _stalls(session, "foreground", *flags, "--no-async-checkpoints")
    if background > STALL_BAR * foreground:
        said = f"a save in the background holds up training for {background:.3f} s, and one in the foreground for"
        raise CheckFailedError(f"{said} {foreground:.3f} s: at most {STALL_BAR:g} of that")
    return {"ranks": ranks, "stall_seconds": background, "first_stall_seconds": first, "foreground_seconds": foreground}


def _stalls(session: Session, name: str, *flags: str) -> list[float]:
    """Returns the seconds for which the first two saves of a run held up its training thread."""
    # A save follows its step, so that its time is that of the next one.
    after = (SAVE_STEPS + 1, 2 * SAVE_STEPS + 1)
    steps = _steps(session, name, *flags, ranks=session.machine.gpus, number=max(after))
    return [event["parts"]["checkpoint"] for event in steps if event["step"] in after]


def _steps(session: Session, name: str, *flags: str, ranks: int, number: int = STEPS) -> list[dict[str, Any]]:
    """Trains for this many steps, and returns their events. The run is not left to end, which would save once more."""
    run = training.begin(session, name, training.ENDLESS, *flags, ranks=ranks)
    steps = run.wait_for("step", number)
    session.end_programs()
    return steps


def _model(size: Size) -> tuple[int, float]:
    """Returns the number of parameters, and the floating-point operations for one sample."""
    import torch

    from trainer.config import parse_flags
    from trainer.models import build_model

    config = parse_flags([*training.TINY, *size.flags(1)])
    with torch.device("meta"):
        model = build_model(config, shape=(size.context_length,), classes=256)
    return sum(parameter.numel() for parameter in model.parameters()), model.flops_per_sample()


CHECKS = (
    Check(
        name="mfu",
        what=f"{STEPS} steps of a GPT with 607 million parameters on one GPU in bf16 with torch.compile (151 million "
        "on a GPU with less than 38 GB)",
        bar=f"MFU of at least {MFU_BAR:.2f} on A100, H100 and H200, reported on others: a run without tensor cores, or "
        "that waits for data, stays far below; a good one has 0.3 to 0.5. At least "
        f"{BARE_BAR:g} of the speed of a bare loop with the same model",
        run=mfu,
        packages=("triton",),
        seconds=600,
    ),
    Check(
        name="memory",
        what="peak of allocated memory of the same GPT in fp32, fsdp2 on all GPUs (ddp on one)",
        bar=f"at most {SURPLUS} times {BYTES_PER_PARAMETER} bytes for each parameter of a rank (weights, gradients and "
        "both moments of AdamW; DDP holds its gradients twice for a moment), and 1 GiB for activations and "
        "gathered blocks",
        run=memory,
        seconds=600,
    ),
    Check(
        name="save-stall",
        what="saves of a GPT with 151 million parameters and its optimizer (1.8 GB), in the background and in the "
        "foreground",
        bar=f"the second save in the background holds up training for at most {STALL_BAR:g} of one in the foreground; "
        "the first one also reserves its memory",
        run=save_stall,
    ),
)
