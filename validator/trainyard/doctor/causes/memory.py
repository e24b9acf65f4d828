"""Memory of GPU, host and /dev/shm, and processes that were killed for it."""

from __future__ import annotations

from trainyard.doctor.cause import Cause, Level, Sign

CAUSES = (
    Cause(
        name="cuda-out-of-memory",
        title="a GPU has too little memory",
        signs=(
            Sign("CUDA out of memory"),
            Sign("torch.OutOfMemoryError"),
            Sign("CUDA_ERROR_OUT_OF_MEMORY"),
            Sign("CUBLAS_STATUS_ALLOC_FAILED"),
            Sign("Cuda failure", r"Cuda failure.*out of memory"),
        ),
        explanation="Weights, gradients, optimizer, activations and caches of a rank exceed the memory of its GPU.",
        remedy="Reduce the micro-batch or sequence, shard the state (FSDP, ZeRO-3), recompute activations. "
        "`trainyard plan` shows the memory of a rank.",
        source="docs.pytorch.org notes/cuda: memory management",
        rules=("cuda-alloc-conf-conflict",),
    ),
    Cause(
        name="host-out-of-memory",
        title="the host or the memory limit killed a process",
        signs=(
            Sign("OOMKilled"),
            Sign("invoked oom-killer"),
            Sign("Memory cgroup out of memory"),
            Sign("Out of memory: Killed process"),
            Sign("oom-kill:constraint"),
            Sign("oom-kill event"),
            Sign("killed due to memory pressure (OOM)"),
            Sign("killed due to the node running low on memory"),
        ),
        unless=r"(?i)OOMKilled[\"']?\s*[:=]?\s*(?:0|false)\b",
        hides=("process-killed", "dataloader-worker-killed"),
        explanation="The processes of a container used more memory than its limit. Files in /dev/shm count as well.",
        remedy="Raise `resources.limits`, or use fewer data loader workers, smaller prefetching, less offloading.",
        source="kubernetes.io docs/tasks/configure-pod-container/assign-memory-resource",
        rules=("shm-exceeds-memory-limit", "shm-crowds-memory-limit", "ds-offload-exceeds-memory-limit"),
    ),
    Cause(
        name="process-killed",
        title="a process was killed by SIGKILL",
        signs=(
            Sign("Signal 9 (SIGKILL) received"),
            Sign("exitcode", r"exitcode\s*:\s*-9\b"),
            Sign("137", r"(?i)exit ?code:?\s+137\b"),
            Sign("return code = -9"),
            Sign("exited on signal 9"),
        ),
        level=Level.CONSEQUENCE,
        confidence="medium",
        ended_by_agent=True,
        messages=(
            "exit code 137",
            "exitcode: -9",
            "Signal 9 (SIGKILL) received",
            "return code = -9",
            "exited on signal 9",
        ),
        explanation="Mostly the kernel, because memory was short. Also an end of the grace period, or a watchdog.",
        remedy="Read `Reason` in kubectl describe pod and the kernel's log: `OOMKilled` or `oom-kill` confirms memory.",
        source="docs.pytorch.org docs/stable/elastic/errors.html",
        rules=("shm-exceeds-memory-limit",),
    ),
    Cause(
        name="shared-memory-full",
        title="/dev/shm is too small",
        signs=(
            Sign("Unexpected bus error encountered in worker"),
            Sign("killed by signal: Bus error"),
            Sign("failed to extend /dev/shm/"),
            Sign("Error while creating shared memory segment"),
            Sign("Signal 7 (SIGBUS) received"),
            Sign("unable to open shared memory object"),
            Sign("unable to allocate shared memory(shm)"),
            Sign("/dev/shm", r"No space left on device"),
        ),
        hides=("dataloader-worker-killed", "nccl-system-error"),
        messages=(
            "Bus error",
            "Unexpected bus error encountered in worker",
            "failed to extend /dev/shm/nccl-",
            "unable to open shared memory object",
            "unable to allocate shared memory(shm)",
            "No space left on device (/dev/shm)",
        ),
        explanation="NCCL and data loader workers exchange data in /dev/shm, which has 64 MiB by default.",
        remedy="Mount an emptyDir with medium: Memory at /dev/shm (`sharedMemory.size`); its size counts to "
        "the memory limit.",
        source="github.com/pytorch/pytorch issue 5040",
        rules=(
            "shm-default-64mi",
            "shm-too-small-for-gpus",
            "shm-default-one-gpu",
        ),
    ),
    Cause(
        name="dataloader-worker-killed",
        title="a data loader worker ended",
        signs=(
            Sign("DataLoader worker", r"killed by signal: (?!Bus)"),
            Sign("DataLoader worker", r"exited unexpectedly"),
        ),
        confidence="medium",
        messages=(
            "DataLoader worker (pid ...) is killed by signal",
            "DataLoader worker (pid(s) ...) exited unexpectedly",
        ),
        explanation="The kernel killed the worker for memory, or the code of the data set crashed in it.",
        remedy="Look for oom-kill in the kernel's log; use fewer workers or more memory. To see an exception, set "
        "num_workers=0.",
        source="github.com/pytorch/pytorch issue 8976",
        rules=("shm-crowds-memory-limit",),
    ),
)
