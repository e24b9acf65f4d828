"""Environment variables of torch.distributed's NCCL backend and its flight recorder.

Source: pytorch 2.15.0 torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp (names and aliases), ProcessGroupNCCL.cpp and
FlightRecorder.hpp (`getCvarBool`, `getCvarInt`), and the symbols of libtorch_cuda.so 2.15.0; `FORMER` are names that
earlier 2.x releases read.
"""

from __future__ import annotations

# Old name to new name; the new one wins if both are set.
LEGACY = {
    name: f"TORCH_{name}"
    for name in (
        "NCCL_ASYNC_ERROR_HANDLING", "NCCL_BLOCKING_WAIT", "NCCL_DESYNC_DEBUG", "NCCL_ENABLE_TIMING",
        "NCCL_USE_TENSOR_REGISTER_ALLOCATOR_HOOK",
    )
}  # fmt: skip

BOOLEANS = frozenset(
    (
        "TORCH_FR_CPP_STACK", "TORCH_FR_DUMP_ON_TIMEOUT", "TORCH_NCCL_BCAST_UNIQUEID", "TORCH_NCCL_BLOCKING_WAIT",
        "TORCH_NCCL_CUDA_EVENT_CACHE", "TORCH_NCCL_DESYNC_DEBUG", "TORCH_NCCL_DUMP_ON_TIMEOUT",
        "TORCH_NCCL_ENABLE_MONITORING", "TORCH_NCCL_ENABLE_TIMING", "TORCH_NCCL_EXTRA_DUMP_ON_EXEC",
        "TORCH_NCCL_HIGH_PRIORITY", "TORCH_NCCL_LOG_CPP_STACK_ON_UNCLEAN_SHUTDOWN", "TORCH_NCCL_NAN_CHECK",
        "TORCH_NCCL_PROPAGATE_ERROR", "TORCH_NCCL_RETHROW_CUDA_ERRORS",
        "TORCH_NCCL_SHOW_EAGER_INIT_P2P_SERIALIZATION_WARNING", "TORCH_NCCL_TEARDOWN_ON_TIMEOUT",
        "TORCH_NCCL_TRACE_CPP_STACK", "TORCH_NCCL_USE_TENSOR_REGISTER_ALLOCATOR_HOOK",
        "NCCL_BLOCKING_WAIT", "NCCL_DESYNC_DEBUG", "NCCL_ENABLE_TIMING", "NCCL_USE_TENSOR_REGISTER_ALLOCATOR_HOOK",
    )
)  # fmt: skip
INTEGERS = frozenset(
    (
        "TORCH_FR_BUFFER_SIZE", "TORCH_FR_WAIT_TIMEOUT_DUMP_MILSEC", "TORCH_NCCL_ASYNC_ERROR_HANDLING",
        "TORCH_NCCL_COORD_CHECK_MILSEC", "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", "TORCH_NCCL_RANKS_PER_ROOT",
        "TORCH_NCCL_TRACE_BUFFER_SIZE", "TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC", "NCCL_ASYNC_ERROR_HANDLING",
    )
)  # fmt: skip
OTHERS = frozenset(
    (
        "TORCH_FR_DUMP_DYNAMIC_FILE_NAME", "TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_PIPE_FILE",
        "TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "TORCH_NCCL_NONBLOCKING_TIMEOUT", "TORCH_NCCL_USE_COMM_NONBLOCKING",
    )
)  # fmt: skip
FORMER = frozenset(("TORCH_NCCL_ABORT_IN_DESTROY_PG", "TORCH_NCCL_AVOID_RECORD_STREAMS"))

KNOWN = frozenset(name for name in BOOLEANS | INTEGERS | OTHERS | FORMER if name.startswith("TORCH_"))

TRUE = ("y", "yes", "1", "t", "true")
FALSE = ("n", "no", "0", "f", "false")
