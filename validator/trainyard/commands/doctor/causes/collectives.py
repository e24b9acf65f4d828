"""Messages about collectives: ranks that disagree, and gloo."""

from __future__ import annotations

from trainyard.commands.doctor.cause import Cause, Level, Sign

CAUSES = (
    Cause(
        name="mismatched-collectives",
        title="the ranks run different collectives",
        signs=(
            Sign("Detected mismatch between collectives on ranks"),
            Sign("Mismatched collective detected"),
            Sign("op.preamble.length <= op.nbytes"),
            Sign("NCCL WARN Message truncated"),
            Sign("disagreement between rank"),
        ),
        explanation="One rank calls another operation, or with another shape or data type; or a send and its receive "
        "differ. A branch by rank or by data, an uneven last batch, or a layer that some ranks skip leads to it.",
        remedy="Let every rank make the same calls in the same order; pad or drop the last batch. "
        "TORCH_DISTRIBUTED_DEBUG=DETAIL names the operation.",
        source="github.com/pytorch/pytorch pull request 79901",
    ),
    Cause(
        name="collective-not-joined",
        title="a rank did not join a collective, a send or a receive",
        # Only dumps of the flight recorder show it.
        signs=(),
        level=Level.CONSEQUENCE,
        confidence="medium",
        hides=("nccl-watchdog-timeout",),
        explanation="The other ranks wait for it. It has failed, hangs elsewhere, or has taken another path. A rank "
        "that wrote no dump has mostly ended before the others timed out.",
        remedy="Read the log of that rank and of its node; py-spy dump shows where a process hangs.",
        source="github.com/pytorch/tutorials unstable_source/flight_recorder_tutorial.rst",
    ),
    Cause(
        name="ddp-model-differs",
        title="the ranks have different models",
        signs=(Sign("DDP expects same model across all ranks"),),
        explanation="The program builds another model on some ranks: a branch by rank, another configuration or file.",
        remedy="Build the model in the same way on all ranks, before DistributedDataParallel wraps it.",
        source="github.com/kanishkg/stream-of-search issue 5",
    ),
    Cause(
        name="ddp-unused-parameters",
        title="some parameters got no gradient",
        signs=(Sign("Expected to have finished reduction in the prior iteration"),),
        explanation="DistributedDataParallel waits for the gradient of every parameter, and the loss does not depend "
        "on some of them in each step.",
        remedy="Remove the unused parameters, or pass find_unused_parameters=True. TORCH_DISTRIBUTED_DEBUG=DETAIL "
        "names them.",
        source="github.com/pytorch/pytorch issue 19840",
    ),
    Cause(
        name="ddp-marked-twice",
        title="DistributedDataParallel got two gradients for a parameter in one step",
        signs=(Sign("Expected to mark a variable ready only once"),),
        explanation="Recomputation of activations (reentrant), a parameter that is used twice, or a second "
        "forward pass before the backward pass.",
        remedy="Use checkpoint(use_reentrant=False), or static_graph=True of DistributedDataParallel.",
        source="github.com/pytorch/pytorch torch/csrc/distributed/c10d/reducer.cpp",
    ),
    Cause(
        name="gloo-interface-absent",
        title="the pod has no interface of the name in GLOO_SOCKET_IFNAME",
        signs=(Sign("Unable to find address for:"),),
        explanation="No interface has exactly this name and an address. Unlike NCCL, gloo knows no prefixes.",
        remedy="List the interfaces of a pod (ip -br addr) and name one that all pods have, such as eth0 or net1.",
        source="github.com/pytorch/gloo gloo/transport/tcp/device.cc",
        rules=("gloo-ifname-unset",),
    ),
    Cause(
        name="gloo-full-mesh",
        title="gloo cannot connect all ranks with each other",
        signs=(Sign("connectFullMesh failed"),),
        confidence="medium",
        explanation="A rank announced an address that others cannot reach: its host name resolves to "
        "127.0.0.1, or gloo took another interface.",
        remedy="Set GLOO_SOCKET_IFNAME to the interface of the pod network, and check /etc/hosts of the pods.",
        source="github.com/sgl-project/sglang issue 3226",
        rules=("gloo-ifname-unset",),
    ),
    Cause(
        name="gloo-peer-closed",
        title="the connection of gloo to another rank broke",
        signs=(
            Sign("gloo/transport/tcp", r"Connection (?:closed|reset) by peer"),
            Sign("received errors while waiting for send/recv from rank"),
        ),
        level=Level.CONSEQUENCE,
        confidence="low",
        messages=(
            "Connection closed by peer",
            "Connection reset by peer",
        ),
        explanation="The other rank has ended. This rank did nothing wrong.",
        remedy="Find the rank or pod that failed first; its log has the cause.",
        source="github.com/pytorch/gloo gloo/transport/tcp/pair.cc",
    ),
    Cause(
        name="gloo-timeout",
        title="an operation of gloo timed out",
        signs=(
            Sign("Timed out waiting", r"Timed out waiting \d+ms for (?:recv|send) operation"),
            Sign("Application timeout caused pair closure"),
            Sign("failed to pass monitoredBarrier"),
        ),
        level=Level.CONSEQUENCE,
        confidence="low",
        messages=("Timed out waiting 1800000ms for recv operation",),
        explanation="A rank waited for another one, which has failed, hangs, or saves a checkpoint for too long.",
        remedy="Find the rank that did not arrive; for long saves, raise the timeout of init_process_group.",
        source="github.com/meta-pytorch/torchtune issue 2676",
    ),
)
