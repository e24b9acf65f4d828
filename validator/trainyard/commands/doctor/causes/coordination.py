"""Messages of JAX and TensorFlow: their coordination service and gRPC."""

from __future__ import annotations

from trainyard.commands.doctor.cause import Cause, Level, Sign

CAUSES = (
    Cause(
        name="coordination-timeout",
        title="not all tasks reached the coordination service",
        signs=(
            Sign("CoordinationService/RegisterTask"),
            Sign("Coordination service agent in error status: DEADLINE_EXCEEDED"),
            Sign("DEADLINE_EXCEEDED: Barrier timed out"),
        ),
        confidence="medium",
        explanation="A pod is Pending, failed early or still starts, or the address of the coordinator is not that of "
        "task 0.",
        remedy="Compare the pods with the number of tasks. For slow starts, raise initialization_timeout of "
        "jax.distributed.initialize.",
        source="github.com/marin-community/marin pull request 7232",
        rules=("rendezvous-names-absent-replica",),
    ),
    Cause(
        name="coordination-peer-lost",
        title="another task of JAX or TensorFlow does not answer",
        signs=(
            Sign("has been set to ERROR in coordination service"),
            Sign("JAX distributed service detected fatal errors"),
            Sign("Error received from peer", r"Socket closed|[Ff]ailed to connect"),
            Sign("failed to connect to all addresses"),
            Sign("Collective ops is aborted by"),
            Sign("UnavailableError: "),
        ),
        level=Level.CONSEQUENCE,
        confidence="low",
        messages=(
            "has been set to ERROR in coordination service: UNAVAILABLE",
            "JAX distributed service detected fatal errors",
            "Error received from peer ... Socket closed",
            "failed to connect to all addresses",
            "Collective ops is aborted by",
        ),
        explanation="The task that the message names stopped its heartbeats or closed its connection.",
        remedy="Read the log and the events of that task.",
        source="github.com/jax-ml/jax issue 23599",
    ),
    Cause(
        name="xla-rendezvous-stuck",
        title="threads of XLA wait for each other",
        signs=(
            Sign("This thread has been waiting for `", r"may be stuck"),
            Sign("Termination timeout for `"),
        ),
        level=Level.CONSEQUENCE,
        confidence="low",
        explanation="Not all devices of a process or of the run arrived at a collective: another process has failed, "
        "hangs, compiles for longer, or runs another program.",
        remedy="Read the logs of all processes for the one that does not arrive; NCCL_DEBUG=INFO shows whether they "
        "connect.",
        source="github.com/jax-ml/jax issue 22740",
    ),
    Cause(
        name="tpu-halted",
        title="a TPU stopped while a program ran on it",
        signs=(
            Sign("Accelerator device halted prematurely"),
            Sign("halted unexpectedly at tag:pc"),
            Sign("!!!! FATAL ERROR !!!! for [/dev/accel"),
        ),
        confidence="medium",
        explanation="A check in the compiled program failed, or the chip or its links have a fault. The processes of "
        "the slice do not run the same program, or not all of them run.",
        remedy="Start the same program on all hosts of the slice; if one host shows it again, replace its node.",
        source="github.com/pytorch/xla issue 7138",
    ),
    Cause(
        name="tpu-init-failed",
        title="JAX cannot start the TPU",
        signs=(Sign("TPU initialization failed"), Sign("Failed to initialize TPU"), Sign("TPU_RET_CHECK failure")),
        explanation="The runtime of the TPU (libtpu) does not fit the machine or its topology, the chips are held by "
        "another process, or the node has a fault.",
        remedy="Compare the versions of jax and libtpu with the type of the TPU; start all hosts of the slice; restart "
        "the node if it stays.",
        source="github.com/jax-ml/jax issue 37230",
    ),
)
