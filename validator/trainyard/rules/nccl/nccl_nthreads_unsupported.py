"""`NCCL_NTHREADS` is not a number that NCCL supports, so collectives may return wrong results.

NCCL supports 64, 128, 256 and 512 threads per block. It accepts any multiple of 32 between 64 and 512, and its kernels
divide their buffers by the number. With 480 threads, the Simple protocol returned wrong sums in nccl-tests. Nothing
reports it in training: the loss differs.

Remove the variable. NCCL chooses the number for the GPU.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import literal_value, remove_variable
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Setting

SUPPORTED = (64, 128, 256, 512)


@rule(
    code="NC039",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 docs/userguide/source/env.rst: NCCL_NTHREADS, values accepted",
        "NVIDIA/nccl v2.30.7-1 src/graph/tuning.cc: getNthreads",
        "github.com/NVIDIA/nccl issue 698",
    ),
    fix="safe",
    needs=("NCCL_NTHREADS",),
)
def nccl_nthreads_unsupported(setting: Setting) -> Iterator[Problem]:
    """A number of threads that NCCL accepts and does not support."""
    value = literal_value(setting) if setting.name == "NCCL_NTHREADS" else None
    number = decimal(value) if value is not None else None
    if number is not None and number % 32 == 0 and 64 < number < 512 and number not in SUPPORTED:
        yield Problem(
            setting.at,
            f"NCCL_NTHREADS={number} may give wrong results: NCCL supports {', '.join(map(str, SUPPORTED))}",
            "remove the variable",
            remove_variable(setting),
        )
